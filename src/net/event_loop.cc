#include "net/event_loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <future>
#include <thread>

#include "util/check.h"

namespace stele::net {
namespace asio = boost::asio;

struct EventLoop::Parts {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> stay{context.get_executor()};
  std::thread thread;
};

namespace {

// The flag is shared with the waiting call, which may be queued when the timer is destroyed.
class AsioTimer final : public Timer {
 public:
  AsioTimer(asio::io_context& context, std::chrono::milliseconds delay, std::function<void()> work)
      : state_(std::make_shared<State>(context, std::move(work))) {
    // The timer itself is touched on the loop's thread only.
    asio::post(context, [state = state_, delay] {
      if (state->cancelled) return;
      state->timer.expires_after(delay);
      state->timer.async_wait([state](const boost::system::error_code& error) {
        if (!error && !state->cancelled) state->work();
      });
    });
  }
  ~AsioTimer() override {
    state_->cancelled = true;
    asio::post(state_->timer.get_executor(), [state = state_] { state->timer.cancel(); });
  }

 private:
  struct State {
    State(asio::io_context& context, std::function<void()> call)
        : timer(context), work(std::move(call)) {}
    asio::steady_timer timer;
    std::function<void()> work;
    std::atomic<bool> cancelled = false;
  };
  std::shared_ptr<State> state_;
};

}  // namespace

EventLoop::EventLoop() : parts_(std::make_unique<Parts>()) {
  parts_->thread = std::thread([context = &parts_->context] { context->run(); });
}

EventLoop::~EventLoop() { Stop(); }

void EventLoop::Post(std::function<void()> work) { asio::post(parts_->context, std::move(work)); }

void EventLoop::PostAndWait(const std::function<void()>& work) {
  Check(!OnLoopThread());
  if (parts_->context.stopped()) return work();
  const auto done = std::make_shared<std::promise<void>>();
  Post([done, &work] {
    work();
    done->set_value();
  });
  done->get_future().wait();
}

std::unique_ptr<Timer> EventLoop::CallAfter(std::chrono::milliseconds delay,
                                            std::function<void()> work) {
  return std::make_unique<AsioTimer>(parts_->context, delay, std::move(work));
}

void EventLoop::Stop() {
  Check(!OnLoopThread());
  parts_->context.stop();
  if (parts_->thread.joinable()) parts_->thread.join();
}

bool EventLoop::OnLoopThread() const {
  return parts_->thread.get_id() == std::this_thread::get_id();
}

asio::io_context& EventLoop::context() { return parts_->context; }

EventLoops::EventLoops(std::size_t count) {
  if (count == 0) count = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < count; ++i) loops_.push_back(std::make_unique<EventLoop>());
}

void EventLoops::Stop() {
  for (const auto& loop : loops_) loop->Stop();
}

}  // namespace stele::net
