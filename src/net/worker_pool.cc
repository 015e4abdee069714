// All threads wait in one epoll, each for one event. A socket is armed for one event at a time, so
// that one thread only has it. Whoever takes a watcher out of its stripe, a thread with an event or
// Unwatch(), is the one who may go on with it; an event that finds none is late and means nothing.
#include "net/worker_pool.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

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

WorkerPool::WorkerPool(std::size_t threads)
    : epoll_(Opened(::epoll_create1(EPOLL_CLOEXEC), "epoll")),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)) {
  Check(threads > 0);
  epoll_event wanted{.events = EPOLLIN, .data = {.fd = event_}};
  if (event_ < 0 || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &wanted) != 0) {
    const int error = errno;
    ::close(epoll_);
    if (event_ >= 0) ::close(event_);
    throw std::system_error(error, std::generic_category(), "eventfd");
  }
  try {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
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

void WorkerPool::Loop() {
  for (;;) {
    epoll_event event{};
    const int count = ::epoll_wait(epoll_, &event, 1, -1);
    if (count < 0) Check(errno == EINTR);
    if (count <= 0) continue;
    if (event.data.fd == event_) {
      if (!RunNext()) return;
    } else if (const std::shared_ptr<Watcher> watcher = Take(event.data.fd)) {
      watcher->OnReadable();
    }
  }
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
