#include "crawl/reachability.h"

#include <functional>
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
  const std::string host(url.host());
  const std::string origin = url.origin();
  answered_.insert(std::hash<std::string>()(host));
  answered_.insert(std::hash<std::string>()(origin));
  if (streaks_.empty()) return;
  streaks_.erase(origin);
  streaks_.erase(host);
}

bool Reachability::HasAnswered(const std::string& place) const {
  return answered_.contains(std::hash<std::string>()(place));
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
