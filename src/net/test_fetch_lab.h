#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "io/clock.h"
#include "io/posix_file_system.h"
#include "net/fetcher.h"

namespace stele::net {

// A fetcher with all that it needs. a.test, b.test and proxy.test are 127.0.0.1; two.test has an
// address before it where nobody listens.
class FetchLab {
 public:
  explicit FetchLab(FetcherOptions options = {}, io::FileSystem* disk = nullptr)
      : disk_(disk == nullptr ? posix_ : *disk) {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("fetch_" + std::to_string(getpid()) + "_" +
               std::to_string(reinterpret_cast<std::uintptr_t>(this)));
    std::filesystem::create_directories(folder_);
    options.spool_folder = folder_.string();
    ResolverOptions names;
    for (const char* const host : {"a.test", "b.test", "proxy.test"}) {
      names.overrides[host] = {*IpAddress::FromText("127.0.0.1")};
    }
    names.overrides["two.test"] = {*IpAddress::FromText("127.0.0.9"),
                                   *IpAddress::FromText("127.0.0.1")};
    // Nobody listens there.
    names.servers = {"127.0.0.1:1"};
    names.attempts = 1;
    names.attempt_time = std::chrono::milliseconds(50);
    auto resolver = Resolver::Open(names, loop_);
    EXPECT_TRUE(resolver.ok()) << resolver.error().text;
    resolver_ = std::move(*resolver);
    auto fetcher = Fetcher::Open(options, loop_, *resolver_, workers_, disk_, clock_);
    EXPECT_TRUE(fetcher.ok()) << fetcher.error().text;
    fetcher_ = std::move(*fetcher);
  }
  ~FetchLab() {
    fetcher_ = nullptr;
    if (&disk_ == &posix_) {
      EXPECT_TRUE(std::filesystem::is_empty(folder_));
    }
    std::filesystem::remove_all(folder_);
  }

  static FetchRequest To(std::uint16_t port, std::string target = "/") {
    FetchRequest request;
    request.endpoint = {false, "a.test", port};
    request.target = std::move(target);
    request.fields = {{"Host", "a.test"}, {"User-Agent", "test"}};
    request.private_addresses = true;
    return request;
  }

  std::future<FetchResult> Begin(FetchRequest request) {
    const auto promise = std::make_shared<std::promise<FetchResult>>();
    fetcher_->Fetch(std::move(request),
                    [promise](FetchResult result) { promise->set_value(std::move(result)); });
    return promise->get_future();
  }
  FetchResult Fetch(FetchRequest request) { return Begin(std::move(request)).get(); }

  Fetcher& operator*() { return *fetcher_; }
  Fetcher* operator->() { return fetcher_.get(); }
  EventLoop& loop() { return loop_; }

 private:
  std::filesystem::path folder_;
  io::PosixFileSystem posix_;
  io::FileSystem& disk_;
  io::SystemClock clock_;
  EventLoop loop_;
  WorkerPool workers_{2};
  std::unique_ptr<Resolver> resolver_;
  std::unique_ptr<Fetcher> fetcher_;
};

inline std::string AllOf(const SpooledBytes& bytes) {
  std::string all(static_cast<std::size_t>(bytes.size()), '\0');
  const Result<std::size_t> size = bytes.ReadAt(0, all);
  EXPECT_TRUE(size.ok() && *size == all.size());
  return all;
}

inline std::string PayloadOf(const FetchResult& result) {
  const std::unique_ptr<io::Source> source = result.OpenPayload();
  std::string all;
  std::string piece(1000, '\0');
  for (;;) {
    const Result<std::size_t> size = source->Read(piece);
    EXPECT_TRUE(size.ok());
    if (!size || *size == 0) return all;
    all.append(piece, 0, *size);
  }
}

}  // namespace stele::net
