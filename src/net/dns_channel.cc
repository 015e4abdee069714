// c-ares does the talking; it says which of its sockets it wants to read or write, and when it
// wants to be called at the latest. The loop waits for that and calls it.
#include "net/dns_channel.h"

#include <ares.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstring>
#include <map>

#include "util/check.h"

namespace stele::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Descriptor = asio::posix::basic_stream_descriptor<asio::io_context::executor_type>;

// ares_library_init() counts its calls.
class Library {
 public:
  Library() : outcome_(ares_library_init(ARES_LIB_INIT_ALL)) {}
  ~Library() {
    if (outcome_ == ARES_SUCCESS) ares_library_cleanup();
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  int outcome() const { return outcome_; }

 private:
  int outcome_;
};

struct Question {
  std::string host;
  DnsChannel::Done done;
};

struct AddressesDeleter {
  void operator()(ares_addrinfo* list) const { ares_freeaddrinfo(list); }
};

IpAddress ToAddress(const sockaddr& from) {
  IpAddress address;
  if (from.sa_family == AF_INET6) {
    address.v6 = true;
    std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in6&>(from).sin6_addr, 16);
  } else {
    std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in&>(from).sin_addr, 4);
  }
  return address;
}

DnsChannel::Answer ToAnswer(const std::string& host, int status, const ares_addrinfo* list) {
  DnsChannel::Answer answer;
  int ttl = INT32_MAX;
  for (const auto* node = list == nullptr ? nullptr : list->nodes; node != nullptr;
       node = node->ai_next) {
    const IpAddress address = ToAddress(*node->ai_addr);
    const bool none = std::all_of(address.bytes.begin(), address.bytes.end(),
                                  [](std::uint8_t byte) { return byte == 0; });
    if (none) continue;
    ttl = std::min(ttl, node->ai_ttl);
    if (std::find(answer.addresses.begin(), answer.addresses.end(), address) ==
        answer.addresses.end()) {
      answer.addresses.push_back(address);
    }
  }
  std::stable_partition(answer.addresses.begin(), answer.addresses.end(),
                        [](const IpAddress& address) { return !address.v6; });
  if (!answer.addresses.empty()) {
    answer.ttl = std::chrono::seconds(std::max(ttl, 0));
    return answer;
  }
  answer.exists = status != ARES_ENOTFOUND && status != ARES_ENODATA && status != ARES_EBADNAME &&
                  status != ARES_SUCCESS;
  answer.failure = fmt::format("{}: no address for this host: {}", host,
                               status == ARES_SUCCESS ? "it has none" : ares_strerror(status));
  return answer;
}

class AresChannel final : public DnsChannel {
 public:
  explicit AresChannel(EventLoop& loop)
      : context_(loop.context()), timer_(context_.get_executor()) {}

  Status Start(const Options& options) {
    if (library_.outcome() != ARES_SUCCESS) return Failed(ErrorCode::kIo, library_.outcome());
    ares_options settings{};
    settings.timeout = static_cast<int>(options.attempt_time.count());
    settings.tries = options.attempts;
    settings.ndomains = 0;  // names are whole: none of this machine's domains is tried behind them
    settings.sock_state_cb = [](void* self, ares_socket_t socket, int readable, int writable) {
      static_cast<AresChannel*>(self)->Want(socket, readable != 0, writable != 0);
    };
    settings.sock_state_cb_data = this;
    const int made = ares_init_options(
        &channel_, &settings,
        ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_DOMAINS | ARES_OPT_SOCK_STATE_CB);
    if (made != ARES_SUCCESS) {
      channel_ = nullptr;
      return Failed(ErrorCode::kIo, made);
    }
    if (options.servers.empty()) return {};
    const std::string servers = fmt::format("{}", fmt::join(options.servers, ","));
    const int set = ares_set_servers_ports_csv(channel_, servers.c_str());
    if (set != ARES_SUCCESS) return Failed(ErrorCode::kInvalid, set);
    return {};
  }

  ~AresChannel() override {
    *gone_ = true;
    if (channel_ != nullptr) ares_destroy(channel_);
    for (auto& [socket, watch] : watches_) Release(*watch);
  }

  void Ask(const std::string& host, Done done) override {
    ares_addrinfo_hints hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = ARES_AI_NOSORT;
    auto question = std::make_unique<Question>(Question{host, std::move(done)});
    ares_getaddrinfo(
        channel_, host.c_str(), nullptr, &hints,
        [](void* argument, int status, int, ares_addrinfo* list) {
          const std::unique_ptr<Question> asked(static_cast<Question*>(argument));
          const std::unique_ptr<ares_addrinfo, AddressesDeleter> found(list);
          asked->done(ToAnswer(asked->host, status, found.get()));
        },
        question.release());
    SetTimer();
  }

 private:
  // A socket of c-ares, lent to the loop.
  struct Watch {
    Watch(asio::io_context& context, ares_socket_t own) : descriptor(context, own), socket(own) {}
    Descriptor descriptor;
    ares_socket_t socket;
    bool want_read = false;
    bool want_write = false;
    bool reading = false;
    bool writing = false;
    bool released = false;
  };

  static Error Failed(ErrorCode code, int status) {
    return {code, fmt::format("cannot ask the DNS: {}", ares_strerror(status))};
  }

  static void Release(Watch& watch) {
    watch.released = true;
    watch.descriptor.release();
  }

  void Want(ares_socket_t socket, bool read, bool write) {
    std::shared_ptr<Watch>& watch = watches_[socket];
    if (!read && !write) {
      if (watch != nullptr) Release(*watch);
      watches_.erase(socket);
      return;
    }
    if (watch == nullptr) watch = std::make_shared<Watch>(context_, socket);
    watch->want_read = read;
    watch->want_write = write;
    Arm(watch);
  }

  void Arm(const std::shared_ptr<Watch>& watch) {
    if (watch->released) return;
    if (watch->want_read && !watch->reading) {
      watch->reading = true;
      watch->descriptor.async_wait(Descriptor::wait_read, [this, watch, gone = gone_](error_code) {
        watch->reading = false;
        if (!*gone && !watch->released) OnReady(watch, watch->socket, ARES_SOCKET_BAD);
      });
    }
    if (watch->want_write && !watch->writing) {
      watch->writing = true;
      watch->descriptor.async_wait(Descriptor::wait_write, [this, watch, gone = gone_](error_code) {
        watch->writing = false;
        if (!*gone && !watch->released) OnReady(watch, ARES_SOCKET_BAD, watch->socket);
      });
    }
  }

  void OnReady(const std::shared_ptr<Watch>& watch, ares_socket_t read, ares_socket_t write) {
    ares_process_fd(channel_, read, write);
    Arm(watch);
    SetTimer();
  }

  void SetTimer() {
    timeval left{};
    if (ares_timeout(channel_, nullptr, &left) == nullptr) {
      timer_.cancel();
      return;
    }
    timer_.expires_after(std::chrono::seconds(left.tv_sec) +
                         std::chrono::microseconds(left.tv_usec) + std::chrono::milliseconds(1));
    timer_.async_wait([this, gone = gone_](const error_code& error) {
      if (error || *gone) return;
      ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
      SetTimer();
    });
  }

  Library library_;
  asio::io_context& context_;
  asio::basic_waitable_timer<std::chrono::steady_clock,
                             asio::wait_traits<std::chrono::steady_clock>,
                             asio::io_context::executor_type>
      timer_;
  ares_channel channel_ = nullptr;
  std::map<ares_socket_t, std::shared_ptr<Watch>> watches_;
  std::shared_ptr<bool> gone_ = std::make_shared<bool>(false);  // for calls that are still queued
};

}  // namespace

Result<std::unique_ptr<DnsChannel>> DnsChannel::Open(const Options& options, EventLoop& loop) {
  auto channel = std::make_unique<AresChannel>(loop);
  if (Status started = channel->Start(options); !started) return started.error();
  return std::unique_ptr<DnsChannel>(std::move(channel));
}

}  // namespace stele::net
