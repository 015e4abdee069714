#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "access/users.h"
#include "access/viewer.h"
#include "io/clock.h"
#include "io/file_system.h"
#include "io/random.h"
#include "net/http_handler.h"
#include "net/ip_range.h"

namespace stele::access {

struct GateOptions {
  std::string users_path = {};  // empty: nobody can log in
  bool is_open = true;          // those whom nobody knows are let in too, as the public
  // A header in which a proxy names the user; empty: none does.
  std::string user_header = {};
  // Those that are believed what they say of the client: X-Forwarded-For, and the header above,
  // which this machine may send too where no proxy is named.
  std::vector<net::IpRange> proxies = {};
  // Who reads /metrics besides those who log in.
  bool metrics_for_all = true;
  std::vector<net::IpRange> monitors = {};
  // Of a users file that became unreadable; the users that were known stay.
  std::function<void(const Error&)> complain = [](const Error&) {};
};

// The argument of the shell's address in which a ticket comes.
inline constexpr std::string_view kTicketParameter = "ticket";

// Knows who asks, and whom to let in. docs/access.md, "Who may look". Thread-safe.
class Gate {
 public:
  enum class Answer {
    kIn,
    kLogIn,   // not without logging in
    kBusy,    // too many try passwords at once
    kRefuse,  // nobody can log in here, and no proxy says who it is
  };
  struct Entry {
    Answer answer = Answer::kIn;
    Viewer viewer;
  };

  // Borrows `fs` and `clock` for life. Errors: of reading the users; kInvalid when there are none.
  static Result<std::unique_ptr<Gate>> Open(GateOptions options, io::FileSystem& fs,
                                            const io::Clock& clock, io::Random& random);

  bool has_users() const { return !options_.users_path.empty(); }

  // By name and password (Basic) or by token (Bearer).
  Entry AtPages(const net::Request& request);
  // Also by the cookie that a ticket was changed for. What an archived script may have sent as
  // Authorization does no harm.
  Entry AtReplay(const net::Request& request);
  bool ShowsMetrics(const Viewer& viewer) const;

  // Lets a browser in at the origin of replay, where it would have to ask for the password again:
  // good for ten minutes, to be changed for a cookie, once. Empty where none is needed.
  std::string TicketFor(const Viewer& viewer);
  // The value of a Set-Cookie field; nothing for a ticket that is wrong, too old or used, as by the
  // shell before an archived page got to see its address.
  std::optional<std::string> CookieFor(std::string_view ticket);

 private:
  // The users as of one text of their file.
  struct Known {
    std::string text;
    Users users;
    std::mutex mutex;
    std::vector<std::string> verified;  // digests of passwords that fitted, by our key
  };

  Gate(GateOptions options, io::FileSystem& fs, const io::Clock& clock, io::Random& random);
  Status Read();
  // Looks whether the file changed, now and then.
  std::shared_ptr<Known> Current();
  std::optional<net::IpAddress> AddressOf(const net::Request& request) const;
  // The name in the proxy's header; empty where there is none to believe.
  std::string_view NamedByProxy(const net::Request& request) const;
  Entry ByPassword(std::string_view encoded, Entry entry);
  static bool IsVerified(Known& known, const std::string& mark);
  Answer TryPassword(Known& known, std::string_view name, std::string_view password);
  std::string Sign(std::string_view purpose, std::string_view user, std::int64_t seconds) const;
  bool UseUp(std::string_view ticket);  // false: it was used before
  // What was signed; nothing for what we did not sign, or not any more.
  std::optional<std::string> Verify(std::string_view purpose, std::string_view text) const;

  const GateOptions options_;
  io::FileSystem& fs_;
  const io::Clock& clock_;
  const std::string key_;          // of this process
  const std::string cookie_name_;  // likewise, as servers on other ports have the same cookies
  const PasswordHash nobody_;      // tried where there is no such user, so that it takes as long
  std::counting_semaphore<> turns_;
  std::atomic<int> trying_ = 0;
  std::atomic<std::uint64_t> tickets_ = 0;  // that were made
  std::mutex used_mutex_;
  std::map<std::string, std::int64_t> used_;  // tickets, and the seconds until which to know them
  std::mutex mutex_;
  std::shared_ptr<Known> known_;  // with mutex_
  Timestamp looked_;              // with mutex_
};

}  // namespace stele::access
