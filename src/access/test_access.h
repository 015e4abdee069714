#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "access/access_server.h"
#include "archive/test_archive.h"
#include "net/test_peers.h"
#include "util/ascii.h"

// An archive in memory that is served over real sockets.
namespace stele::access::testing {

using archive::testing::PutFile;
using archive::testing::WarcText;

// An answer, with what tests ask of it.
struct Answer {
  int status = 0;
  std::string head;
  std::string body;

  // The value of the first header of that name; empty where there is none.
  std::string Header(std::string_view name) const {
    for (const std::string_view line : Split(head, '\n')) {
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) continue;
      if (EqualsIgnoreCase(line.substr(0, colon), name)) {
        return std::string(TrimSpace(line.substr(colon + 1)));
      }
    }
    return "";
  }
};

inline Answer Ask(std::uint16_t port, const std::string& target, const std::string& headers = "",
                  const std::string& method = "GET", const std::string& host = "localhost",
                  const std::string& body = "") {
  net::RawClient client(port);
  EXPECT_TRUE(client.connected());
  EXPECT_TRUE(client.Send(
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n{}\r\n{}", method, target, host, headers, body)));
  const net::RawClient::Response response = client.ReceiveResponse(method);
  return {response.status, response.head, response.body};
}

// How a file comes.
struct Bringing {
  std::string name = {};  // of the file; else by the number of the run
  std::string kind = "import";
  std::string note = {};
};

class Serving : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(lab_.Create());
    archive_ = std::move(*lab_.Open());
  }
  // Brings a file as a run of its own.
  void Bring(const std::string& bytes, const Bringing& how = {}) {
    const std::uint32_t run = *archive_->BeginRun(how.kind, how.note);
    const std::string name = how.name.empty() ? fmt::format("{}.warc.gz", run) : how.name;
    PutFile(fs_, name, bytes);
    const auto outcome = archive::ImportFile(*archive_, run, name, {});
    ASSERT_TRUE(outcome) << outcome.error().text;
    ASSERT_TRUE(archive_->EndRun(run));
  }
  void Bring(const WarcText& warc, const Bringing& how = {}) { Bring(warc.bytes(), how); }

  void Serve(AccessServerOptions options = {}) {
    auto served = ServedArchive::Open(fs_, "a", "lab", "");
    ASSERT_TRUE(served) << served.error().text;
    std::vector<std::unique_ptr<ServedArchive>> all;
    all.push_back(std::move(*served));
    archives_ =
        std::make_unique<ServedArchives>(std::move(all), std::chrono::milliseconds(20),
                                         [](const Error& error) { ADD_FAILURE() << error.text; });
    options.spool_directory = "/spool";
    auto server = AccessServer::Open(options, *archives_, fs_, clock_, &log_);
    ASSERT_TRUE(server) << server.error().text;
    server_ = std::move(*server);
  }
  Answer Get(const std::string& target, const std::string& headers = "",
             const std::string& method = "GET") {
    return Ask(server_->pages_port(), target, headers, method);
  }
  Answer GetReplay(const std::string& target, const std::string& headers = "") {
    return Ask(server_->replay_port(), target, headers);
  }
  // Until the sums over the archive are made, as whoever sends these headers sees them.
  void WaitForSums(const std::string& headers = "") {
    while (Get("/api/v1/archive", headers).body.find("\"complete\": true") == std::string::npos) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  // What stands before "/web/" in links.
  std::string Origin() const { return fmt::format("http://localhost:{}", server_->pages_port()); }

  // Of several threads.
  class Log final : public io::Sink {
   public:
    Status Write(std::string_view bytes) override {
      const std::lock_guard lock(mutex_);
      text_ += bytes;
      return {};
    }
    std::string text() const {
      const std::lock_guard lock(mutex_);
      return text_;
    }

   private:
    mutable std::mutex mutex_;
    std::string text_;
  };

  io::MemoryFileSystem fs_;
  archive::testing::ArchiveLab lab_{fs_};
  std::unique_ptr<archive::ArchiveWriter> archive_;
  io::SystemClock clock_;
  Log log_;
  std::unique_ptr<ServedArchives> archives_;
  std::unique_ptr<AccessServer> server_;
};

}  // namespace stele::access::testing
