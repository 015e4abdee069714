#include "store/access_list.h"

#include <functional>

namespace stele::store {

AccessList::Access::Access(AccessList& list, const Signature& signature)
    : bytes_(signature.bytes()),
      part_(list.parts_[std::hash<std::string>()(bytes_) % list.parts_.size()]) {
  std::unique_lock lock(part_.mutex);
  part_.released.wait(lock, [&] { return !part_.taken.contains(bytes_); });
  part_.taken.insert(bytes_);
}

AccessList::Access::~Access() {
  {
    const std::lock_guard lock(part_.mutex);
    part_.taken.erase(bytes_);
  }
  part_.released.notify_all();
}

Gate::Pass::Pass(Gate& gate) : gate_(gate) {
  for (;;) {
    ++gate_.inside_;
    if (!gate_.closed_) return;
    gate_.Leave();
    std::unique_lock lock(gate_.mutex_);
    gate_.changed_.wait(lock, [&] { return !gate_.closed_; });
  }
}

Gate::Pass::~Pass() { gate_.Leave(); }

void Gate::Leave() {
  if (--inside_ > 0 || !closed_) return;
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

Gate::Alone::Alone(Gate& gate) : gate_(gate) {
  std::unique_lock lock(gate_.mutex_);
  gate_.changed_.wait(lock, [&] { return !gate_.closed_; });
  gate_.closed_ = true;
  gate_.changed_.wait(lock, [&] { return gate_.inside_ == 0; });
}

Gate::Alone::~Alone() {
  {
    const std::lock_guard lock(gate_.mutex_);
    gate_.closed_ = false;
  }
  gate_.changed_.notify_all();
}

}  // namespace stele::store
