#pragma once

#include <csignal>

namespace stele::cli {

// Lets a server end when it is told to, by SIGINT or SIGTERM. Threads that are made later inherit
// the mask, which leaves the signals to Wait(): make it before them.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  void Wait();

 private:
  sigset_t signals_;
  sigset_t before_;
};

}  // namespace stele::cli
