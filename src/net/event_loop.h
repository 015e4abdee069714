#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace boost::asio {
class io_context;
}

namespace stele::net {

// A function that will be called once. Destroying it on its loop's thread cancels it for certain;
// elsewhere the call may already be under way. Must not outlive its loop.
class Timer {
 public:
  virtual ~Timer() = default;
};

// A thread that waits for sockets and timers and calls back. Everything it calls must be short and
// must never wait: disk work belongs to a WorkerPool.
class EventLoop {
 public:
  // Throws std::system_error, as std::thread does, when the machine has no thread or descriptor for
  // it.
  EventLoop();
  ~EventLoop();  // Stop()
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Calls `work` on the loop's thread, after what was posted before. From any thread. What is
  // posted after Stop() is destroyed with the loop, uncalled.
  void Post(std::function<void()> work);
  // The same, and waits for it; when the loop was stopped, `work` is done here. Not from the loop's
  // own thread.
  void PostAndWait(const std::function<void()>& work);
  // From any thread.
  std::unique_ptr<Timer> CallAfter(std::chrono::milliseconds delay, std::function<void()> work);

  // Returns when the call under way is over and the thread has ended; what waits is not called.
  // Not from the loop's own thread. Repeating it does nothing.
  void Stop();

  bool OnLoopThread() const;
  boost::asio::io_context& context();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Several loops, one for each core where `count` is 0.
class EventLoops {
 public:
  explicit EventLoops(std::size_t count = 0);

  std::size_t size() const { return loops_.size(); }
  EventLoop& at(std::size_t index) { return *loops_[index]; }
  void Stop();

 private:
  std::vector<std::unique_ptr<EventLoop>> loops_;
};

}  // namespace stele::net
