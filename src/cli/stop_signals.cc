#include "cli/stop_signals.h"

#include <pthread.h>

namespace stele::cli {

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

}  // namespace stele::cli
