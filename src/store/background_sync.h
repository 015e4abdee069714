#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace stele::store {

// Calls `sync` from a thread of its own, `delay` after the first Touch() since the call before.
// Thread-safe.
class BackgroundSync {
 public:
  BackgroundSync(std::chrono::milliseconds delay, std::function<void()> sync);
  // A call that is under way ends before; none is made for what was touched last.
  ~BackgroundSync();

  void Touch();

 private:
  void Run();

  const std::chrono::milliseconds delay_;
  const std::function<void()> sync_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  bool touched_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace stele::store
