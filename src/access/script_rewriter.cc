// Scripts are not parsed. Two words are looked for: "//", of which the string around it is judged,
// and "location", behind which a string may stand. What is found gets a prefix, so that a string
// that only looks like an address still ends as it did.
#include "access/script_rewriter.h"

#include <algorithm>
#include <array>

#include "formats/html/script_links.h"
#include "util/ascii.h"

namespace stele::access {
namespace {

constexpr std::size_t kUrlBytesMax = 2048;
constexpr std::string_view kLocation = "location";

// These name something and are never fetched.
constexpr std::string_view kNames[] = {"www.w3.org/", "schema.org", "ns.adobe.com/",
                                       "xmlns.com/",  "purl.org/",  "ogp.me/"};

bool IsQuote(char c) { return c == '"' || c == '\'' || c == '`'; }

std::string_view ModifierOf(std::string_view url) {
  const std::string_view path = PathOf(url);
  const std::size_t dot = path.rfind('.');
  const std::string extension =
      dot == std::string_view::npos ? "" : AsciiLower(path.substr(dot + 1));
  constexpr std::pair<std::string_view, std::string_view> kModifiers[] = {
      {"js", "js_"},   {"mjs", "js_"}, {"css", "cs_"},  {"png", "im_"}, {"jpg", "im_"},
      {"jpeg", "im_"}, {"gif", "im_"}, {"webp", "im_"}, {"svg", "im_"}, {"ico", "im_"}};
  for (const auto& [end, modifier] : kModifiers) {
    if (extension == end) return modifier;
  }
  return "mp_";
}

// A string of the script: what stands between its quotes, with "\/" as "/".
struct Quoted {
  std::size_t begin = 0;  // behind the opening quote
  std::string text;
};

class ScriptRewriter {
 public:
  ScriptRewriter(std::string_view script, const UrlRewriter& urls) : script_(script), urls_(urls) {}

  std::string Run() {
    std::size_t slashes = NextSlashes(0);
    std::size_t location = script_.find(kLocation);
    while (slashes != script_.npos || location != script_.npos) {
      if (slashes < location) {
        AtSlashes(slashes);
        slashes = NextSlashes(slashes + 2);
      } else {
        AtLocation(location + kLocation.size());
        location = script_.find(kLocation, location + kLocation.size());
      }
    }
    out_.append(script_, done_);
    return std::move(out_);
  }

 private:
  // "//" or "\/\/", from `at` on.
  std::size_t NextSlashes(std::size_t at) const {
    while ((at = script_.find('/', at)) != script_.npos) {
      const std::string_view next = script_.substr(at + 1, 2);
      if (next.starts_with('/') || next == "\\/") return at;
      ++at;
    }
    return at;
  }

  // The string that begins at `begin`; nothing where it is none, or too long, or has more in it
  // than an address.
  std::optional<Quoted> StringAt(std::size_t begin) const {
    if (begin == 0 || begin >= script_.size() || !IsQuote(script_[begin - 1])) return std::nullopt;
    const std::size_t limit = std::min(script_.size(), begin + kUrlBytesMax);
    Quoted quoted{begin, ""};
    for (std::size_t at = begin; at < limit; ++at) {
      const char c = script_[at];
      if (c == script_[begin - 1]) return quoted;
      if (c == '\\') {
        if (script_.substr(at + 1, 1) != "/") return std::nullopt;
        continue;
      }
      quoted.text += c;
    }
    return std::nullopt;
  }

  void AtSlashes(std::size_t slashes) {
    // "https:" stands before, or the quote itself.
    std::size_t begin = slashes;
    if (begin > 0 && script_[begin - 1] == '\\') --begin;
    for (const std::string_view scheme : {"https:", "http:"}) {
      if (script_.substr(0, begin).ends_with(scheme)) {
        begin -= scheme.size();
        break;
      }
    }
    const std::optional<Quoted> quoted = StringAt(begin);
    if (!quoted || !html::LooksLikeUrl(quoted->text)) return;
    const std::string_view host =
        std::string_view(quoted->text).substr(quoted->text.find("//") + 2);
    const bool is_name = std::any_of(std::begin(kNames), std::end(kNames),
                                     [&](std::string_view name) { return host.starts_with(name); });
    if (!is_name) Insert(*quoted);
  }

  // location = "/x", location.href = "/x", location.replace("/x"), location.assign("/x").
  void AtLocation(std::size_t at) {
    for (const std::string_view method : {".replace(", ".assign("}) {
      if (!script_.substr(at).starts_with(method)) continue;
      return AtPath(SkipSpaces(at + method.size()));
    }
    constexpr std::string_view kHref = ".href";
    if (script_.substr(at).starts_with(kHref)) at += kHref.size();
    at = SkipSpaces(at);
    if (script_.substr(at, 1) != "=" || script_.substr(at, 2) == "==") return;
    AtPath(SkipSpaces(at + 1));
  }

  std::size_t SkipSpaces(std::size_t at) const {
    const std::size_t end = std::min(script_.size(), at + 16);
    while (at < end && IsAsciiSpace(script_[at])) ++at;
    return at;
  }

  void AtPath(std::size_t quote) {
    const std::optional<Quoted> quoted = StringAt(quote + 1);
    if (!quoted || !quoted->text.starts_with('/') || quoted->text.starts_with("//")) return;
    const bool plain = std::none_of(quoted->text.begin(), quoted->text.end(), [](char c) {
      return IsAsciiSpace(c) || c == '<' || c == '>' || c == '$';
    });
    if (plain) Insert(*quoted);
  }

  void Insert(const Quoted& quoted) {
    if (quoted.begin < done_) return;
    const std::optional<Rewritten> rewritten = urls_.Rewrite(quoted.text, ModifierOf(quoted.text));
    if (!rewritten || rewritten->replacement) return;
    out_.append(script_, done_, quoted.begin - done_);
    out_ += rewritten->insert;
    done_ = quoted.begin;
  }

  const std::string_view script_;
  const UrlRewriter& urls_;
  std::string out_;
  std::size_t done_ = 0;
};

}  // namespace

std::string RewriteScript(std::string_view script, const UrlRewriter& urls) {
  return ScriptRewriter(script, urls).Run();
}

}  // namespace stele::access
