// Everything happens on the loop's thread. Answers are kept in a list, the most recently used
// first, and found by name; names that were asked and not yet answered have their waiters in a
// second table.
#include "net/resolver.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <list>
#include <unordered_map>
#include <utility>

#include "net/dns_channel.h"
#include "util/ascii.h"

namespace stele::net {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

std::string Normalized(const std::string& host) {
  std::string name = AsciiLower(host);
  if (name.size() > 1 && name.back() == '.') name.pop_back();
  return name;
}

Resolution Fixed(std::vector<IpAddress> addresses, seconds ttl) {
  Resolution resolution;
  resolution.addresses = std::move(addresses);
  resolution.cached = true;
  resolution.ttl = ttl;
  return resolution;
}

Resolution GivenUp(const std::string& host) {
  Resolution resolution;
  resolution.failure = host + ": the search for its address was given up";
  return resolution;
}

class CachingResolver final : public Resolver {
 public:
  CachingResolver(const ResolverOptions& options, EventLoop& loop,
                  std::unique_ptr<DnsChannel> channel)
      : options_(options), loop_(loop), state_(std::make_shared<State>(std::move(channel))) {}

  ~CachingResolver() override {
    loop_.PostAndWait([this] {
      state_->channel.reset();  // answers all questions
    });
  }

  void Resolve(const std::string& host, Done done) override {
    if (loop_.OnLoopThread()) return Look(host, std::move(done));
    loop_.Post([this, state = state_, host, done = std::move(done)]() mutable {
      if (state->channel == nullptr) return done(GivenUp(host));
      Look(host, std::move(done));
    });
  }

  std::uint64_t questions() const override { return questions_; }

 private:
  struct Entry {
    std::string host;
    Resolution resolution;
    steady_clock::time_point end;
  };
  using Entries = std::list<Entry>;
  struct State {
    explicit State(std::unique_ptr<DnsChannel> opened) : channel(std::move(opened)) {}
    Entries entries;  // the most recently used first
    std::unordered_map<std::string_view, Entries::iterator> by_host;  // names in `entries`
    std::unordered_map<std::string, std::vector<Done>> waiting;
    std::unique_ptr<DnsChannel> channel;  // null: the resolver is gone
  };

  void Look(const std::string& host, Done done) {
    const std::string name = Normalized(host);
    if (const auto found = options_.overrides.find(name); found != options_.overrides.end()) {
      return done(Fixed(found->second, options_.ttl_max));
    }
    if (const auto address = IpAddress::FromText(name)) {
      return done(Fixed({*address}, options_.ttl_max));
    }
    if (name == "localhost" || name.ends_with(".localhost")) {
      return done(Fixed({*IpAddress::FromText("127.0.0.1"), *IpAddress::FromText("::1")},
                        options_.ttl_max));
    }
    if (const auto found = state_->by_host.find(name); found != state_->by_host.end()) {
      const auto now = steady_clock::now();
      const Entries::iterator entry = found->second;
      if (entry->end > now) {
        state_->entries.splice(state_->entries.begin(), state_->entries, entry);
        Resolution resolution = entry->resolution;
        resolution.cached = true;
        resolution.ttl = std::chrono::ceil<seconds>(entry->end - now);
        return done(resolution);
      }
      Forget(entry);
    }
    if (state_->channel == nullptr) return done(GivenUp(host));
    std::vector<Done>& waiters = state_->waiting[name];
    waiters.push_back(std::move(done));
    if (waiters.size() > 1) return;
    ++questions_;
    state_->channel->Ask(name,
                         [this, name](const DnsChannel::Answer& answer) { Take(name, answer); });
  }

  void Take(const std::string& name, const DnsChannel::Answer& answer) {
    Resolution resolution;
    resolution.addresses = answer.addresses;
    resolution.failure = answer.failure;
    resolution.exists = answer.exists;
    resolution.ttl = std::clamp(answer.ttl, options_.ttl_min, options_.ttl_max);
    if (answer.addresses.empty()) {
      resolution.ttl = answer.exists ? options_.failure_ttl : options_.negative_ttl;
    }
    state_->entries.push_front({name, resolution, steady_clock::now() + resolution.ttl});
    state_->by_host[state_->entries.front().host] = state_->entries.begin();
    while (state_->entries.size() > options_.cache_entries_max) {
      Forget(std::prev(state_->entries.end()));
    }
    const auto waiting = state_->waiting.extract(name);
    for (const Done& done : waiting.mapped()) done(resolution);
  }

  void Forget(Entries::iterator entry) {
    state_->by_host.erase(entry->host);
    state_->entries.erase(entry);
  }

  const ResolverOptions options_;
  EventLoop& loop_;
  std::shared_ptr<State> state_;
  std::atomic<std::uint64_t> questions_ = 0;
};

}  // namespace

Result<std::unique_ptr<Resolver>> Resolver::Open(const ResolverOptions& options, EventLoop& loop) {
  Result<std::unique_ptr<DnsChannel>> channel =
      DnsChannel::Open({options.servers, options.attempt_time, options.attempts}, loop);
  if (!channel) return channel.error();
  return std::unique_ptr<Resolver>(
      std::make_unique<CachingResolver>(options, loop, std::move(*channel)));
}

}  // namespace stele::net
