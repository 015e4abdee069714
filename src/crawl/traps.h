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

// Finds paths that give the same content under ever new arguments. Not thread-safe. Keeps a few
// numbers for each of the paths that it saw last.
class RepeatedContents {
 public:
  // After so many in a row a path is a trap.
  static constexpr std::uint32_t kRepeatsMax = 25;

  // A page was fetched, with this digest of its payload. True: with it its path became a trap.
  bool Learn(const url::Url& url, std::string_view digest);
  // Whether more of this path would be of no use: it has arguments, and its path is a trap.
  bool IsTrap(const url::Url& url) const;

  // What was learned since the last call, under names, and back: for saving.
  std::vector<std::pair<std::string, std::string>> TakeLearned();
  void Restore(std::string_view name, std::string_view value);

 private:
  struct Path {
    std::uint64_t content = 0;
    std::uint32_t repeats = 0;
  };
  static constexpr std::size_t kPathsMax = 100'000;

  std::unordered_map<std::string, Path> paths_;  // by origin and path, of URLs with arguments
  std::unordered_set<std::string> learned_;      // since the last TakeLearned()
};

}  // namespace stele::crawl
