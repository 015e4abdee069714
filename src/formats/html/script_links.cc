// One pass from quote to quote. A string with a byte that no URL has (white space, brackets, '<')
// is given up at that byte, so that a quote in a comment or regular expression misleads only up to
// there. Escaped quotes (\", \u0022) delimit strings inside strings.
#include "formats/html/script_links.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "formats/html/utf8.h"
#include "util/ascii.h"

namespace stele::html {
namespace {

enum ByteClass : std::uint8_t { kPlain, kQuote, kBackslash, kNever };

constexpr auto kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 0; c <= 0x20; ++c) classes[static_cast<std::size_t>(c)] = kNever;
  for (const char c : {'<', '>', '{', '}', '|', '^', '(', ')', '[', ']', '$', '*', '\x7F'}) {
    classes[static_cast<std::uint8_t>(c)] = kNever;
  }
  for (const char c : {'"', '\'', '`'}) classes[static_cast<std::uint8_t>(c)] = kQuote;
  classes['\\'] = kBackslash;
  return classes;
}();

constexpr auto kExtensions = std::to_array<std::string_view>({
    "7z",   "aac",         "apk",  "asp",  "aspx", "atom",  "avi",   "avif",  "bmp",  "bz2",
    "cfm",  "cgi",         "css",  "csv",  "doc",  "docx",  "eot",   "epub",  "exe",  "flv",
    "gif",  "gz",          "htm",  "html", "ico",  "jar",   "jpeg",  "jpg",   "js",   "json",
    "jsp",  "m3u8",        "m4a",  "m4v",  "mjs",  "mov",   "mp3",   "mp4",   "mpd",  "mpeg",
    "mpg",  "ogg",         "ogv",  "otf",  "pdf",  "php",   "php3",  "phtml", "pl",   "png",
    "ppt",  "pptx",        "rar",  "rdf",  "rss",  "rtf",   "shtml", "svg",   "svgz", "swf",
    "tar",  "tgz",         "tif",  "tiff", "ts",   "ttf",   "txt",   "vtt",   "wasm", "wav",
    "webm", "webmanifest", "webp", "wmv",  "woff", "woff2", "xhtml", "xls",   "xlsx", "xml",
    "xsl",  "zip",
});
static_assert(kExtensions.size() > 70);

constexpr auto kMimeTrees = std::to_array<std::string_view>({
    "application",
    "audio",
    "font",
    "image",
    "message",
    "model",
    "multipart",
    "text",
    "video",
});

bool IsKnownExtension(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || (slash != std::string_view::npos && dot < slash)) {
    return false;
  }
  const std::size_t name = slash == std::string_view::npos ? 0 : slash + 1;
  if (dot == name) return false;  // ".js" alone is a suffix, not a file
  const std::string extension = AsciiLower(path.substr(dot + 1));
  return std::ranges::find(kExtensions, extension) != kExtensions.end();
}

// "text/css", "image/svg+xml": a tree and one more name.
bool IsMimeType(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  if (text.find('/', slash + 1) != std::string_view::npos) return false;
  const std::string tree = AsciiLower(text.substr(0, slash));
  return std::ranges::find(kMimeTrees, tree) != kMimeTrees.end() &&
         !IsKnownExtension(text.substr(slash));
}

// A host with a dot, a plausible top-level domain, and whatever ends it.
bool StartsWithHost(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (IsAsciiAlnum(text[end]) || text[end] == '-' || text[end] == '.' ||
                               static_cast<std::uint8_t>(text[end]) >= 0x80)) {
    ++end;
  }
  if (end < text.size() && std::string_view("/?#:").find(text[end]) == std::string_view::npos) {
    return false;
  }
  const std::string_view host = text.substr(0, end);
  const std::size_t dot = host.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || host.find("..") != std::string_view::npos) {
    return false;
  }
  const std::string_view top = host.substr(dot + 1);
  const bool is_number = std::ranges::all_of(top, IsAsciiDigit);
  return is_number ? std::ranges::count(host, '.') == 3 && !top.empty() : top.size() >= 2;
}

bool IsPathByte(char c) {
  return IsAsciiAlnum(c) || static_cast<std::uint8_t>(c) >= 0x80 ||
         std::string_view("-._~%/?=&+:@,;!#").find(c) != std::string_view::npos;
}

bool LooksLikePath(std::string_view text) {
  if (!std::ranges::all_of(text, IsPathByte)) return false;
  if (text.find("//") != std::string_view::npos) return false;
  const std::string_view path = text.substr(0, text.find_first_of("?#"));
  if (path.find_first_of(":@,;!=&") != std::string_view::npos) return false;
  const char first = text[0];
  if (first != '/' && first != '.' && first != '_' && !IsAsciiAlnum(first)) return false;
  return IsKnownExtension(path) && !IsMimeType(path);
}

// \/ \x2f \u002f \u{2f} \\ and the rest by dropping the backslash.
std::string UnescapeScript(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 >= text.size()) {
      out.push_back(text[at]);
      continue;
    }
    const char kind = text[++at];
    const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 0;
    char32_t code_point = 0;
    std::size_t read = 0;
    while (read < digits && at + 1 + read < text.size() && HexValue(text[at + 1 + read]) >= 0) {
      code_point = code_point * 16 + static_cast<char32_t>(HexValue(text[at + 1 + read]));
      ++read;
    }
    if (digits != 0 && read == digits) {
      AppendUtf8(out, code_point);
      at += digits;
    } else {
      out.push_back(kind);
    }
  }
  return out;
}

// "http%3A%2F%2Fexample.org%2F" as it is passed to redirectors.
std::string PercentDecode(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%' && at + 2 < text.size() && HexValue(text[at + 1]) >= 0 &&
        HexValue(text[at + 2]) >= 0) {
      out.push_back(static_cast<char>(HexValue(text[at + 1]) * 16 + HexValue(text[at + 2])));
      at += 2;
    } else {
      out.push_back(text[at]);
    }
  }
  return out;
}

class ScriptScanner {
 public:
  ScriptScanner(const LinkSource& source, LinkCollector& links)
      : source_(source), script_(source.bytes), links_(links) {}

  void Run() {
    std::size_t at = 0;
    while (at < script_.size()) {
      if (ClassAt(at) != kQuote) {
        ++at;
        continue;
      }
      at = String(at);
    }
  }

 private:
  std::uint8_t ClassAt(std::size_t at) const {
    return kClasses[static_cast<std::uint8_t>(script_[at])];
  }

  // From an opening quote; returns where to look for the next one.
  std::size_t String(std::size_t open) {
    const char quote = script_[open];
    bool escaped = false;
    std::size_t at = open + 1;
    for (; at < script_.size(); ++at) {
      const std::uint8_t kind = ClassAt(at);
      if (kind == kPlain) continue;
      if (kind == kBackslash && !IsEscapedQuote(at)) {
        escaped = true;
        ++at;
        continue;
      }
      break;
    }
    if (at >= script_.size()) return at;
    const bool nested = script_[at] == '\\';
    if (script_[at] == quote || nested || ClassAt(at) == kQuote) {
      Candidate(script_.substr(open + 1, at - open - 1), open + 1, escaped);
    }
    if (script_[at] == quote) return at + 1;
    // Another kind of quote, or an escaped one, may open a string inside this one.
    if (nested) return SkipBackslashes(at);
    return ClassAt(at) == kQuote ? at : at + 1;
  }

  bool IsEscapedQuote(std::size_t at) const {
    const std::size_t next = SkipBackslashes(at);
    return next < script_.size() && (script_[next] == '"' || script_[next] == '\'');
  }

  std::size_t SkipBackslashes(std::size_t at) const {
    const std::size_t end = std::min(script_.size(), at + 8);
    while (at < end && script_[at] == '\\') ++at;
    return at;
  }

  void Candidate(std::string_view text, std::size_t at, bool escaped) {
    if (text.size() < 4 || text.size() > links_.limits().url_bytes_max) return;
    if (text.find('/') == std::string_view::npos && text.find('.') == std::string_view::npos &&
        text.find('%') == std::string_view::npos) {
      return;
    }
    std::string buffer;
    if (escaped) {
      buffer = UnescapeScript(text);
      text = buffer;
    }
    if (StartsWithIgnoreCase(text, "http%3A") || StartsWithIgnoreCase(text, "https%3A")) {
      buffer = PercentDecode(text);
      text = buffer;
    }
    if (!LooksLikeUrl(text)) return;
    if (StartsWithIgnoreCase(text, "www.")) {
      buffer = "http://" + std::string(text);
      text = buffer;
    }
    links_.Add({.href = text,
                .hop = Hop::kSpeculative,
                .context = "script",
                .offset = source_.OffsetOf(at),
                .base = source_.base,
                .utf8 = source_.utf8});
  }

  const LinkSource& source_;
  std::string_view script_;
  LinkCollector& links_;
};

}  // namespace

void ExtractScriptLinks(const LinkSource& source, LinkCollector& links) {
  ScriptScanner(source, links).Run();
}

bool LooksLikeUrl(std::string_view text) {
  if (text.size() < 4) return false;
  if (std::ranges::any_of(text, [](char c) {
        const std::uint8_t kind = kClasses[static_cast<std::uint8_t>(c)];
        return kind == kNever || kind == kQuote || kind == kBackslash;
      })) {
    return false;
  }
  constexpr std::string_view kCodeEnds = ",;+:";
  if (kCodeEnds.find(text.front()) != std::string_view::npos ||
      kCodeEnds.find(text.back()) != std::string_view::npos) {
    return false;
  }
  if (StartsWithIgnoreCase(text, "http://")) return StartsWithHost(text.substr(7));
  if (StartsWithIgnoreCase(text, "https://")) return StartsWithHost(text.substr(8));
  if (text.starts_with("//")) {
    return StartsWithHost(text.substr(2)) && text.find('/', 2) != std::string_view::npos;
  }
  if (StartsWithIgnoreCase(text, "www.")) {
    return StartsWithHost(text) && std::ranges::count(text, '.') >= 2;
  }
  return LooksLikePath(text);
}

}  // namespace stele::html
