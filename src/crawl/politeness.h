#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "util/timestamp.h"

namespace stele::crawl {

struct PolitenessOptions {
  using Milliseconds = std::chrono::milliseconds;

  // Between two pages of a host: so many times what the last one took, but within these bounds.
  double delay_factor = 5.0;
  Milliseconds delay_min{1'000};
  Milliseconds delay_max{30'000};
  // Instead of all that, and of what robots.txt asks for.
  std::optional<Milliseconds> delay;
  // What robots.txt asks for is granted up to this.
  Milliseconds crawl_delay_max{300'000};
  // Between pages of different hosts at one address, as a share of the host's own delay.
  double address_share = 0.25;
  // What a page embeds is fetched in its slot, without delay, up to so many files.
  int slot_embeds_max = 50;
  // At a time from one host.
  int host_fetches_max = 2;
  int host_fetches_undelayed_max = 8;  // where `delay` is 0
  // After failures: this, and twice as much each time.
  Milliseconds back_off_min{5'000};
  Milliseconds back_off_max{3'600'000};
};

// When a host may be asked again. It knows no clock: the caller says what time it is. Not
// thread-safe. docs/crawling.md, "Politeness".
class Politeness {
 public:
  enum class Kind {
    kPage,
    kEmbed,  // shares the slot of a page
  };

  explicit Politeness(const PolitenessOptions& options) : options_(options) {}

  // The earliest moment for the next fetch of this kind, as far as the host itself is concerned.
  Timestamp ReadyAt(const std::string& host, Kind kind) const;
  // Hosts at one address stand in line: when it is this one's turn, `now` or later. With `now` it
  // may begin a page, until another one may; others keep a share of the pause away from that. Who
  // comes later than its turn may have to go to the end of the line. Requires: ReadyAt() is over.
  Timestamp TakeTurn(const std::string& host, Kind kind, Timestamp now);
  // Whether another fetch may be under way now.
  bool HasRoom(const std::string& host, Kind kind) const;

  void Begin(const std::string& host, Kind kind);
  // `address` is empty where it is not known.
  void End(const std::string& host, Kind kind, const std::string& address,
           std::chrono::milliseconds took, Timestamp now);

  // Takes the place of what `delay` was; pauses that are under way become no longer than it.
  void SetDelay(std::optional<std::chrono::milliseconds> delay, Timestamp now);
  void SetCrawlDelay(const std::string& host, std::chrono::milliseconds delay);

  // The host said that it is too much (429, 503), with the time it asks for or without, or cannot
  // be reached; the request was sent at `asked`. Pauses double from one to the next, or are as long
  // as it asks for where that is more, or where it is the first one; requests that were under way
  // when one began are part of it. Until it answers, one at a time asks. Returns when it may be
  // asked again.
  Timestamp BackOff(const std::string& host, std::optional<std::chrono::milliseconds> wait,
                    Timestamp asked, Timestamp now);
  // It answered.
  void Recover(const std::string& host);
  // How many such pauses there were in a row.
  int pauses(const std::string& host) const;

  // Forgets hosts that nothing has to be remembered of. The address of a host is remembered as long
  // as something waits for it.
  void Forget(Timestamp now, const std::function<bool(const std::string& host)>& is_waited_for);
  std::size_t hosts() const { return hosts_.size(); }

 private:
  struct Host {
    Timestamp page_ready;
    Timestamp blocked_until;
    Timestamp turn;      // at its address; 0: it has none
    Timestamp turn_end;  // of the one that has come; 0: none has
    std::string address;
    std::chrono::milliseconds delay{0};  // after the last page
    std::optional<std::chrono::milliseconds> crawl_delay;
    int slot_embeds = 0;  // begun since the last page
    int fetches = 0;      // under way
    int pauses = 0;       // in a row
    Timestamp paused_at;  // when the last of them began
  };
  struct Address {
    Timestamp free;  // when the next page may begin
    Timestamp next;  // the turn at the end of the line, not before that
  };
  std::chrono::milliseconds DelayAfter(const Host& host, std::chrono::milliseconds took) const;
  // It belongs to the page before it.
  bool SharesSlot(const Host& host, Kind kind) const {
    return kind == Kind::kEmbed && host.slot_embeds < options_.slot_embeds_max;
  }

  PolitenessOptions options_;
  std::unordered_map<std::string, Host> hosts_;
  std::unordered_map<std::string, Address> addresses_;
};

// What "Retry-After: 120" or a date says, from `now` on; nothing where it says neither.
std::optional<std::chrono::milliseconds> ParseRetryAfter(std::string_view value, Timestamp now);

}  // namespace stele::crawl
