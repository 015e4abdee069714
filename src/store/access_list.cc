#include "store/access_list.h"

namespace stele::store {

AccessList::Access::Access(AccessList& list, const Signature& signature)
    : list_(list), bytes_(signature.bytes()) {
  std::unique_lock lock(list_.mutex_);
  list_.released_.wait(lock, [&] { return !list_.taken_.contains(bytes_); });
  list_.taken_.insert(bytes_);
}

AccessList::Access::~Access() {
  {
    const std::lock_guard lock(list_.mutex_);
    list_.taken_.erase(bytes_);
  }
  list_.released_.notify_all();
}

Gate::Pass::Pass(Gate& gate) : gate_(gate) {
  std::unique_lock lock(gate_.mutex_);
  gate_.changed_.wait(lock, [&] { return !gate_.closed_; });
  ++gate_.inside_;
}

Gate::Pass::~Pass() {
  const std::lock_guard lock(gate_.mutex_);
  if (--gate_.inside_ == 0) gate_.changed_.notify_all();
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
