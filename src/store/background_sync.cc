#include "store/background_sync.h"

#include <utility>

namespace stele::store {

BackgroundSync::BackgroundSync(std::chrono::milliseconds delay, std::function<void()> sync)
    : delay_(delay), sync_(std::move(sync)), thread_([this] { Run(); }) {}

BackgroundSync::~BackgroundSync() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundSync::Touch() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(touched_, true)) return;
  }
  changed_.notify_all();
}

void BackgroundSync::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return touched_ || stopping_; });
    if (stopping_ || changed_.wait_for(lock, delay_, [this] { return stopping_; })) return;
    touched_ = false;
    lock.unlock();
    sync_();
    lock.lock();
  }
}

}  // namespace stele::store
