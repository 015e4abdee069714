#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "io/clock.h"
#include "net/server_connection.h"
#include "net/worker_pool.h"
#include "util/check.h"

namespace stele::net {

// Carries a ServerConnection's bytes without a socket: all of an input in pieces, all of the output
// into a string.
class ConnectionDriver final : public ConnectionHost {
 public:
  ConnectionDriver(const HttpLimits& limits, Handler& handler, WorkerPool& workers)
      : workers_(workers), connection_({limits, clock_, handler, *this, "test:1", false}) {}
  ~ConnectionDriver() override {
    connection_.Abort();
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait(lock, [this] { return shared_->jobs == 0; });
  }

  // Feeds `input` in pieces of up to `piece` bytes, then its end, and returns what was sent. Always
  // comes to an end.
  std::string Run(std::string_view input, std::size_t piece) {
    std::string output;
    bool eof = false;
    for (;;) {
      if (!connection_.output().empty()) {
        const std::string_view bytes = connection_.output().substr(0, 7 * piece);
        output += bytes;
        connection_.OnOutput(bytes.size());
        continue;
      }
      if (connection_.closed()) return output;
      if (TakeWake(false)) {
        connection_.OnWake();
      } else if (connection_.wait() == ServerConnection::Wait::kNothing) {
        Check(TakeWake(true));
        connection_.OnWake();
      } else if (!input.empty()) {
        const std::span<char> room = connection_.InputRoom();
        const std::string_view bytes = input.substr(0, std::min(piece, room.size()));
        std::memcpy(room.data(), bytes.data(), bytes.size());
        input.remove_prefix(bytes.size());
        connection_.OnInput(bytes.size());
      } else {
        Check(!std::exchange(eof, true));
        connection_.OnEof();
      }
    }
  }

  ServerConnection& connection() { return connection_; }

  void RunOnWorker(std::function<void()> work) override {
    {
      const std::lock_guard lock(shared_->mutex);
      ++shared_->jobs;
    }
    workers_.Run([shared = shared_, work = std::move(work)]() mutable {
      work();
      work = nullptr;
      const std::lock_guard lock(shared->mutex);
      --shared->jobs;
      shared->changed.notify_all();
    });
  }
  std::shared_ptr<ExchangeHost> ForExchanges() override { return shared_; }

  // False when there was no wake; with `wait`, when none can come any more.
  bool TakeWake(bool wait) {
    std::unique_lock lock(shared_->mutex);
    if (wait) {
      shared_->changed.wait(lock, [this] { return shared_->woken || shared_->jobs == 0; });
    }
    return std::exchange(shared_->woken, false);
  }

 private:
  struct Shared final : ExchangeHost {
    void Wake(bool) override {
      const std::lock_guard lock(mutex);
      woken = true;
      changed.notify_all();
    }
    bool Stopping() const override { return false; }

    std::mutex mutex;
    std::condition_variable changed;
    bool woken = false;
    int jobs = 0;
  };

  WorkerPool& workers_;
  io::ManualClock clock_{Timestamp{1'700'000'000'000}};
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  ServerConnection connection_;
};

}  // namespace stele::net
