#pragma once

#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/http/message.h"
#include "io/clock.h"
#include "net/event_loop.h"
#include "net/fetcher.h"

namespace stele::crawl::testing {

// A web in memory. Answers come on a thread of their own, as those of the true one do.
class FakeWeb final : public net::Fetcher {
 public:
  void Add(const std::string& url, const std::string& body, const std::string& head = "") {
    const std::lock_guard lock(mutex_);
    pages_[url] = PageOf(body, head);
  }
  void Fail(const std::string& url, net::FetchFailure failure) {
    const std::lock_guard lock(mutex_);
    failures_[url] = failure;
  }

  // After the answer that is given now.
  void FailLater(const std::string& url) {
    loop_.Post([this, url] { Fail(url, net::FetchFailure::kTimeout); });
  }
  void Redirect(const std::string& url, const std::string& to) {
    const std::lock_guard lock(mutex_);
    pages_[url] =
        fmt::format("HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", to);
  }

  void Fetch(net::FetchRequest request, Done done) override {
    const std::string url = UrlOf(request.endpoint, request.target);
    if (request.private_addresses) {
      const std::lock_guard lock(mutex_);
      trusted_.insert(request.endpoint.host);
    }
    ++under_way_;
    const bool is_refused = inside.contains(request.endpoint.host) && !request.private_addresses;
    loop_.Post(
        [this, url, is_refused, on_head = std::move(request.on_head), done = std::move(done)] {
          --under_way_;
          net::FetchResult result = Answer(url);
          if (hanging.contains(url) && result.failure == net::FetchFailure::kNone) {
            result.truncation = net::Truncation::kTime;
            hung_.emplace_back(std::move(result), std::move(done));
            return;
          }
          if (is_refused) result.failure = net::FetchFailure::kPrivate;
          const bool has_head = result.failure == net::FetchFailure::kNone;
          if (has_head && on_head &&
              on_head(*http::ParseResponseHead(result.head)) == net::HeadVerdict::kAbort) {
            result.truncation = net::Truncation::kAborted;
            result.payload_length = 0;
            result.response = net::SpooledBytes(result.head);
          }
          done(std::move(result));
        });
  }
  void CutShort() override {
    loop_.Post([this] {
      for (auto& [result, done] : std::exchange(hung_, {})) done(std::move(result));
    });
  }
  void Stop() override {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    // All who asked before have been told when this comes.
    const auto told = std::make_shared<std::promise<void>>();
    loop_.Post([this, told] {
      for (auto& [result, done] : std::exchange(hung_, {})) {
        result.failure = net::FetchFailure::kCancelled;
        done(std::move(result));
      }
      told->set_value();
    });
    told->get_future().wait();
  }
  std::size_t under_way() const override { return under_way_; }
  std::size_t idle_connections() const override { return 0; }
  std::uint64_t connections_made() const override { return 0; }

  std::map<std::string, int> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  // Hosts that might have been asked at private addresses.
  std::set<std::string> trusted() {
    const std::lock_guard lock(mutex_);
    return trusted_;
  }
  // When fetches began, where it is not now.
  std::map<std::string, Timestamp> times;
  std::optional<net::IpAddress> address;  // of all hosts
  std::string distrust;                   // of the certificates of all servers
  std::set<std::string> inside;           // hosts that have private ones
  std::chrono::seconds failure_takes{0};  // as results of Fail() say
  std::set<std::string> hanging;          // URLs whose responses come to no end
  std::map<std::string, int> cut;         // so often the connection is lost before the end
  // Whole responses that come before that of the page, one each time; "lost": none comes.
  std::map<std::string, std::vector<std::string>> before;
  // Gives whole responses in place of all others; empty: none. `others` are under way besides.
  std::function<std::string(const std::string& url, std::size_t others)> respond;
  // Makes pages that were not added; empty: there is none.
  std::function<std::string(const std::string& url)> make;
  // Called for each answer, on the thread of the web.
  std::function<void(const std::string& url)> on_answer;

 private:
  static std::string PageOf(const std::string& body, const std::string& head) {
    return fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{}Content-Length: {}\r\n\r\n{}", head,
        body.size(), body);
  }
  static std::string UrlOf(const net::Endpoint& endpoint, const std::string& target) {
    const std::string_view scheme = endpoint.tls ? "https" : "http";
    if (endpoint.port == (endpoint.tls ? 443 : 80)) {
      return fmt::format("{}://{}{}", scheme, endpoint.host, target);
    }
    return fmt::format("{}://{}:{}{}", scheme, endpoint.host, endpoint.port, target);
  }

  net::FetchResult Answer(const std::string& url) {
    if (on_answer) on_answer(url);
    const std::lock_guard lock(mutex_);
    net::FetchResult result;
    result.begun = times.contains(url) ? times.at(url) : clock_.Now();
    if (stopped_) {
      result.failure = net::FetchFailure::kCancelled;
      return result;
    }
    ++asked_[url];
    result.address = address;
    if (const auto failure = failures_.find(url); failure != failures_.end()) {
      result.failure = failure->second;
      result.timings.done = failure_takes;
      return result;
    }
    const auto page = pages_.find(url);
    std::string response = page != pages_.end()
                               ? page->second
                               : "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone";
    const std::string made = page == pages_.end() && make ? make(url) : std::string();
    if (!made.empty()) response = PageOf(made, "");
    const auto times_asked = static_cast<std::size_t>(asked_[url]);
    if (times_asked <= before[url].size()) response = before[url][times_asked - 1];
    const std::string given = respond ? respond(url, under_way_) : std::string();
    if (!given.empty()) response = given;
    if (url.starts_with("https:") && !distrust.empty()) {
      net::TlsFacts tls;
      tls.distrust = distrust;
      result.tls = std::make_shared<const net::TlsFacts>(std::move(tls));
    }
    result.request = "GET / HTTP/1.1\r\n\r\n";
    const Result<http::ResponseHead> head = http::ParseResponseHead(response);
    if (!head) {
      result.failure = net::FetchFailure::kConnect;
      return result;
    }
    result.head = head->raw;
    result.head_length = head->head_length;
    result.status = head->status;
    result.plan = http::PlanResponseBody(*head, "GET");
    result.payload_length = response.size() - result.head_length;
    result.response = net::SpooledBytes(std::move(response));
    if (cut[url]-- > 0) result.truncation = net::Truncation::kDisconnect;
    return result;
  }

  std::vector<std::pair<net::FetchResult, Done>> hung_;  // of the thread of the web
  std::mutex mutex_;
  std::map<std::string, std::string> pages_;
  std::map<std::string, net::FetchFailure> failures_;
  std::map<std::string, int> asked_;
  std::set<std::string> trusted_;
  const io::SystemClock clock_;
  bool stopped_ = false;
  std::atomic<std::size_t> under_way_ = 0;
  net::EventLoop loop_;  // ends first
};

}  // namespace stele::crawl::testing
