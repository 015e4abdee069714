#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <string_view>
#include <thread>

#include "cli/command.h"

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
  // Whether one came; it counts once.
  bool Came();

 private:
  sigset_t signals_;
  sigset_t before_;
};

// Calls a function, on a thread of its own, when a person ends the program (Ctrl-C, kill), and says
// so; the second time ends it at once.
class StopWatcher {
 public:
  StopWatcher(Context& context, std::function<void()> stop);
  ~StopWatcher();
  StopWatcher(const StopWatcher&) = delete;
  StopWatcher& operator=(const StopWatcher&) = delete;

 private:
  void Watch();
  void Say(std::string_view text);

  Context& context_;
  StopSignals signals_;
  const std::function<void()> stop_;
  std::atomic<bool> over_ = false;
  std::thread watcher_;
};

}  // namespace stele::cli
