#pragma once

#include <cstdint>
#include <vector>

#include <sys/types.h>

namespace stele::bench {

// What processes have used since they began: take two and subtract.
struct ProcessCost {
  double cpu_us = 0;
  std::uint64_t written_bytes = 0;  // to disks

  friend ProcessCost operator-(const ProcessCost& a, const ProcessCost& b) {
    return {a.cpu_us - b.cpu_us, a.written_bytes - b.written_bytes};
  }
};

// Of this process, and of others together, by /proc. What cannot be read counts as nothing.
ProcessCost CostOfThisProcess();
ProcessCost CostOf(const std::vector<pid_t>& processes);

}  // namespace stele::bench
