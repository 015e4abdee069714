#include "crawl/reachability.h"

#include <utility>

namespace stele::crawl {

int Reachability::CountRefused(const std::string& place, Timestamp asked, Timestamp now) {
  Streak& streak = streaks_[place];
  if (asked < streak.counted_at) return streak.refused;
  streak.counted_at = now;
  return ++streak.refused;
}

int Reachability::CountLost(const std::string& place) { return ++streaks_[place].lost; }

void Reachability::Answered(const url::Url& url) {
  if (streaks_.empty()) return;
  streaks_.erase(url.origin());
  streaks_.erase(std::string(url.host()));
}

void Reachability::GiveUp(const std::string& place, Failure failure) {
  given_up_.emplace(place, std::move(failure));
  streaks_.erase(place);
}

void Reachability::Forgive(const std::string& host, int status) {
  const auto found = given_up_.find(host);
  if (found != given_up_.end() && found->second.status == status) given_up_.erase(found);
}

const Reachability::Failure* Reachability::WhyPlace(const std::string& place) const {
  const auto found = given_up_.find(place);
  return found == given_up_.end() ? nullptr : &found->second;
}

const Reachability::Failure* Reachability::Why(const url::Url& url) const {
  if (given_up_.empty()) return nullptr;
  const Failure* of_host = WhyPlace(std::string(url.host()));
  return of_host != nullptr ? of_host : WhyPlace(url.origin());
}

}  // namespace stele::crawl
