#include "archive/open_containers.h"

#include <algorithm>
#include <utility>

namespace stele::archive {
namespace {

// Each has a few hundred kilobytes of buffers.
constexpr std::size_t kIdleMax = 32;

}  // namespace

OpenContainers::Lent OpenContainers::Take(std::uint32_t container, std::uint64_t offset) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](const Lent& one) {
    return one.container == container && one.opened.begin <= offset && offset < one.opened.end;
  });
  if (found == idle_.rend()) return {{}, container, epoch_};
  Lent lent = std::move(*found);
  idle_.erase(std::next(found).base());
  return lent;
}

void OpenContainers::GiveBack(Lent lent) {
  Lent oldest;  // closed without the lock
  const std::lock_guard lock(mutex_);
  if (lent.epoch != epoch_) return;
  idle_.push_back(std::move(lent));
  if (idle_.size() <= kIdleMax) return;
  oldest = std::move(idle_.front());
  idle_.erase(idle_.begin());
}

void OpenContainers::CloseAll() {
  std::vector<Lent> closed;
  const std::lock_guard lock(mutex_);
  ++epoch_;
  closed.swap(idle_);
}

}  // namespace stele::archive
