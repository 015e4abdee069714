#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace stele::net {

// A socket's owner, called by a WorkerPool.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void OnReadable() = 0;  // must not throw
};

// Threads that may wait: for the disk, for a slow client, for another server. They take work that
// is given to them, in the order in which it came, and sockets that have something to read: whoever
// notices that a request has come handles it, and no thread has to tell another. Thread-safe.
class WorkerPool {
 public:
  // Throws std::system_error when the machine has no threads or descriptors for it.
  explicit WorkerPool(std::size_t threads);
  ~WorkerPool();  // Stop()
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // `work` must not throw. Requires: Stop() was not called.
  void Run(std::function<void()> work);

  // Calls OnReadable() once, when there is something to read or the other side has closed; rarely
  // also without a reason. False when the machine refuses. Requires: `socket` is not watched.
  bool Watch(int socket, std::shared_ptr<Watcher> watcher);
  // True: it was watched, is not any longer, and OnReadable() will not be called. False: the call
  // is under way or over. A socket must not be closed while it is watched.
  bool Unwatch(int socket);

  // Returns when all work is done, that which still waits too. Sockets are watched no more.
  void Stop();

 private:
  struct Stripe {
    std::mutex mutex;
    std::unordered_map<int, std::shared_ptr<Watcher>> watchers;  // by socket
  };
  Stripe& StripeOf(int socket) {
    return stripes_[static_cast<std::size_t>(socket) % stripes_.size()];
  }
  std::shared_ptr<Watcher> Take(int socket);
  static std::shared_ptr<Watcher> TakeFrom(Stripe& stripe, int socket);
  void Loop();
  bool RunNext();  // false: there is no more work, and never will be

  int epoll_;
  int event_;  // an eventfd: counts the work that waits

  std::mutex mutex_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;

  std::array<Stripe, 32> stripes_;
  std::vector<std::thread> threads_;
};

}  // namespace stele::net
