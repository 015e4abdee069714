#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "io/memory_file_system.h"
#include "net/http_client.h"
#include "net/test_peers.h"
#include "store/remote/remote_volume.h"
#include "store/remote/volume_service.h"
#include "store/test_member.h"

// What the tests of this folder talk to.
namespace stele::store {

// A tree volume in memory, served on a free port of the loopback.
class ServedVolume {
 public:
  explicit ServedVolume(const std::string& name, VolumeService::Options options = {})
      : volume_(NewMember(fs_, {.name = name})), service_({volume_.get()}, std::move(options)) {
    Live();
  }

  TreeVolume& volume() { return static_cast<TreeVolume&>(volume_->volume()); }
  Member& member() { return *volume_; }
  VolumeService& service() { return service_; }
  io::MemoryFileSystem& disk() { return fs_; }
  std::uint16_t port() { return (**server_).port(); }
  int requests() const { return requests_; }
  void Die() { server_.reset(); }
  // Again, at another port.
  void Live() {
    server_ = std::make_unique<net::TestServer>(
        [this](net::Request& request, net::ResponseWriter& response) {
          ++requests_;
          service_.Handle(request, response);
        });
  }

 private:
  io::MemoryFileSystem fs_;
  std::unique_ptr<Member> volume_;
  VolumeService service_;
  std::atomic<int> requests_ = 0;
  std::unique_ptr<net::TestServer> server_;
};

// Takes a response and loses it.
class LostResponse final : public net::ResponseWriter {
 public:
  using net::ResponseWriter::Reply;
  Status Reply(const net::ResponseStart&, std::string_view) override { return {}; }
  Status SendFrom(const net::ResponseStart&, std::unique_ptr<io::Source>) override { return {}; }
  Status Start(const net::ResponseStart&) override { return {}; }
  Status Write(std::string_view) override { return {}; }
  Status Flush() override { return {}; }
  void Abandon() override {}
};

inline std::unique_ptr<net::HttpClient> NewClient(int timeout_ms = 20'000) {
  net::HttpClientOptions options;
  options.read_timeout = options.connect_timeout = std::chrono::milliseconds(timeout_ms);
  Result<std::unique_ptr<net::HttpClient>> client = net::HttpClient::Open(options);
  EXPECT_TRUE(client) << client.error().text;
  return *std::move(client);
}

inline std::unique_ptr<RemoteVolume> NewRemote(net::HttpClient& client, std::uint16_t port,
                                               const std::string& token = {}) {
  RemoteVolume::Options options;
  options.name = "v";
  options.endpoint = {false, "127.0.0.1", port};
  options.token = token;
  options.signature = std::make_shared<Sha256Signatures>();
  options.total_timeout = std::chrono::milliseconds(20'000);
  return std::make_unique<RemoteVolume>(client, options);
}

inline StoreRequest Sha256Request(std::string_view content, const std::string& id,
                                  StoreMode mode = StoreMode::kRegular) {
  return {Sha256Signatures().Of(content), content.size(), mode, "text/html", {"test", id}};
}

}  // namespace stele::store
