#include "formats/http/media_type.h"

#include <algorithm>

#include "util/ascii.h"

namespace stele::http {
namespace {

constexpr std::string_view kSeparators = ";, \t\r\n";
constexpr std::string_view kCharset = "charset";
constexpr std::size_t kNone = std::string_view::npos;

std::string_view SkipSpace(std::string_view text) {
  while (!text.empty() && IsAsciiSpace(text.front())) text.remove_prefix(1);
  return text;
}

// The value behind "charset", or nothing when this is another word.
std::string_view ReadValue(std::string_view text) {
  text = SkipSpace(text);
  if (text.empty() || (text.front() != '=' && text.front() != ':')) return {};
  text = SkipSpace(text.substr(1));
  if (text.empty()) return {};
  const char quote = text.front();
  if (quote == '"' || quote == '\'') {
    text.remove_prefix(1);
    return TrimSpace(text.substr(0, text.find(quote)));
  }
  return text.substr(0, text.find_first_of(";, \t\r\n\"'"));
}

std::string FindCharset(std::string_view parameters) {
  for (std::size_t at = 0; at + kCharset.size() < parameters.size(); ++at) {
    if (at > 0 && kSeparators.find(parameters[at - 1]) == kNone) continue;
    if (!StartsWithIgnoreCase(parameters.substr(at), kCharset)) continue;
    const std::string_view value = ReadValue(parameters.substr(at + kCharset.size()));
    if (!value.empty()) return AsciiLower(value);
  }
  return {};
}

}  // namespace

MediaType ParseMediaType(std::string_view value) {
  MediaType result;
  value = SkipSpace(value);
  // Spaces may surround the slash.
  const std::size_t slash = value.find('/');
  const std::size_t end = value.find_first_of(";,");
  std::size_t rest = 0;
  if (slash != kNone && slash < end) {
    const std::string_view major = TrimSpace(value.substr(0, slash));
    const std::string_view after = SkipSpace(value.substr(slash + 1));
    const std::string_view minor = after.substr(0, after.find_first_of(kSeparators));
    const bool one_word = major.find_first_of(" \t\r\n\"=") == kNone;
    if (!major.empty() && !minor.empty() && one_word) {
      result.type = AsciiLower(major) + "/" + AsciiLower(minor);
      rest = static_cast<std::size_t>(minor.data() + minor.size() - value.data());
    }
  }
  result.charset = FindCharset(value.substr(rest));
  return result;
}

}  // namespace stele::http
