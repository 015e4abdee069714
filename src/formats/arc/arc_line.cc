// Fields are divided by spaces, but URLs and types hold spaces too. So the line is read from its
// right end: the rightmost date with an address before it is the anchor. What is left of it is the
// URL; what is between it and the length is the type, or the type and the five fields of version 2,
// two of which are numbers. No version block is needed for that, so each record can be read alone.
#include "formats/arc/arc_line.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "util/ascii.h"

namespace stele::arc {
namespace {

using record::Match;

constexpr std::array<std::string_view, 26> kSchemes = {
    "http",   "https", "ftp",      "dns",  "filedesc", "whois", "gopher",   "news",      "nntp",
    "mailto", "rtsp",  "mms",      "mmst", "mmsu",     "pnm",   "rtmp",     "wais",      "telnet",
    "file",   "data",  "metadata", "urn",  "gemini",   "cid",   "warcinfo", "javascript"};
constexpr std::size_t kSchemeBytesMax = 16;
constexpr std::string_view kAuthority = "://";

// More words than this are not looked at from the right.
constexpr std::size_t kWordsMax = 32;

bool IsSchemeChar(char c) { return IsAsciiAlnum(c) || c == '+' || c == '-'; }

bool IsKnown(std::string_view scheme) {
  return std::any_of(kSchemes.begin(), kSchemes.end(),
                     [&](std::string_view known) { return EqualsIgnoreCase(known, scheme); });
}

bool EndsWithIgnoreCase(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && EqualsIgnoreCase(text.substr(text.size() - end.size()), end);
}

// The longest known scheme that `text` ends with; empty when there is none.
std::string_view KnownAtEnd(std::string_view text) {
  std::size_t longest = 0;
  for (const std::string_view known : kSchemes) {
    if (EndsWithIgnoreCase(text, known)) longest = std::max(longest, known.size());
  }
  return text.substr(text.size() - longest);
}

// "ttp", "Jhttp": a known scheme in a damaged file.
bool LooksDamaged(std::string_view scheme) {
  if (!KnownAtEnd(scheme).empty()) return true;
  return std::any_of(kSchemes.begin(), kSchemes.end(),
                     [&](std::string_view known) { return EndsWithIgnoreCase(known, scheme); });
}

bool IsDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsAsciiDigit);
}

bool IsNumberOrDash(std::string_view text) { return text == "-" || IsDigits(text); }

// 12 digits (no seconds) up to the 18 that some writers made.
bool IsDate(std::string_view text) {
  return text.size() >= 12 && text.size() <= 18 && IsDigits(text);
}

bool IsAddress(std::string_view text) {
  if (text == "-") return true;
  if (text.size() < 2 || text.size() > 45) return false;
  if (std::count(text.begin(), text.end(), ':') >= 2) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return IsAsciiHexDigit(c) || c == ':' || c == '.'; });
  }
  const std::vector<std::string_view> parts = Split(text, '.');
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           return part.size() <= 3 && IsDigits(part) && *ParseDecimal(part) <= 255;
         });
}

// The words at the right end of a line; [0] is the last one.
struct Words {
  std::array<std::string_view, kWordsMax> list;
  std::size_t count = 0;

  // From word `left` to word `right`, with what is between them. Requires: left >= right.
  std::string_view Span(std::size_t left, std::size_t right) const {
    const char* begin = list[left].data();
    const char* end = list[right].data() + list[right].size();
    return {begin, static_cast<std::size_t>(end - begin)};
  }
};

Words LastWords(std::string_view line) {
  Words words;
  while (words.count < kWordsMax) {
    // rfind() goes byte by byte, and a search through garbage comes here often.
    const void* space = memrchr(line.data(), ' ', line.size());
    if (space == nullptr) {
      words.list[words.count++] = line;
      break;
    }
    const std::size_t at = static_cast<std::size_t>(static_cast<const char*>(space) - line.data());
    words.list[words.count++] = line.substr(at + 1);
    line = line.substr(0, at);
  }
  return words;
}

struct Anchor {
  std::size_t date = 0;
  std::optional<std::size_t> ip;
};

// Which words are the date and the address. The word that begins the line is the URL's.
std::optional<Anchor> FindAnchor(const Words& words) {
  for (std::size_t i = 1; i + 2 < words.count; ++i) {
    if (IsDate(words.list[i]) && IsAddress(words.list[i + 1])) return Anchor{i, i + 1};
  }
  // At their places in version 1, one of them may be garbled or the address missing.
  if (words.count >= 5 && (IsDate(words.list[2]) || IsAddress(words.list[3]))) return Anchor{2, 3};
  if (words.count == 4 && IsDate(words.list[2])) return Anchor{2, std::nullopt};
  return std::nullopt;
}

// Whether bytes were lost between two heads, so that the URL is all of the first and the URL of the
// second: "http://a/ 192.0.2.1 2014http://b/". What gives it away is an address, or the begin of
// one, as a word of its own before another known scheme.
bool IsTwoHeads(std::string_view url) {
  const std::size_t space = url.find(' ');
  if (space == std::string_view::npos) return false;
  const std::size_t scheme = FindScheme(url, space);
  if (BeginsWithScheme(url.substr(scheme)) != Match::kYes) return false;
  const std::vector<std::string_view> between =
      Split(url.substr(space + 1, scheme - space - 1), ' ');
  const std::string_view last = between.back();
  return (last.find('.') != std::string_view::npos &&
          last.find_first_not_of("0123456789.") == std::string_view::npos) ||
         std::any_of(between.begin(), between.end(), IsAddress);
}

bool ReadLength(std::string_view text, ArcLine& line) {
  line.length_text = text;
  if (text.starts_with('-')) return IsDigits(text.substr(1));
  line.length = ParseDecimal(text);
  return line.length.has_value();
}

}  // namespace

std::optional<ArcLine> ParseArcLine(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  ArcLine line;
  const Words words = LastWords(text);
  if (!ReadLength(words.list[0], line)) return std::nullopt;
  const std::optional<Anchor> anchor = FindAnchor(words);
  if (!anchor) return std::nullopt;

  line.date = words.list[anchor->date];
  line.date_is_digits = IsDate(line.date);
  std::size_t leftmost = anchor->date;
  if (anchor->ip) {
    line.ip = words.list[*anchor->ip];
    line.ip_is_valid = IsAddress(line.ip);
    leftmost = *anchor->ip;
  }
  const std::size_t url_end = static_cast<std::size_t>(words.list[leftmost].data() - text.data());
  line.url = TrimSpace(text.substr(0, url_end));
  if (line.url.empty() || IsTwoHeads(line.url)) return std::nullopt;

  const std::size_t between = anchor->date - 1;  // words, of which the leftmost is list[between]
  line.is_v2 = between >= 6 && IsNumberOrDash(words.list[5]) && IsNumberOrDash(words.list[2]);
  if (line.is_v2) {
    line.mime = words.Span(between, 6);
    line.result_code = words.list[5];
    line.checksum = words.list[4];
    line.location = words.list[3];
    line.offset = words.list[2];
    line.filename = words.list[1];
  } else if (between >= 1) {
    line.mime = TrimSpace(words.Span(between, 1));
  }
  return line;
}

Match BeginsWithScheme(std::string_view bytes) {
  std::size_t length = 0;
  while (length < bytes.size() && length <= kSchemeBytesMax && IsSchemeChar(bytes[length])) {
    ++length;
  }
  if (length > kSchemeBytesMax || (length > 0 && !IsAsciiAlpha(bytes[0]))) return Match::kNo;
  if (length == bytes.size()) return Match::kNeedMore;
  if (length == 0 || bytes[length] != ':') return Match::kNo;
  const std::string_view scheme = bytes.substr(0, length);
  if (IsKnown(scheme)) return Match::kYes;
  if (LooksDamaged(scheme)) return Match::kNo;
  const std::string_view behind = bytes.substr(length, kAuthority.size());
  if (!kAuthority.starts_with(behind)) return Match::kNo;
  return behind == kAuthority ? Match::kYes : Match::kNeedMore;
}

std::size_t FindScheme(std::string_view bytes, std::size_t from) {
  for (std::size_t at = from; (at = bytes.find(':', at)) != std::string_view::npos; ++at) {
    std::size_t begin = at;
    while (begin > from && at - begin < kSchemeBytesMax && IsSchemeChar(bytes[begin - 1])) --begin;
    if (begin == at) continue;
    if (begin > 0 && bytes[begin - 1] == '\n') return begin;
    const std::string_view known = KnownAtEnd(bytes.substr(begin, at - begin));
    if (!known.empty()) return at - known.size();
  }
  std::size_t tail = bytes.size();
  while (tail > from && bytes.size() - tail < kSchemeBytesMax && IsSchemeChar(bytes[tail - 1])) {
    --tail;
  }
  return tail;
}

}  // namespace stele::arc
