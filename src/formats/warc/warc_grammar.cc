#include "formats/warc/warc_grammar.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/warc/angle_brackets.h"
#include "util/ascii.h"

namespace stele::warc {
namespace {

using record::Defect;
using record::Match;
using record::Record;

constexpr std::string_view kMagic = "WARC/";

// The line at the front of `rest`, without its end; `rest` goes on behind it.
std::string_view TakeLine(std::string_view& rest, bool& odd_line_end) {
  const std::size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  const std::size_t size = line.size();
  while (line.ends_with('\r')) line.remove_suffix(1);
  odd_line_end = odd_line_end || size != line.size() + 1;
  return line;
}

void ReadDate(std::string_view text, Record& record, std::vector<Defect>& defects) {
  record.date_text = text;
  record.date = ParseIso(text);
  if (record.date) return;
  record.date = ParseDigits(text);
  defects.push_back({"date", fmt::format("WARC-Date \"{}\" is not of the form "
                                         "YYYY-MM-DDThh:mm:ssZ",
                                         text)});
}

// Takes the fields that every reader needs out of the list.
bool ReadKnownFields(Record& record, std::vector<Defect>& defects) {
  bool has_length = false;
  for (const http::Field& field : record.fields.fields()) {
    switch (field.name.size()) {
      case 9:
        if (EqualsIgnoreCase(field.name, "WARC-Type")) {
          record.type_name = field.value;
          record.type = record::RecordTypeByName(field.value);
        } else if (EqualsIgnoreCase(field.name, "WARC-Date")) {
          ReadDate(field.value, record, defects);
        }
        break;
      case 12:
        if (EqualsIgnoreCase(field.name, "Content-Type")) record.content_type = field.value;
        break;
      case 14:
        if (!has_length && EqualsIgnoreCase(field.name, "Content-Length")) {
          const std::optional<std::uint64_t> length = ParseDecimal(field.value);
          if (!length) return false;
          record.content_length = *length;
          has_length = true;
        }
        break;
      case 15:
        if (EqualsIgnoreCase(field.name, "WARC-Target-URI")) {
          record.target_uri = WithoutBrackets(field.value);
          if (record.target_uri.size() != field.value.size()) {
            defects.push_back({"target-uri-brackets", "WARC-Target-URI stands in <>"});
          }
        }
        break;
      default:
        break;
    }
  }
  return has_length;
}

}  // namespace

Match WarcGrammar::BeginsRecord(std::string_view bytes) const {
  const std::size_t shared = std::min(bytes.size(), kMagic.size());
  if (bytes.substr(0, shared) != kMagic.substr(0, shared)) return Match::kNo;
  if (bytes.size() < kMagic.size() + 4) return Match::kNeedMore;
  const std::string_view version = bytes.substr(kMagic.size());
  return IsAsciiDigit(version[0]) && version[1] == '.' && IsAsciiDigit(version[2]) ? Match::kYes
                                                                                   : Match::kNo;
}

std::size_t WarcGrammar::FindCandidate(std::string_view bytes, std::size_t from) const {
  // A whole magic, or a part of one that the end cuts off.
  for (std::size_t at = from; (at = bytes.find('W', at)) != std::string_view::npos; ++at) {
    const std::string_view here = bytes.substr(at, kMagic.size());
    if (kMagic.starts_with(here)) return at;
  }
  return bytes.size();
}

Result<std::size_t> WarcGrammar::HeadLength(std::string_view bytes) const {
  for (std::size_t at = 0; (at = bytes.find('\n', at)) != std::string_view::npos;) {
    ++at;
    // An empty line; files that passed through a text mode have several CRs in it.
    std::size_t end = at;
    while (end < bytes.size() && bytes[end] == '\r') ++end;
    if (end < bytes.size() && bytes[end] == '\n') return end + 1;
    if (BeginsRecord(bytes.substr(at)) == Match::kYes) {
      return Error{ErrorCode::kCorrupt, "another record begins within the head"};
    }
  }
  return std::size_t{0};
}

Status WarcGrammar::ParseHead(std::string_view head, Record& record, std::vector<Defect>& defects) {
  bool odd_line_end = false;
  std::string_view rest = head;
  record.version = TakeLine(rest, odd_line_end);
  record.version.remove_prefix(std::min(record.version.size(), kMagic.size()));
  while (!rest.empty()) {
    const std::string_view line = TakeLine(rest, odd_line_end);
    if (line.empty()) break;
    if (line.front() == ' ' || line.front() == '\t') {
      // Folded: the value goes on. Its view takes in the line end.
      defects.push_back({"folded-field", "a field is folded over several lines"});
      if (!record.fields.fields().empty()) record.fields.ExtendLast(line.data() + line.size());
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      defects.push_back({"no-colon", fmt::format("the head has a line without a colon: \"{}\"",
                                                 line.substr(0, 80))});
      continue;
    }
    const std::string_view name = TrimSpace(line.substr(0, colon));
    if (name.empty()) {
      defects.push_back({"field-name", "a field has no name"});
      continue;
    }
    if (name.size() != colon) {
      defects.push_back({"field-name", fmt::format("spaces around the field name {}", name)});
    }
    record.fields.Add(name, TrimSpace(line.substr(colon + 1)));
  }
  if (odd_line_end) defects.push_back({"line-end", "lines of the head end in other than CR LF"});
  if (!ReadKnownFields(record, defects)) {
    return Error{ErrorCode::kCorrupt, "the head has no valid Content-Length"};
  }
  return {};
}

std::size_t WarcGrammar::SeparatorLength(std::string_view bytes,
                                         std::vector<Defect>* defects) const {
  const std::size_t limit = std::min(bytes.size(), record::kSeparatorBytesMax);
  std::size_t length = 0;
  while (length < limit && (bytes[length] == '\r' || bytes[length] == '\n')) ++length;
  if (defects != nullptr && bytes.substr(0, length) != "\r\n\r\n") {
    defects->push_back({"separator", fmt::format("{} bytes of line ends follow the block instead "
                                                 "of CR LF CR LF",
                                                 length)});
  }
  return length;
}

}  // namespace stele::warc
