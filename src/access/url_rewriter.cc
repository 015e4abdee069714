#include "access/url_rewriter.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/ascii.h"

namespace stele::access {
namespace {

// What stands before the first of some characters: all, where there is none. The library's own
// search calls a function for each character of the text.
template <char... kEnds>
std::string_view Before(std::string_view text) {
  const auto end =
      std::find_if(text.begin(), text.end(), [](char c) { return ((c == kEnds) || ...); });
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// "http" of "http://a.org/"; nothing where there is no scheme.
std::optional<std::string_view> SchemeOf(std::string_view text) {
  const std::string_view scheme = Before<':', '/', '?', '#'>(text);
  if (scheme.empty() || text.substr(scheme.size(), 1) != ":") return std::nullopt;
  const bool good =
      IsAsciiAlpha(scheme[0]) && std::all_of(scheme.begin(), scheme.end(), [](char c) {
        return IsAsciiAlnum(c) || c == '+' || c == '-' || c == '.';
      });
  if (!good) return std::nullopt;
  return scheme;
}

// What a browser would take out or understand in another way than it looks.
bool IsOdd(std::string_view text) {
  return Before<'\t', '\n', '\r', '\\'>(text).size() < text.size();
}

}  // namespace

std::string_view PathOf(std::string_view reference) { return Before<'?', '#'>(reference); }

UrlRewriter::UrlRewriter(std::string prefix, std::string_view url) : prefix_(std::move(prefix)) {
  TakeBase(url::Parse(url));
}

void UrlRewriter::TakeBase(Result<url::Url> base) {
  if (!base) return;
  base_ = *std::move(base);
  origin_ = base_->origin();
  scheme_ = std::string(base_->scheme()) + ':';
}

void UrlRewriter::SetBase(std::string_view href) {
  if (has_base_) return;
  has_base_ = true;
  Result<url::Url> parsed = url::Parse(href, base_ ? &*base_ : nullptr);
  if (parsed && parsed->is_http()) TakeBase(std::move(parsed));
}

std::optional<Rewritten> UrlRewriter::Rewrite(std::string_view reference,
                                              std::string_view modifier) const {
  reference = TrimSpace(reference);
  if (reference.empty() || reference[0] == '#' || !base_) return std::nullopt;
  if (const std::optional<std::string_view> scheme = SchemeOf(reference)) {
    const bool is_http = EqualsIgnoreCase(*scheme, "http") || EqualsIgnoreCase(*scheme, "https");
    if (!is_http) return std::nullopt;
    if (reference.substr(scheme->size(), 3) == "://" && !IsOdd(reference)) {
      return Rewritten{Into(modifier), std::nullopt};
    }
  } else if (!IsOdd(reference)) {
    if (reference.starts_with("//")) {
      return Rewritten{Into(modifier, scheme_), std::nullopt};
    }
    const std::string_view path = PathOf(reference);
    if (path.find("..") == std::string_view::npos) {
      if (path.starts_with('/')) return Rewritten{Into(modifier, origin_), std::nullopt};
      // It leads into the archive by itself: the page's own address is such a path.
      return std::nullopt;
    }
  }
  const Result<url::Url> target = url::Parse(reference, &*base_);
  if (!target || !target->is_http()) return std::nullopt;
  std::string absolute = Into(modifier);
  for (const char c : target->href()) {
    // What could end a quoted value or a url() of CSS.
    if (c == '\'' || c == '(' || c == ')') {
      absolute += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      absolute += c;
    }
  }
  return Rewritten{"", std::move(absolute)};
}

}  // namespace stele::access
