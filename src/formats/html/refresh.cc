#include "formats/html/refresh.h"

#include "util/ascii.h"

namespace stele::html {
namespace {

std::size_t SkipSpace(std::string_view text, std::size_t at) {
  while (at < text.size() && IsAsciiSpace(text[at])) ++at;
  return at;
}

// Past "url =", in any case and with any spaces; `at` itself where that does not stand there.
std::size_t SkipUrlKeyword(std::string_view text, std::size_t at) {
  if (!StartsWithIgnoreCase(text.substr(at), "url")) return at;
  const std::size_t equals = SkipSpace(text, at + 3);
  if (equals >= text.size() || text[equals] != '=') return at;
  return SkipSpace(text, equals + 1);
}

}  // namespace

std::optional<std::string_view> RefreshUrl(std::string_view value) {
  std::size_t at = SkipSpace(value, 0);
  const std::size_t number = at;
  while (at < value.size() && (IsAsciiDigit(value[at]) || value[at] == '.')) ++at;
  const bool has_delay = at > number;
  const std::size_t after_delay = at;
  at = SkipSpace(value, at);
  if (at < value.size() && (value[at] == ';' || value[at] == ',')) {
    at = SkipSpace(value, at + 1);
  } else if (has_delay && at == after_delay && at < value.size()) {
    return std::nullopt;  // "5x": neither a delay nor a URL
  }
  const std::size_t url = SkipUrlKeyword(value, at);
  if (!has_delay && url == at) return std::nullopt;
  std::string_view rest = value.substr(url);
  if (!rest.empty() && (rest[0] == '"' || rest[0] == '\'')) {
    const std::size_t end = rest.find(rest[0], 1);
    rest = rest.substr(1, end == std::string_view::npos ? end : end - 1);
  }
  rest = TrimSpace(rest);
  if (rest.empty()) return std::nullopt;
  return rest;
}

}  // namespace stele::html
