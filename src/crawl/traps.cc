#include "crawl/traps.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
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

// "2090-05", "2090/05", "year=2090": a month that no page is about. Of the past there are pages,
// and whoever goes back month by month comes to the end of --depth.
bool IsFarCalendar(std::string_view text, int now) {
  for (std::size_t at = 0; at + 4 <= text.size(); ++at) {
    if (at > 0 && IsAsciiAlnum(text[at - 1])) continue;
    const int year = NumberAt(text, at, 4);
    if (year <= now + kYearsAhead || year >= now + 1000) continue;
    const std::string before = AsciiLower(text.substr(0, at));
    if (before.ends_with("year=") || before.ends_with("yr=")) return true;
    const char separator = at + 4 < text.size() ? text[at + 4] : '\0';
    if (separator != '-' && separator != '/') continue;
    const int month = NumberAt(text, at + 5, 2);
    if (month >= 1 && month <= 12) return true;
  }
  return false;
}

// "f[#]" of "f[12]".
std::string WithoutNumbers(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (!IsAsciiDigit(c)) {
      out += c;
    } else if (!out.ends_with('#')) {
      out += '#';
    }
  }
  return out;
}

}  // namespace

std::string_view FindTrap(const url::Url& url, int year) {
  if (url.href_without_fragment().size() > kUrlBytesMax) return "too-long";
  const std::string_view path = url.path();
  if (std::count(path.begin(), path.end(), '/') > static_cast<std::ptrdiff_t>(kSegmentsMax)) {
    return "too-deep";
  }
  if (RepeatsSegments(path)) return "repeating-segments";
  if (RepeatsArguments(url.query())) return "repeating-arguments";
  if (IsFarCalendar(url.path_and_query(), year)) return kCalendarTrap;
  return "";
}

std::string PathWithArguments(const url::Url& url) {
  return url.has_query() ? url.origin() + std::string(url.path()) : std::string();
}

std::string FirstFolder(const url::Url& url) {
  if (url.has_query()) return {};
  const std::string_view path = url.path();
  const std::size_t end = path.find('/', 1);
  std::string place = url.origin() + '/';
  if (end == std::string_view::npos) return place;
  const std::string_view name = path.substr(1, end - 1);
  const bool is_numbered = std::any_of(name.begin(), name.end(), IsAsciiDigit);
  place += is_numbered ? "#" : name;
  return place + '/';
}

std::string PathWithNames(const url::Url& url) {
  if (!url.has_query()) return {};
  std::set<std::string> names;
  for (const std::string_view argument : Split(url.query(), '&')) {
    if (!argument.empty()) names.insert(WithoutNumbers(argument.substr(0, argument.find('='))));
  }
  std::string place = url.origin() + std::string(url.path());
  char before = '?';
  for (const std::string& name : names) {
    place += before;
    place += name;
    before = '&';
  }
  return place;
}

bool RepeatedContents::Learn(const url::Url& url, std::string_view digest) {
  const std::string key = repeats_max_ > 0 && !digest.empty() ? place_of_(url) : std::string();
  if (key.empty()) return false;
  if (places_.size() >= kPlacesMax) MakeRoom();
  Place& place = places_[key];
  if (place.is_trap) return false;
  const bool was_repeated = place.repeats > 0;
  Take(ChecksumOf(digest), place);
  const bool is_worth_saving =
      was_repeated || place.repeats > 0 || std::has_single_bit(place.others);
  if (is_worth_saving) learned_.insert(key);
  place.is_trap = IsRepeated(place);
  if (place.is_trap) ++traps_;
  return place.is_trap;
}

void RepeatedContents::Take(std::uint64_t content, Place& place) {
  std::vector<std::uint64_t>& contents = place.contents;
  auto found = std::find(contents.begin(), contents.end(), content);
  if (found != contents.end()) {
    ++place.repeats;
    // Those of the row are the first ones.
    const bool is_in_row = static_cast<std::size_t>(found - contents.begin()) < place.in_row;
    if (!is_in_row) ++place.in_row;
  } else {
    if (!contents.empty()) ++place.others;
    place.repeats = 0;
    place.in_row = 1;
    if (contents.size() < kContentsMax) contents.push_back(content);
    contents.back() = content;
    found = std::prev(contents.end());
  }
  std::rotate(contents.begin(), found, std::next(found));
}

bool RepeatedContents::IsRepeated(const Place& place) const {
  return repeats_max_ > 0 && place.repeats / repeats_max_ >= place.in_row &&
         place.repeats > place.others;
}

void RepeatedContents::MakeRoom() {
  std::erase_if(places_, [](const auto& entry) { return !entry.second.is_trap; });
  if (places_.size() < kPlacesMax / 2) return;
  places_.clear();
  traps_ = 0;
}

bool RepeatedContents::IsTrap(const url::Url& url) const {
  if (traps_ == 0) return false;
  const auto found = places_.find(place_of_(url));
  return found != places_.end() && found->second.is_trap;
}

std::vector<std::pair<std::string, std::string>> RepeatedContents::TakeLearned() {
  std::vector<std::pair<std::string, std::string>> learned;
  for (const std::string& key : std::exchange(learned_, {})) {
    const auto found = places_.find(key);
    if (found == places_.end()) continue;
    const Place& place = found->second;
    std::string value;
    PutVarint(value, place.repeats);
    PutVarint(value, place.others);
    PutVarint(value, place.in_row);
    for (const std::uint64_t content : place.contents) PutFixed64(value, content);
    learned.emplace_back(key, std::move(value));
  }
  return learned;
}

void RepeatedContents::Restore(std::string_view name, std::string_view value) {
  ByteReader in(value);
  Place place;
  place.repeats = in.Varint();
  place.others = in.Varint();
  place.in_row = in.Varint();
  while (in.good() && !in.AtEnd()) place.contents.push_back(in.Fixed64());
  const bool is_whole = in.good() && place.in_row > 0 && place.in_row <= place.contents.size() &&
                        place.contents.size() <= kContentsMax;
  if (!is_whole || places_.size() >= kPlacesMax) return;
  place.is_trap = IsRepeated(place);
  if (places_.emplace(name, place).second && place.is_trap) ++traps_;
}

}  // namespace stele::crawl
