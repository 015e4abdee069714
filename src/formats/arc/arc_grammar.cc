#include "formats/arc/arc_grammar.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/arc/arc_line.h"
#include "util/ascii.h"

namespace stele::arc {
namespace {

using record::Defect;
using record::Match;
using record::Record;
using record::RecordType;

constexpr std::string_view kFiledesc = "filedesc:";
constexpr std::string_view kHttpResponse = "application/http; msgtype=response";
// More of the version block's own lines is none.
constexpr std::size_t kVersionLineBytesMax = 4096;

bool BeginsVersionBlock(std::string_view head) { return StartsWithIgnoreCase(head, kFiledesc); }

// The version line "1 0 InternetArchive" and the line of field names.
struct VersionLines {
  std::string_view version;
  std::string_view names;
  std::size_t length = 0;  // of both, with their line ends; 0 when they are not there
  bool complete = true;    // false: more bytes are needed to tell
};

// The line at the front of `rest`, with its end; empty when the end is not in sight.
std::string_view TakeLine(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n') + 1);  // npos + 1 is 0
  rest.remove_prefix(line.size());
  return line;
}

VersionLines ReadVersionLines(std::string_view bytes) {
  VersionLines lines;
  std::string_view rest = bytes;
  const auto undecided = [&] {
    lines.complete = rest.size() > kVersionLineBytesMax;
    return lines;
  };
  if (rest.empty()) return undecided();
  if (!IsAsciiDigit(rest.front())) return lines;
  const std::string_view version = TakeLine(rest);
  if (version.empty()) return undecided();
  if (FindScheme(version, 0) < version.size()) return lines;
  const std::string_view begin = rest.substr(0, 3);
  if (begin != std::string_view("URL").substr(0, begin.size())) {
    // No names: the version line alone.
    lines.version = TrimSpace(version);
    lines.length = version.size();
    return lines;
  }
  const std::string_view names = TakeLine(rest);
  if (names.empty()) return undecided();
  lines.version = TrimSpace(version);
  lines.length = version.size();
  if (FindScheme(names, 0) < names.size())
    return lines;  // cut, and the next record's head is in it
  lines.names = TrimSpace(names);
  lines.length += names.size();
  return lines;
}

void ReadVersionBlock(std::string_view head, std::size_t line_length, const ArcLine& line,
                      Record& record, std::vector<Defect>& defects) {
  const VersionLines lines = ReadVersionLines(head.substr(line_length));
  const std::vector<std::string_view> words = Split(lines.version, ' ');
  if (words.size() >= 2) {
    record.version = record.AddMade("ARC-Version", fmt::format("{}.{}", words[0], words[1]));
  }
  if (words.size() >= 3) {
    const std::size_t origin = static_cast<std::size_t>(words[2].data() - lines.version.data());
    record.fields.Add("ARC-Origin", lines.version.substr(origin));
  }
  if (lines.names.empty()) {
    defects.push_back({"version-block", "the version block does not name the fields"});
  }
  std::string_view filename = line.url.substr(kFiledesc.size());
  while (filename.starts_with('/')) filename.remove_prefix(1);
  record.fields.Add("WARC-Filename", filename);
  // The length counts the version lines. Some writers leave them out, or a line end; others count
  // the first line too.
  const std::uint64_t length = record.content_length;
  record.content_length = length > lines.length ? length - lines.length : 0;
  record.length_slack = head.size();
}

void ReadDate(std::string_view text, Record& record, std::vector<Defect>& defects) {
  record.date_text = text;
  record.date = ParseDigits(text.substr(0, text.size() > 17 ? 14 : text.size()));
  if (record.date) record.date_text = record.AddMade("WARC-Date", FormatIso(*record.date));
  if (!record.date || text.size() != 14) {
    defects.push_back({"date", fmt::format("the date \"{}\" is not of the form YYYYMMDDhhmmss",
                                           text.substr(0, 40))});
  }
}

void ReadAddress(const ArcLine& line, Record& record, std::vector<Defect>& defects) {
  if (!line.ip_is_valid) {
    defects.push_back({"ip", line.ip.empty()
                                 ? "the line has no address"
                                 : fmt::format("\"{}\" is no address", line.ip.substr(0, 60))});
    return;
  }
  if (line.ip != "-" && line.ip != "0.0.0.0") record.fields.Add("WARC-IP-Address", line.ip);
}

void ReadVersion2(const ArcLine& line, Record& record) {
  record.fields.Add("ARC-Result-Code", line.result_code);
  record.fields.Add("ARC-Checksum", line.checksum);
  record.fields.Add("ARC-Location", line.location);
  record.fields.Add("ARC-Offset", line.offset);
  record.fields.Add("ARC-Filename", line.filename);
}

void NameLineDefects(const ArcLine& line, std::vector<Defect>& defects) {
  if (line.url.find(' ') != std::string_view::npos) {
    defects.push_back({"space-in-url", "the URL has spaces"});
  }
  if (line.mime.empty()) {
    defects.push_back({"mime", "the line has no content type"});
  } else if (line.mime.find(' ') != std::string_view::npos) {
    defects.push_back({"mime", "the content type has spaces"});
  }
  if (!line.length) {
    defects.push_back({"length", fmt::format("the length is {}", line.length_text)});
  }
}

bool BeginsHttpResponse(std::string_view block) {
  return StartsWithIgnoreCase(block, "HTTP/") || StartsWithIgnoreCase(block, "HTTP ") ||
         block.starts_with("ICY ");
}

}  // namespace

Match ArcGrammar::BeginsRecord(std::string_view bytes) const {
  if (const Match match = BeginsWithScheme(bytes); match != Match::kYes) return match;
  const std::size_t end = bytes.substr(0, kLineBytesMax).find('\n');
  if (end == std::string_view::npos) {
    return bytes.size() < kLineBytesMax ? Match::kNeedMore : Match::kNo;
  }
  return ParseArcLine(bytes.substr(0, end)) ? Match::kYes : Match::kNo;
}

std::size_t ArcGrammar::FindCandidate(std::string_view bytes, std::size_t from) const {
  return FindScheme(bytes, from);
}

Result<std::size_t> ArcGrammar::HeadLength(std::string_view bytes) const {
  const std::size_t end = bytes.substr(0, kLineBytesMax).find('\n');
  if (end == std::string_view::npos) {
    if (bytes.size() < kLineBytesMax) return std::size_t{0};
    return Error{ErrorCode::kCorrupt, "the line of the record is too long"};
  }
  if (!BeginsVersionBlock(bytes)) return end + 1;
  const VersionLines lines = ReadVersionLines(bytes.substr(end + 1));
  return lines.complete ? end + 1 + lines.length : 0;
}

Status ArcGrammar::ParseHead(std::string_view head, Record& record, std::vector<Defect>& defects) {
  const std::size_t end = std::min(head.find('\n'), head.size());
  const std::string_view text = head.substr(0, end);
  const std::optional<ArcLine> line = ParseArcLine(text);
  if (!line) return Error{ErrorCode::kCorrupt, "this is not the line of an ARC record"};
  if (text.ends_with('\r')) defects.push_back({"crlf", "the line ends in CR LF, not LF"});
  NameLineDefects(*line, defects);
  record.content_length = line->length.value_or(0);
  const bool is_version_block = BeginsVersionBlock(line->url);
  if (is_version_block) {
    ReadVersionBlock(head, std::min(end + 1, head.size()), *line, record, defects);
    record.AddMade("Content-Length", fmt::format("{}", record.content_length));
  } else {
    record.target_uri = line->url;
    record.fields.Add("WARC-Target-URI", line->url);
    record.fields.Add("Content-Length", line->length ? line->length_text : "0");
  }
  ReadDate(line->date, record, defects);
  ReadAddress(*line, record, defects);
  record.fields.Add("ARC-Content-Type", line->mime);
  if (line->is_v2) ReadVersion2(*line, record);
  record.content_type = line->mime;
  record.type = is_version_block ? RecordType::kWarcinfo : RecordType::kResource;
  return {};
}

void ArcGrammar::Classify(std::string_view block_begin, Record& record) const {
  if (record.type == RecordType::kResource && BeginsHttpResponse(block_begin)) {
    record.type = RecordType::kResponse;
    record.content_type = kHttpResponse;
  }
  record.type_name = record::RecordTypeName(record.type);
  record.fields.Add("WARC-Type", record.type_name);
  record.fields.Add("Content-Type", record.content_type);
}

std::size_t ArcGrammar::SeparatorLength(std::string_view bytes,
                                        std::vector<Defect>* defects) const {
  const std::size_t limit = std::min(bytes.size(), record::kSeparatorBytesMax);
  std::size_t length = 0;
  while (length < limit && (bytes[length] == '\r' || bytes[length] == '\n')) ++length;
  if (defects != nullptr && (length == 0 || length > 2)) {
    defects->push_back(
        {"separator", fmt::format("{} bytes of line ends follow the block instead of LF", length)});
  }
  return length;
}

}  // namespace stele::arc
