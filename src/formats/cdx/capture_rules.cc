#include "formats/cdx/capture_rules.h"

#include <fmt/format.h>

#include "formats/url/request_key.h"
#include "formats/url/surt.h"
#include "util/ascii.h"

namespace stele::cdx {

using record::RecordType;

bool IsCapture(const record::Record& record) {
  if (record.target_uri.empty()) return false;
  switch (record.type) {
    case RecordType::kResponse:
    case RecordType::kRevisit:
    case RecordType::kResource:
    case RecordType::kConversion:
      return true;
    case RecordType::kMetadata:
      // What a crawler notes about a capture is none; "text/anvl" is how Heritrix once called it.
      return !StartsWithIgnoreCase(record.content_type, "application/warc-fields") &&
             !StartsWithIgnoreCase(record.content_type, "text/anvl");
    default:
      return false;
  }
}

std::string MimeOf(std::string_view content_type) {
  std::string_view mime = content_type.substr(0, content_type.find(';'));
  mime = TrimSpace(mime);
  mime = mime.substr(0, mime.find_first_of(" \t\r\n,"));
  return mime.empty() ? "unk" : std::string(mime);
}

std::string KeyOf(const CaptureRequest& request) {
  return url::SurtKey(
      url::RequestUrl(request.uri, request.method, request.content_type, request.body));
}

bool MatchesType(std::string_view wanted, std::string_view type) {
  if (wanted.ends_with("/*")) {
    return StartsWithIgnoreCase(type, wanted.substr(0, wanted.size() - 1));
  }
  return EqualsIgnoreCase(type, wanted);
}

bool IsStatusPattern(std::string_view text) {
  return text.size() == 3 && IsAsciiDigit(text[0]) &&
         (text.substr(1) == "xx" || (IsAsciiDigit(text[1]) && IsAsciiDigit(text[2])));
}

bool MatchesStatus(std::string_view wanted, std::uint32_t status) {
  const std::string text = fmt::format("{:03}", status);
  return wanted == text || (wanted.ends_with("xx") && text.starts_with(wanted[0]));
}

}  // namespace stele::cdx
