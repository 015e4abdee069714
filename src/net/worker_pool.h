#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
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
// notices that a request has come handles it, and no thread has to tell another.
//
// Where more threads would do something than there are cores, what each has begun waits for all
// others, and takes as long as all together. So only some do something at once; when one of these
// is at the same thing for long, most likely because it waits, another thread takes its turn.
// Thread-safe.
class WorkerPool {
 public:
  // `at_once`: so many of the threads do something at a time; 0: all. Another takes the turn of who
  // is at one thing for `patience`, or up to twice as long. Throws std::system_error when the
  // machine has no threads or descriptors for it.
  explicit WorkerPool(std::size_t threads, std::size_t at_once = 0,
                      std::chrono::milliseconds patience = std::chrono::milliseconds(20));
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
  // What one thread does.
  struct Seat {
    std::atomic<std::uint64_t> step = 0;     // odd while it is at something
    std::atomic<bool> is_overtaken = false;  // another has its turn
    // With turns_mutex_.
    std::uint64_t seen = 0;  // the step when somebody looked last
    bool has_turn = false;
  };
  void TakeTurn(Seat& seat);
  void EndTurn(Seat& seat);
  // Takes their turns from those that are where they were at the last look.
  void TakeFromTheSlow();

  std::shared_ptr<Watcher> Take(int socket);
  static std::shared_ptr<Watcher> TakeFrom(Stripe& stripe, int socket);
  void Loop(Seat& seat);
  bool Work(int ready);  // false: there is no more, and never will be
  bool RunNext();        // false: there is no more work, and never will be

  int epoll_;
  int event_;  // an eventfd: counts the work that waits

  std::mutex mutex_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;

  const std::chrono::milliseconds patience_;
  std::mutex turns_mutex_;
  std::condition_variable turns_changed_;
  std::size_t turns_;         // that nobody has
  bool has_lookout_ = false;  // one of those without a turn looks after the others

  std::array<Stripe, 32> stripes_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<std::thread> threads_;
};

}  // namespace stele::net
