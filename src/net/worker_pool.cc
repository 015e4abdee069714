// All threads wait in one epoll, each for one event. A socket is armed for one event at a time, so
// that one thread only has it. Whoever takes a watcher out of its stripe, a thread with an event or
// Unwatch(), is the one who may go on with it; an event that finds none is late and means nothing.
//
// Who has a turn keeps it from one thing to the next, also while it waits for an event. Of the
// threads without one, the lookout looks now and then; the others sleep.
#include "net/worker_pool.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "util/check.h"

namespace stele::net {
namespace {

int Opened(int descriptor, const char* what) {
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), what);
  return descriptor;
}

void Signal(int event) {
  const std::uint64_t one = 1;
  Check(::write(event, &one, sizeof one) == sizeof one);
}

}  // namespace

WorkerPool::WorkerPool(std::size_t threads, std::size_t at_once, std::chrono::milliseconds patience)
    : epoll_(Opened(::epoll_create1(EPOLL_CLOEXEC), "epoll")),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)),
      patience_(patience),
      turns_(at_once == 0 ? threads : std::min(at_once, threads)) {
  Check(threads > 0);
  epoll_event wanted{.events = EPOLLIN, .data = {.fd = event_}};
  if (event_ < 0 || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &wanted) != 0) {
    const int error = errno;
    ::close(epoll_);
    if (event_ >= 0) ::close(event_);
    throw std::system_error(error, std::generic_category(), "eventfd");
  }
  try {
    // All are there before anybody looks at them.
    for (std::size_t i = 0; i < threads; ++i) seats_.push_back(std::make_unique<Seat>());
    for (const auto& seat : seats_) threads_.emplace_back([this, &seat] { Loop(*seat); });
  } catch (...) {
    Stop();
    ::close(event_);
    ::close(epoll_);
    throw;
  }
}

WorkerPool::~WorkerPool() {
  Stop();
  ::close(event_);
  ::close(epoll_);
}

void WorkerPool::Run(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    Check(!stopping_);
    queue_.push_back(std::move(work));
  }
  Signal(event_);
}

// Nobody gets the watcher, and closes the socket, before epoll has it.
bool WorkerPool::Watch(int socket, std::shared_ptr<Watcher> watcher) {
  Stripe& stripe = StripeOf(socket);
  const std::lock_guard lock(stripe.mutex);
  epoll_event wanted{.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT, .data = {.fd = socket}};
  int failed = ::epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &wanted);
  if (failed != 0 && errno == ENOENT) {
    failed = ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &wanted);
  }
  if (failed != 0) return false;
  Check(stripe.watchers.emplace(socket, std::move(watcher)).second);
  return true;
}

bool WorkerPool::Unwatch(int socket) {
  Stripe& stripe = StripeOf(socket);
  const std::lock_guard lock(stripe.mutex);
  if (TakeFrom(stripe, socket) == nullptr) return false;
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, nullptr);
  return true;
}

std::shared_ptr<Watcher> WorkerPool::Take(int socket) {
  Stripe& stripe = StripeOf(socket);
  const std::lock_guard lock(stripe.mutex);
  return TakeFrom(stripe, socket);
}

std::shared_ptr<Watcher> WorkerPool::TakeFrom(Stripe& stripe, int socket) {
  const auto at = stripe.watchers.find(socket);
  if (at == stripe.watchers.end()) return nullptr;
  return std::move(stripe.watchers.extract(at).mapped());
}

void WorkerPool::TakeTurn(Seat& seat) {
  std::unique_lock lock(turns_mutex_);
  while (turns_ == 0) {
    if (has_lookout_) {
      turns_changed_.wait(lock);
      continue;
    }
    has_lookout_ = true;
    const bool in_time = turns_changed_.wait_for(lock, patience_) == std::cv_status::no_timeout;
    has_lookout_ = false;
    if (!in_time && turns_ == 0) TakeFromTheSlow();
  }
  --turns_;
  seat.has_turn = true;
  seat.is_overtaken = false;
  // Somebody else is the lookout, or takes the next turn.
  turns_changed_.notify_one();
}

void WorkerPool::EndTurn(Seat& seat) {
  const std::lock_guard lock(turns_mutex_);
  if (std::exchange(seat.has_turn, false)) ++turns_;
  turns_changed_.notify_one();
}

void WorkerPool::TakeFromTheSlow() {
  for (const auto& seat : seats_) {
    const std::uint64_t step = seat->step;
    const bool is_slow = seat->has_turn && step % 2 == 1 && step == seat->seen;
    seat->seen = step;
    if (!is_slow) continue;
    seat->has_turn = false;
    seat->is_overtaken = true;
    ++turns_;
  }
}

void WorkerPool::Loop(Seat& seat) {
  TakeTurn(seat);
  for (bool more = true; more;) {
    epoll_event event{};
    const int count = ::epoll_wait(epoll_, &event, 1, -1);
    if (count < 0) Check(errno == EINTR);
    if (count <= 0) continue;
    ++seat.step;
    more = Work(event.data.fd);
    ++seat.step;
    if (more && seat.is_overtaken) TakeTurn(seat);
  }
  EndTurn(seat);
}

bool WorkerPool::Work(int ready) {
  if (ready == event_) return RunNext();
  if (const std::shared_ptr<Watcher> watcher = Take(ready)) watcher->OnReadable();
  return true;
}

bool WorkerPool::RunNext() {
  std::function<void()> work;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.empty() && stopping_) return false;
    std::uint64_t taken = 0;
    // Another thread may have been faster.
    if (::read(event_, &taken, sizeof taken) != sizeof taken) return true;
    work = std::move(queue_.front());
    queue_.pop_front();
  }
  work();
  return true;
}

// The last signal is never taken: it wakes all threads.
void WorkerPool::Stop() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(stopping_, true)) Signal(event_);
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace stele::net
