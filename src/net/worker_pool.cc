#include "net/worker_pool.h"

#include <utility>

#include "util/check.h"

namespace stele::net {

WorkerPool::WorkerPool(std::size_t threads) {
  Check(threads > 0);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

WorkerPool::~WorkerPool() { Stop(); }

void WorkerPool::Run(std::function<void()> work) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    Check(!stopping_);
    queue_.push_back(std::move(work));
    wake = sleeping_ > 0;
  }
  if (wake) changed_.notify_one();
}

void WorkerPool::Loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    while (queue_.empty() && !stopping_) {
      ++sleeping_;
      changed_.wait(lock);
      --sleeping_;
    }
    if (queue_.empty()) return;
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
}

void WorkerPool::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace stele::net
