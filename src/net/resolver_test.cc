#include "net/resolver.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

namespace stele::net {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

IpAddress Address(const char* text) { return *IpAddress::FromText(text); }

// A DNS server on the loopback that knows some names.
class NameServer {
 public:
  struct Entry {
    std::vector<IpAddress> addresses;
    std::uint32_t ttl = 300;
  };

  explicit NameServer(std::map<std::string, Entry> names) : names_(std::move(names)) {
    socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    socklen_t size = sizeof address;
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~NameServer() {
    // A datagram without content ends it.
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int knock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(sendto(knock, "", 0, 0, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    close(knock);
    thread_.join();
    close(socket_);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int questions() const { return questions_; }

 private:
  void Serve() {
    for (;;) {
      char packet[1500];
      sockaddr_in from{};
      socklen_t from_size = sizeof from;
      const ssize_t size = recvfrom(socket_, packet, sizeof packet, 0,
                                    reinterpret_cast<sockaddr*>(&from), &from_size);
      if (size < 12) return;
      ++questions_;
      const std::string answer = Answer({packet, static_cast<std::size_t>(size)});
      sendto(socket_, answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from),
             from_size);
    }
  }

  // The question again, and the addresses of its kind.
  std::string Answer(std::string_view question) const {
    std::string name;
    std::size_t at = 12;
    while (question[at] != 0) {
      const auto length = static_cast<std::size_t>(question[at]);
      if (!name.empty()) name += '.';
      name += question.substr(at + 1, length);
      at += length + 1;
    }
    const bool v6 = question[at + 2] == 28;
    const std::size_t end = at + 5;
    std::string answer(question.substr(0, end));
    std::string records;
    int count = 0;
    const auto found = names_.find(name);
    for (const IpAddress& one :
         found == names_.end() ? std::vector<IpAddress>{} : found->second.addresses) {
      if (one.v6 != v6) continue;
      ++count;
      const std::uint32_t ttl = found->second.ttl;
      records += std::string("\xc0\x0c\0", 3) + (v6 ? '\x1c' : '\x01') + std::string("\0\x01", 2);
      for (int shift = 24; shift >= 0; shift -= 8) records += static_cast<char>(ttl >> shift);
      records += '\0';
      records += v6 ? '\x10' : '\x04';
      records.append(reinterpret_cast<const char*>(one.bytes.data()), v6 ? 16 : 4);
    }
    answer[2] = '\x81';
    answer[3] = found == names_.end() ? '\x83' : '\x80';
    answer[7] = static_cast<char>(count);
    answer[8] = answer[9] = answer[10] = answer[11] = 0;
    return answer + records;
  }

  const std::map<std::string, Entry> names_;
  int socket_;
  std::uint16_t port_ = 0;
  std::atomic<int> questions_ = 0;
  std::thread thread_;
};

std::unique_ptr<Resolver> Open(const ResolverOptions& options, EventLoop& loop) {
  auto resolver = Resolver::Open(options, loop);
  EXPECT_TRUE(resolver.ok()) << resolver.error().text;
  return std::move(*resolver);
}

Resolution Ask(Resolver& resolver, const std::string& host) {
  const auto promise = std::make_shared<std::promise<Resolution>>();
  resolver.Resolve(host, [promise](const Resolution& found) { promise->set_value(found); });
  return promise->get_future().get();
}

TEST(Resolver, AsksTheServersAndRemembers) {
  NameServer server({{"two.example", {{Address("2001:db8::1"), Address("192.0.2.1")}, 700}}});
  EventLoop loop;
  ResolverOptions options;
  options.servers = {server.address()};
  const auto resolver = Open(options, loop);
  const Resolution first = Ask(*resolver, "two.example");
  EXPECT_THAT(first.addresses, ElementsAre(Address("192.0.2.1"), Address("2001:db8::1")));
  EXPECT_FALSE(first.cached);
  EXPECT_EQ(first.ttl, seconds(700));
  for (const char* const same : {"two.example", "TWO.Example", "two.example."}) {
    const Resolution again = Ask(*resolver, same);
    EXPECT_EQ(again.addresses, first.addresses);
    EXPECT_TRUE(again.cached);
    EXPECT_LE(again.ttl, seconds(700));
  }
  EXPECT_EQ(resolver->questions(), 1U);
  EXPECT_EQ(server.questions(), 2);  // one for each kind of address
}

TEST(Resolver, TimesAreWithinBounds) {
  NameServer server({{"short.example", {{Address("192.0.2.1")}, 0}},
                     {"long.example", {{Address("192.0.2.2")}, 10'000'000}}});
  EventLoop loop;
  ResolverOptions options;
  options.servers = {server.address()};
  const auto resolver = Open(options, loop);
  EXPECT_EQ(Ask(*resolver, "short.example").ttl, options.ttl_min);
  EXPECT_EQ(Ask(*resolver, "long.example").ttl, options.ttl_max);
}

TEST(Resolver, NamesThatAreNotThereAreRememberedToo) {
  NameServer server({{"empty.example", {}}, {"zero.example", {{Address("0.0.0.0")}, 60}}});
  EventLoop loop;
  ResolverOptions options;
  options.servers = {server.address()};
  const auto resolver = Open(options, loop);
  for (const std::string host : {"gone.example", "empty.example", "zero.example"}) {
    const Resolution none = Ask(*resolver, host);
    EXPECT_TRUE(none.addresses.empty());
    EXPECT_FALSE(none.exists) << host;
    EXPECT_THAT(none.failure, HasSubstr(host));
    EXPECT_EQ(none.ttl, options.negative_ttl);
    EXPECT_TRUE(Ask(*resolver, host).cached);
  }
  EXPECT_EQ(resolver->questions(), 3U);
}

TEST(Resolver, SilentServersAreNoProofOfAbsence) {
  EventLoop loop;
  ResolverOptions options;
  options.servers = {"127.0.0.1:1"};
  options.attempts = 1;
  options.attempt_time = std::chrono::milliseconds(50);
  const auto resolver = Open(options, loop);
  const Resolution none = Ask(*resolver, "any.example");
  EXPECT_TRUE(none.addresses.empty());
  EXPECT_TRUE(none.exists);
  EXPECT_EQ(none.ttl, options.failure_ttl);
}

TEST(Resolver, I1_WhereNoServerAnsweredOneIsAskedAgainSoon) {
  EventLoop loop;
  ResolverOptions options;
  options.servers = {"127.0.0.1:1"};
  options.attempts = 1;
  options.attempt_time = std::chrono::milliseconds(50);
  options.failure_ttl = std::chrono::seconds(1);
  const auto resolver = Open(options, loop);
  EXPECT_FALSE(Ask(*resolver, "any.example").cached);
  std::this_thread::sleep_for(options.failure_ttl + std::chrono::milliseconds(10));
  EXPECT_FALSE(Ask(*resolver, "any.example").cached);
  EXPECT_EQ(resolver->questions(), 2U);
}

TEST(Resolver, OverridesAndAddressesNeedNoServer) {
  EventLoop loop;
  ResolverOptions options;
  options.servers = {"127.0.0.1:1"};
  options.overrides["over.example"] = {Address("127.0.0.7")};
  const auto resolver = Open(options, loop);
  EXPECT_THAT(Ask(*resolver, "OVER.example").addresses, ElementsAre(Address("127.0.0.7")));
  EXPECT_THAT(Ask(*resolver, "192.0.2.9").addresses, ElementsAre(Address("192.0.2.9")));
  EXPECT_THAT(Ask(*resolver, "[2001:db8::9]").addresses, ElementsAre(Address("2001:db8::9")));
  EXPECT_THAT(Ask(*resolver, "localhost").addresses,
              ElementsAre(Address("127.0.0.1"), Address("::1")));
  EXPECT_THAT(Ask(*resolver, "a.localhost").addresses,
              ElementsAre(Address("127.0.0.1"), Address("::1")));
  EXPECT_EQ(resolver->questions(), 0U);
}

TEST(Resolver, TheCacheIsBounded) {
  std::map<std::string, NameServer::Entry> names;
  for (int i = 0; i < 10; ++i) names[std::to_string(i) + ".example"] = {{Address("192.0.2.1")}};
  NameServer server(names);
  EventLoop loop;
  ResolverOptions options;
  options.servers = {server.address()};
  options.cache_entries_max = 3;
  const auto resolver = Open(options, loop);
  for (int i = 0; i < 10; ++i) {
    Ask(*resolver, std::to_string(i) + ".example");
    EXPECT_TRUE(Ask(*resolver, "0.example").cached);  // what is used stays
  }
  EXPECT_EQ(resolver->questions(), 10U);
  EXPECT_FALSE(Ask(*resolver, "5.example").cached);
}

TEST(Resolver, ManyThreadsAskOneQuestion) {
  NameServer server({{"one.example", {{Address("192.0.2.1")}}}});
  EventLoop loop;
  ResolverOptions options;
  options.servers = {server.address()};
  const auto resolver = Open(options, loop);
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j) good += Ask(*resolver, "one.example").addresses.size() == 1;
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(good, 400);
  EXPECT_EQ(resolver->questions(), 1U);
}

TEST(Resolver, WhoeverWaitsIsToldWhenItGoes) {
  EventLoop loop;
  ResolverOptions options;
  options.servers = {"192.0.2.1"};  // answers nobody
  auto resolver = Open(options, loop);
  const auto promise = std::make_shared<std::promise<Resolution>>();
  resolver->Resolve("any.example",
                    [promise](const Resolution& found) { promise->set_value(found); });
  resolver = nullptr;
  EXPECT_TRUE(promise->get_future().get().addresses.empty());
}

TEST(Resolver, ServersThatAreNoneAreRefused) {
  EventLoop loop;
  ResolverOptions options;
  options.servers = {"no address"};
  const auto resolver = Resolver::Open(options, loop);
  ASSERT_FALSE(resolver.ok());
  EXPECT_EQ(resolver.error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace stele::net
