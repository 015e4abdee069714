#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "formats/url/url.h"
#include "util/timestamp.h"

namespace stele::crawl {

// In crawl.log, of what was not asked for, or not once more, because its place was given up.
inline constexpr std::string_view kGivenUpAnnotation = "givenUp";

// Who does not answer. A place is an origin ("https://example.org:8443"), or a host with all its
// origins where the name itself is what is wrong. Not thread-safe.
class Reachability {
 public:
  struct Failure {
    int status = 0;     // as in crawl.log
    std::string error;  // for people
  };

  // It could not be connected to, by a request of `asked`. Returns how often in a row. Requests
  // that were under way when one failed count once, with it.
  int CountRefused(const std::string& place, Timestamp asked, Timestamp now);
  // A connection was lost, or too slow. Returns how often in a row.
  int CountLost(const std::string& place);
  void Answered(const url::Url& url);
  // It did, at some time.
  bool HasAnswered(const std::string& place) const;

  // It is not asked any more.
  void GiveUp(const std::string& place, Failure failure);
  // The host, not its origins, with this status.
  void Forgive(const std::string& host, int status);

  // Why the place was given up; null: it was not.
  const Failure* WhyPlace(const std::string& place) const;
  // The same for the place that has this URL.
  const Failure* Why(const url::Url& url) const;

 private:
  struct Streak {
    int refused = 0;
    int lost = 0;
    Timestamp counted_at;
  };

  std::unordered_map<std::string, Streak> streaks_;
  std::unordered_set<std::size_t> answered_;  // hashes of places
  std::unordered_map<std::string, Failure> given_up_;
};

}  // namespace stele::crawl
