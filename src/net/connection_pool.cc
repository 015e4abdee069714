#include "net/connection_pool.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stele::net {

using std::chrono::steady_clock;

namespace {

// A server that has just answered has hardly closed since: looking costs a call to the system.
constexpr std::chrono::seconds kTrusted{1};

}  // namespace

std::unique_ptr<SocketStream> ConnectionPool::TakeIdle(Host& host, Want want,
                                                       std::vector<Idle>& expired) {
  const auto now = steady_clock::now();
  const auto oldest = now - options_.idle_time_max;
  while (!host.idle.empty()) {
    Idle last = std::move(host.idle.back());
    host.idle.pop_back();
    const bool trusted = want == Want::kAny && now - last.since < kTrusted;
    if (last.since >= oldest && (trusted || last.stream->Quiet())) return std::move(last.stream);
    --host.open;
    expired.push_back(std::move(last));
  }
  return nullptr;
}

// Connections to hosts that are not asked again go too.
void ConnectionPool::Sweep(std::vector<Idle>& expired) {
  const auto now = steady_clock::now();
  if (now - swept_ < options_.idle_time_max) return;
  swept_ = now;
  for (auto entry = hosts_.begin(); entry != hosts_.end();) {
    Host& host = entry->second;
    const auto fresh = std::find_if(host.idle.begin(), host.idle.end(), [&](const Idle& one) {
      return now - one.since <= options_.idle_time_max;
    });
    host.open -= static_cast<std::size_t>(fresh - host.idle.begin());
    std::move(host.idle.begin(), fresh, std::back_inserter(expired));
    host.idle.erase(host.idle.begin(), fresh);
    entry = host.open == 0 ? hosts_.erase(entry) : std::next(entry);
  }
}

Result<ConnectionPool::Lease> ConnectionPool::Take(const Endpoint& endpoint, Want want,
                                                   Deadline deadline) {
  const bool fresh = want == Want::kFresh;
  deadline = std::min(deadline, steady_clock::now() + options_.connect_timeout);
  std::vector<Idle> expired;
  {
    std::unique_lock lock(mutex_);
    Sweep(expired);
    for (;;) {
      Host& host = hosts_[endpoint];  // anew after each wait: it may have been forgotten
      if (!fresh) {
        if (auto stream = TakeIdle(host, want, expired)) return Lease{std::move(stream), true};
      }
      if (host.open < options_.open_max) {
        ++host.open;
        break;
      }
      if (fresh && !host.idle.empty()) {
        expired.push_back(std::move(host.idle.front()));
        host.idle.erase(host.idle.begin());
        --host.open;
        continue;
      }
      if (changed_.wait_until(lock, deadline) == std::cv_status::timeout) {
        return Error{ErrorCode::kBusy,
                     endpoint.ToText() + ": all connections to it are in use; try again later"};
      }
    }
  }
  expired.clear();
  Result<std::unique_ptr<SocketStream>> stream =
      SocketStream::Connect(endpoint, tls_.get(), deadline);
  if (!stream) {
    GiveBack(endpoint, nullptr);
    return stream.error();
  }
  return Lease{std::move(*stream), false};
}

void ConnectionPool::GiveBack(const Endpoint& endpoint, std::unique_ptr<SocketStream> stream) {
  {
    const std::lock_guard lock(mutex_);
    Host& host = hosts_[endpoint];
    if (stream != nullptr && host.idle.size() < options_.idle_max) {
      host.idle.push_back({std::move(stream), steady_clock::now()});
    } else if (--host.open == 0) {
      hosts_.erase(endpoint);
    }
  }
  changed_.notify_all();
}

std::size_t ConnectionPool::idle() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [endpoint, host] : hosts_) count += host.idle.size();
  return count;
}

}  // namespace stele::net
