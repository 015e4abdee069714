// A slot of a host is a page and what it embeds, as a browser would ask for them. Between slots
// lies the delay; it begins when the last fetch of the slot has ended.
#include "crawl/politeness.h"

#include <algorithm>

#include "util/ascii.h"

namespace stele::crawl {
namespace {

using std::chrono::milliseconds;

Timestamp After(Timestamp time, milliseconds wait) {
  return Timestamp{time.milliseconds + wait.count()};
}

}  // namespace

milliseconds Politeness::DelayAfter(const Host& host, milliseconds took) const {
  if (options_.delay) return *options_.delay;
  const milliseconds scaled(
      static_cast<std::int64_t>(options_.delay_factor * static_cast<double>(took.count())));
  const milliseconds delay = std::clamp(scaled, options_.delay_min, options_.delay_max);
  if (!host.crawl_delay) return delay;
  return std::max(delay, std::min(*host.crawl_delay, options_.crawl_delay_max));
}

Timestamp Politeness::ReadyAt(const std::string& name, Kind kind) const {
  const auto found = hosts_.find(name);
  if (found == hosts_.end()) return Timestamp{};
  const Host& host = found->second;
  if (SharesSlot(host, kind)) return host.blocked_until;
  return std::max({host.page_ready, host.blocked_until, host.turn});
}

Timestamp Politeness::TakeTurn(const std::string& name, Kind kind, Timestamp now) {
  const auto found = hosts_.find(name);
  if (found == hosts_.end()) return now;
  Host& host = found->second;
  if (host.address.empty() || SharesSlot(host, kind)) return now;
  const milliseconds pause = DelayAfter(host, milliseconds(0));
  if (pause.count() == 0) return now;
  const milliseconds share(
      static_cast<std::int64_t>(options_.address_share * static_cast<double>(pause.count())));
  Address& address = addresses_[host.address];
  // Where connections are scarce all come late. Whoever comes first is let in then: nobody would be
  // if each had to come in time.
  if (address.free <= now || address.free == host.turn_end) {
    host.turn = now;
    host.turn_end = address.free = After(now, share);
    address.next = std::max(address.next, address.free);
  } else if (host.turn <= now) {
    const bool has_just_come = After(host.turn, share) > now;
    host.turn = has_just_come ? address.free : address.next;
    if (!has_just_come) address.next = After(host.turn, share);
  }
  return host.turn;
}

bool Politeness::HasRoom(const std::string& name, Kind kind) const {
  const auto found = hosts_.find(name);
  if (found == hosts_.end()) return true;
  const Host& host = found->second;
  // One finds out whether it is still too much.
  if (host.pauses > 0) return host.fetches == 0;
  if (options_.delay && options_.delay->count() == 0) {
    return host.fetches < options_.host_fetches_undelayed_max;
  }
  return host.fetches == 0 || (SharesSlot(host, kind) && host.fetches < options_.host_fetches_max);
}

void Politeness::Begin(const std::string& name, Kind kind) {
  Host& host = hosts_[name];
  ++host.fetches;
  if (SharesSlot(host, kind)) {
    ++host.slot_embeds;
    return;
  }
  host.slot_embeds = 0;
  host.turn = host.turn_end = {};
}

void Politeness::End(const std::string& name, Kind kind, const std::string& address,
                     milliseconds took, Timestamp now) {
  Host& host = hosts_[name];
  --host.fetches;
  if (kind == Kind::kPage) {
    host.delay = DelayAfter(host, took);
  } else if (!SharesSlot(host, kind)) {
    // There are hosts that only have what pages of others embed.
    host.delay = std::max(host.delay, DelayAfter(host, took));
  }
  if (!address.empty()) host.address = address;
  // Without pauses a host stays in front of those that were not begun yet: its connections are
  // there.
  if (host.delay.count() > 0) host.page_ready = std::max(host.page_ready, After(now, host.delay));
}

void Politeness::SetDelay(std::optional<milliseconds> delay, Timestamp now) {
  options_.delay = delay;
  if (!delay) return;
  const Timestamp latest = After(now, *delay);
  for (auto& [name, host] : hosts_) {
    host.delay = *delay;
    host.page_ready = std::min(host.page_ready, latest);
    host.turn = host.turn_end = {};
  }
  for (auto& [name, address] : addresses_) {
    address.free = std::min(address.free, latest);
    address.next = std::min(address.next, latest);
  }
}

void Politeness::SetCrawlDelay(const std::string& name, milliseconds delay) {
  hosts_[name].crawl_delay = delay;
}

Timestamp Politeness::BackOff(const std::string& name, std::optional<milliseconds> wait,
                              Timestamp asked, Timestamp now) {
  Host& host = hosts_[name];
  if (asked > host.paused_at) {
    ++host.pauses;
    host.paused_at = now;
  }
  milliseconds pause = options_.back_off_min;
  for (int i = 1; i < host.pauses && pause < options_.back_off_max; ++i) pause *= 2;
  // Its word counts for the first one. Where that was too little, it is no reason to hurry.
  if (wait) pause = host.pauses == 1 ? *wait : std::max(pause, *wait);
  pause = std::clamp(pause, milliseconds(0), options_.back_off_max);
  host.blocked_until = std::max(host.blocked_until, After(now, pause));
  return host.blocked_until;
}

void Politeness::Recover(const std::string& name) {
  if (const auto found = hosts_.find(name); found != hosts_.end()) found->second.pauses = 0;
}

int Politeness::pauses(const std::string& name) const {
  const auto found = hosts_.find(name);
  return found == hosts_.end() ? 0 : found->second.pauses;
}

void Politeness::Forget(Timestamp now,
                        const std::function<bool(const std::string& host)>& is_waited_for) {
  std::erase_if(hosts_, [&](const auto& entry) {
    const Host& host = entry.second;
    return host.fetches == 0 && host.pauses == 0 && host.page_ready <= now &&
           host.blocked_until <= now && (host.address.empty() || !is_waited_for(entry.first));
  });
  std::erase_if(addresses_, [&](const auto& entry) { return entry.second.next <= now; });
}

std::optional<milliseconds> ParseRetryAfter(std::string_view value, Timestamp now) {
  value = TrimSpace(value);
  if (const std::optional<std::uint64_t> seconds = ParseDecimal(value)) {
    constexpr std::uint64_t kYear = 366 * 86'400;
    return milliseconds(static_cast<std::int64_t>(std::min(*seconds, kYear)) * 1000);
  }
  const std::optional<Timestamp> date = ParseHttpDate(value);
  if (!date) return std::nullopt;
  return milliseconds(std::max<std::int64_t>(0, date->milliseconds - now.milliseconds));
}

}  // namespace stele::crawl
