#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "cli/command.h"

namespace stele::cli {

// Counts on the terminal, in one line that is drawn over and over, a few times a second: "1200 of
// 5000 blocks". Draws nothing when it is not shown. Not thread-safe. Borrows the context for life.
class Counter {
 public:
  // `total` of 0: not known.
  Counter(Context& context, bool shown, std::string what, std::uint64_t total = 0)
      : context_(context), shown_(shown), what_(std::move(what)), total_(total) {}
  ~Counter();
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  void Show(std::uint64_t done);

 private:
  Context& context_;
  const bool shown_;
  const std::string what_;
  const std::uint64_t total_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_ = {};
};

}  // namespace stele::cli
