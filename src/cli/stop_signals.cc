#include "cli/stop_signals.h"

#include <pthread.h>
#include <unistd.h>

namespace stele::cli {
namespace {

constexpr int kInterrupted = 128 + SIGINT;

}  // namespace

StopSignals::StopSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

StopSignals::~StopSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void StopSignals::Wait() {
  int signal = 0;
  sigwait(&signals_, &signal);
}

bool StopSignals::Came() {
  constexpr timespec kNow{};
  return sigtimedwait(&signals_, nullptr, &kNow) >= 0;
}

StopWatcher::StopWatcher(Context& context, std::function<void()> stop)
    : context_(context), stop_(std::move(stop)), watcher_([this] { Watch(); }) {}

StopWatcher::~StopWatcher() {
  over_ = true;
  pthread_kill(watcher_.native_handle(), SIGTERM);  // it alone gets this one
  watcher_.join();
}

void StopWatcher::Watch() {
  bool asked = false;
  for (;;) {
    signals_.Wait();
    if (over_) return;
    if (asked) {
      Say("ended at once; what was not stored yet is fetched again");
      ::_exit(kInterrupted);
    }
    asked = true;
    Say("stopping when what is under way is stored; Ctrl-C again ends at once");
    stop_();
  }
}

void StopWatcher::Say(std::string_view text) {
  // The line of progress stays above it.
  if (context_.err_is_terminal) static_cast<void>(context_.err.Write("\n"));
  Complain(context_, text);
}

}  // namespace stele::cli
