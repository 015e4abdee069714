#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace stele::net {

// Threads that may wait: for the disk, for a slow client, for another server. Work is begun in the
// order in which it came. Thread-safe.
class WorkerPool {
 public:
  explicit WorkerPool(std::size_t threads);
  ~WorkerPool();  // Stop()
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // `work` must not throw. Requires: Stop() was not called.
  void Run(std::function<void()> work);

  // Returns when all work is done, that which still waits too.
  void Stop();

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::size_t sleeping_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stele::net
