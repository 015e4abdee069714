#include "crawl/traps.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "util/ascii.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace stele::crawl {
namespace {

constexpr std::size_t kSegmentsMax = 25;
constexpr int kRepeatsMax = 3;
constexpr int kYearsAhead = 2;
constexpr int kFirstYear = 1970;

bool RepeatsSegments(std::string_view path) {
  std::map<std::string_view, int> counts;
  int often = 0;
  std::size_t segments = 0;
  for (const std::string_view segment : Split(path, '/')) {
    if (segment.empty()) continue;
    ++segments;
    const int count = ++counts[segment];
    if (count > kRepeatsMax) return true;
    if (count == kRepeatsMax) ++often;
  }
  // "/a/b/x/a/b/y/a/b/z/a": two names that take turns.
  return often >= 2 && segments >= 8;
}

bool RepeatsArguments(std::string_view query) {
  std::map<std::string_view, int> counts;
  for (const std::string_view argument : Split(query, '&')) {
    if (!argument.empty() && ++counts[argument] > kRepeatsMax) return true;
  }
  return false;
}

// The number at `at`, where exactly `digits` of them stand; -1 where they do not.
int NumberAt(std::string_view text, std::size_t at, std::size_t digits) {
  if (at + digits > text.size()) return -1;
  if (at + digits < text.size() && IsAsciiDigit(text[at + digits])) return -1;
  int number = 0;
  for (const char c : text.substr(at, digits)) {
    if (!IsAsciiDigit(c)) return -1;
    number = 10 * number + (c - '0');
  }
  return number;
}

bool IsFar(int year, int now) {
  return (year > now + kYearsAhead && year < now + 1000) || (year >= 1000 && year < kFirstYear);
}

// "2090-05", "2090/05", "year=2090": a month that no page is about.
bool IsFarCalendar(std::string_view text, int now) {
  for (std::size_t at = 0; at + 4 <= text.size(); ++at) {
    if (at > 0 && IsAsciiAlnum(text[at - 1])) continue;
    const int year = NumberAt(text, at, 4);
    if (year < 0 || !IsFar(year, now)) continue;
    const std::string before = AsciiLower(text.substr(0, at));
    if (before.ends_with("year=") || before.ends_with("yr=")) return true;
    const char separator = at + 4 < text.size() ? text[at + 4] : '\0';
    if (separator != '-' && separator != '/') continue;
    const int month = NumberAt(text, at + 5, 2);
    if (month >= 1 && month <= 12) return true;
  }
  return false;
}

std::string PathKey(const url::Url& url) { return url.origin() + std::string(url.path()); }

}  // namespace

std::string_view FindTrap(const url::Url& url, int year) {
  if (url.href_without_fragment().size() > kUrlBytesMax) return "too-long";
  const std::string_view path = url.path();
  if (std::count(path.begin(), path.end(), '/') > static_cast<std::ptrdiff_t>(kSegmentsMax)) {
    return "too-deep";
  }
  if (RepeatsSegments(path)) return "repeating-segments";
  if (RepeatsArguments(url.query())) return "repeating-arguments";
  if (IsFarCalendar(url.path_and_query(), year)) return "calendar";
  return "";
}

bool RepeatedContents::Learn(const url::Url& url, std::string_view digest) {
  if (!url.has_query() || digest.empty()) return false;
  if (paths_.size() >= kPathsMax) paths_.clear();
  const std::string key = PathKey(url);
  Path& path = paths_[key];
  const std::uint64_t content = ChecksumOf(digest);
  if (path.repeats >= kRepeatsMax) return false;
  if (path.content == content || path.repeats > 0) learned_.insert(key);
  path.repeats = path.content == content ? path.repeats + 1 : 0;
  path.content = content;
  return path.repeats == kRepeatsMax;
}

bool RepeatedContents::IsTrap(const url::Url& url) const {
  if (!url.has_query()) return false;
  const auto found = paths_.find(PathKey(url));
  return found != paths_.end() && found->second.repeats >= kRepeatsMax;
}

std::vector<std::pair<std::string, std::string>> RepeatedContents::TakeLearned() {
  std::vector<std::pair<std::string, std::string>> learned;
  for (const std::string& key : std::exchange(learned_, {})) {
    const auto found = paths_.find(key);
    if (found == paths_.end()) continue;
    std::string value;
    PutFixed64(value, found->second.content);
    PutVarint(value, found->second.repeats);
    learned.emplace_back(key, std::move(value));
  }
  return learned;
}

void RepeatedContents::Restore(std::string_view name, std::string_view value) {
  ByteReader in(value);
  Path path;
  path.content = in.Fixed64();
  path.repeats = static_cast<std::uint32_t>(in.Varint());
  if (in.good() && paths_.size() < kPathsMax) paths_.emplace(name, path);
}

}  // namespace stele::crawl
