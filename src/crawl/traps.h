#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "formats/url/url.h"

// Pages that a program makes without end: they look like new ones and are not.
namespace stele::crawl {

inline constexpr std::size_t kUrlBytesMax = 4096;

// Why a URL by itself looks like one of them: "repeating-segments", "repeating-arguments",
// "too-deep", "too-long", "calendar"; empty where it does not. `year` is the present one.
std::string_view FindTrap(const url::Url& url, int year);
inline constexpr std::string_view kCalendarTrap = "calendar";

// Before what FindTrap() says and the names below, in scope.log.
inline constexpr std::string_view kTrapWord = "trap ";
// Reasons in scope.log: a path that answers ever new arguments alike; a folder of pages that are
// all one; ever new values of the same arguments; arguments in ever new combinations.
inline constexpr std::string_view kSameAnswersTrap = "trap identical-content";
inline constexpr std::string_view kSamePagesTrap = "trap identical-pages";
inline constexpr std::string_view kQueriesTrap = "trap endless-parameters";
inline constexpr std::string_view kCombinationsTrap = "trap endless-combinations";
// Behind the first two at the URL by which they were found, which was captured.
inline constexpr std::string_view kTrapBegins = ": from here on";

// What URLs belong to, where contents repeat; empty: to nothing.
using PlaceOfUrl = std::string (*)(const url::Url& url);
// Of a URL with arguments its origin and path: what ever new arguments are given to.
std::string PathWithArguments(const url::Url& url);
// Of a URL without arguments its origin and first folder: "http://a.org/news/" of all below it,
// "http://a.org/" of what is in none. A name with a digit in it stands for all such names:
// "http://a.org/#/".
std::string FirstFolder(const url::Url& url);
// Of a URL with arguments its origin, its path and their names in order, with "#" for numbers in
// them: "http://a.org/list?f[#]&page" of "/list?page=2&f[0]=x&f[1]=y".
std::string PathWithNames(const url::Url& url);

// Finds places that give one content, or the same few, under ever new URLs. Not thread-safe. Keeps
// a few numbers for each of the places that it saw last; those that are no traps are forgotten
// first.
class RepeatedContents {
 public:
  // Contents of a place that are told from new ones: the last so many.
  static constexpr std::size_t kContentsMax = 16;

  // A place is a trap when so many pages in a row brought nothing new, for each content among
  // them, and these are more than all contents that it ever gave; 0: none ever is.
  RepeatedContents(PlaceOfUrl place_of, std::uint64_t repeats_max)
      : place_of_(place_of), repeats_max_(repeats_max) {}

  // A page was captured, with this digest of its payload. True: with it its place became a trap.
  bool Learn(const url::Url& url, std::string_view digest);
  // Whether more of this place would be of no use.
  bool IsTrap(const url::Url& url) const;

  // What was learned since the last call, under names, and back: for saving. Of places that gave
  // ever other contents not each of them is told.
  std::vector<std::pair<std::string, std::string>> TakeLearned();
  void Restore(std::string_view name, std::string_view value);

 private:
  struct Place {
    std::vector<std::uint64_t> contents;  // the one of the last page first
    std::size_t in_row = 0;               // of them, since the last new one
    std::uint64_t repeats = 0;            // pages since the last new one
    std::uint64_t others = 0;             // new ones, but for the first
    bool is_trap = false;
  };
  static constexpr std::size_t kPlacesMax = 100'000;

  static void Take(std::uint64_t content, Place& place);
  bool IsRepeated(const Place& place) const;
  void MakeRoom();

  const PlaceOfUrl place_of_;
  const std::uint64_t repeats_max_;
  std::unordered_map<std::string, Place> places_;
  std::size_t traps_ = 0;                    // of them
  std::unordered_set<std::string> learned_;  // since the last TakeLearned()
};

}  // namespace stele::crawl
