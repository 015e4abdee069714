#include "access/cdx_server.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "access/cdx_results.h"
#include "access/memento.h"
#include "formats/cdx/cdx.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::access {
namespace {

using Output = CdxQuery::Output;

constexpr CdxField kInternetArchiveFields[] = {
    CdxField::kKey,    CdxField::kTimestamp, CdxField::kUrl,   CdxField::kMime,
    CdxField::kStatus, CdxField::kDigest,    CdxField::kLength};
constexpr CdxField kPywbFields[] = {CdxField::kKey,    CdxField::kTimestamp, CdxField::kUrl,
                                    CdxField::kMime,   CdxField::kStatus,    CdxField::kDigest,
                                    CdxField::kLength, CdxField::kOffset,    CdxField::kFilename};

std::vector<CdxField> FieldsOf(const CdxQuery& query) {
  if (!query.fields.empty()) return query.fields;
  if (query.dialect == CdxDialect::kPywb) return {std::begin(kPywbFields), std::end(kPywbFields)};
  return {std::begin(kInternetArchiveFields), std::end(kInternetArchiveFields)};
}

// The lines as a TimeMap of what was asked for.
class LinkWriter {
 public:
  LinkWriter(const Call& call, const CdxQuery& query)
      : web_(call.Absolute("web/")), self_(call.Absolute(call.target)) {
    if (query.match == CdxQuery::Match::kExact) AppendOriginalLinks(begin_, web_, query.url);
    AppendTimeMapLink(begin_, self_, "self");
  }

  void Line(std::string& out, const cdx::Capture& line) {
    catalog::Capture row;
    row.url = line.url;
    row.time = ParseDigits(line.timestamp).value_or(Timestamp{});
    // Answers to requests with a body have their arguments only there.
    if (line.key.find("__wb_method=") != std::string::npos) row.key = line.key;
    std::string link;
    AppendMementoLink(link, web_, row, "memento");
    // Captures of one second have one address.
    if (link == last_) return;
    out += std::exchange(begin_, "") + ",\n" + link;
    last_ = std::move(link);
  }

  void End(std::string& out, const std::string& resume_key) {
    if (last_.empty()) return;
    if (!resume_key.empty()) {
      out += ",\n";
      AppendTimeMapLink(out, Next(resume_key), "next timemap");
    }
    out += '\n';
  }

 private:
  // The address of the query that goes on there.
  std::string Next(const std::string& resume_key) const {
    const std::size_t query = self_.find('?') + 1;
    std::string next = self_.substr(0, query);
    for (const std::string_view part : Split(std::string_view(self_).substr(query), '&')) {
      if (!part.starts_with("resumeKey=")) next.append(part).append("&");
    }
    return next + "resumeKey=" + resume_key;
  }

  const std::string web_;
  const std::string self_;
  std::string begin_;
  std::string last_;
};

// Makes the bytes of an answer.
class CdxWriter {
 public:
  CdxWriter(const Call& call, const CdxQuery& query)
      : query_(query),
        fields_(FieldsOf(query)),
        is_array_(query.output == Output::kJson && query.dialect == CdxDialect::kInternetArchive) {
    if (query.output == Output::kLink) links_.emplace(call, query);
  }

  void Line(std::string& out, const cdx::Capture& line) {
    if (links_) {
      links_->Line(out, line);
    } else if (is_array_) {
      if (!begun_) Header(out);
      out += ",\n[";
      Values(out, [&](CdxField field) { return Dashed(ValueOf(line, field)); });
      out += ']';
    } else if (query_.output == Output::kText) {
      Text(out, line);
    } else if (query_.output == Output::kCdxj && query_.fields.empty()) {
      out += cdx::FormatCdxjLine(line) + '\n';
    } else {
      Object(out, line);
    }
    begun_ = true;
  }

  void End(std::string& out, const std::string& resume_key) {
    if (links_) {
      links_->End(out, resume_key);
    } else if (is_array_) {
      if (!begun_) {
        out += "[";
      } else if (!resume_key.empty()) {
        out += fmt::format(",\n[],\n[\"{}\"]", resume_key);
      }
      out += "]\n";
    } else if (!resume_key.empty()) {
      out += fmt::format("\n{}\n", resume_key);
    }
  }

 private:
  static std::string_view Dashed(std::string_view value) { return value.empty() ? "-" : value; }

  void Header(std::string& out) {
    out += "[[";
    Values(out, [&](CdxField field) { return NameOf(field, query_.dialect); });
    out += ']';
  }
  template <typename Value>
  void Values(std::string& out, const Value& value) {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (i > 0) out += ", ";
      AppendJsonString(out, value(fields_[i]));
    }
  }
  void Text(std::string& out, const cdx::Capture& line) {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (i > 0) out += ' ';
      // A space would be the end of the value.
      for (const char c : Dashed(ValueOf(line, fields_[i]))) {
        if (c == ' ' || c == '\n' || c == '\r') {
          out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
      }
    }
    out += '\n';
  }
  // One object in each line; in CDXJ key and time stand before it.
  void Object(std::string& out, const cdx::Capture& line) {
    const bool cdxj = query_.output == Output::kCdxj;
    if (cdxj) out += fmt::format("{} {} ", line.key, line.timestamp);
    out += '{';
    bool first = true;
    for (const CdxField field : fields_) {
      if (cdxj && (field == CdxField::kKey || field == CdxField::kTimestamp)) continue;
      const std::string_view value = ValueOf(line, field);
      if (value.empty()) continue;
      out += fmt::format("{}\"{}\": ", first ? "" : ", ", NameOf(field, query_.dialect));
      AppendJsonString(out, value);
      first = false;
    }
    out += "}\n";
  }

  const CdxQuery query_;
  const std::vector<CdxField> fields_;
  const bool is_array_;
  std::optional<LinkWriter> links_;
  bool begun_ = false;
};

std::string_view TypeOf(const CdxQuery& query) {
  switch (query.output) {
    case Output::kText:
      return kPlainType;
    case Output::kCdxj:
      return "text/x-cdxj; charset=utf-8";
    case Output::kLink:
      return kLinkFormat;
    case Output::kJson:
      break;
  }
  return query.dialect == CdxDialect::kPywb ? "text/x-ndjson; charset=utf-8" : kJsonType;
}

void SendPageCount(const Call& call, const CdxQuery& query, CdxResults& results) {
  std::uint64_t lines = 0;
  for (;; ++lines) {
    Result<const cdx::Capture*> line = results.Next();
    if (!line) return SendError(call, line.error());
    if (*line == nullptr) break;
  }
  const std::uint64_t pages = (lines + query.page_lines - 1) / query.page_lines;
  if (query.dialect == CdxDialect::kInternetArchive) {
    return SendText(call, kPlainType, fmt::format("{}\n", pages));
  }
  SendJson(call, fmt::format("{{\"pages\": {}, \"pageSize\": {}, \"blocks\": {}}}\n", pages,
                             query.page_lines / CdxQuery::kBlockLines,
                             (lines + CdxQuery::kBlockLines - 1) / CdxQuery::kBlockLines));
}

}  // namespace

void SendCdx(const Call& call, CdxDialect dialect) {
  Result<CdxQuery> query = ParseCdxQuery(call.parameters, dialect);
  if (!query) return SendError(call, query.error());
  Result<std::unique_ptr<CdxResults>> opened = CdxResults::Open(call.sight, *query);
  if (!opened) return SendError(call, opened.error());
  const std::shared_ptr<CdxResults> results = std::move(*opened);
  if (query->show_page_count) return SendPageCount(call, *query, *results);
  // The first line tells whether it works at all.
  Result<const cdx::Capture*> first = results->Next();
  if (!first) return SendError(call, first.error());
  auto writer = std::make_shared<CdxWriter>(call, *query);
  auto begin = std::make_shared<std::string>();
  const bool empty = *first == nullptr;
  if (!empty) writer->Line(*begin, **first);
  const bool with_key = query->show_resume_key;
  SendPieces(call, StartOf(200, TypeOf(*query)),
             [results, writer, begin, empty, with_key](std::string& out) -> Result<bool> {
               out += *begin;
               begin->clear();
               Result<const cdx::Capture*> line =
                   empty ? Result<const cdx::Capture*>(nullptr) : results->Next();
               if (!line) return line.error();
               if (*line == nullptr) {
                 writer->End(out, with_key ? results->ResumeKey() : "");
                 return false;
               }
               writer->Line(out, **line);
               return true;
             });
}

}  // namespace stele::access
