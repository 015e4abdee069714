#include "cli/counter.h"

#include <fmt/format.h>

namespace stele::cli {
namespace {

constexpr std::chrono::milliseconds kPause{200};

}  // namespace

Counter::~Counter() {
  if (drawn_) static_cast<void>(context_.err.Write("\r\x1b[K").ok());
}

void Counter::Show(std::uint64_t done) {
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || now < next_) return;
  next_ = now + kPause;
  drawn_ = true;
  const std::string of = total_ > 0 ? fmt::format(" of {}", total_) : "";
  static_cast<void>(context_.err.Write(fmt::format("\r\x1b[K{}{} {}", done, of, what_)).ok());
}

}  // namespace stele::cli
