#include "store_load/process_cost.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace stele::bench {
namespace {

double MicrosecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
}

// Nanoseconds, where /proc/<pid>/stat counts ticks of 10 ms.
double CpuOf(pid_t process) {
  double total_us = 0;
  std::error_code failure;
  const std::string tasks = fmt::format("/proc/{}/task", process);
  for (const auto& task : std::filesystem::directory_iterator(tasks, failure)) {
    std::ifstream file(task.path() / "schedstat");
    double on_cpu_ns = 0;
    if (file >> on_cpu_ns) total_us += on_cpu_ns / 1e3;
  }
  return total_us;
}

std::uint64_t WrittenBy(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/io", process));
  std::string name;
  std::uint64_t value = 0;
  while (file >> name >> value) {
    if (name == "write_bytes:") return value;
  }
  return 0;
}

}  // namespace

ProcessCost CostOfThisProcess() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return {MicrosecondsOf(used.ru_utime) + MicrosecondsOf(used.ru_stime), 0};
}

ProcessCost CostOf(const std::vector<pid_t>& processes) {
  ProcessCost cost;
  for (const pid_t process : processes) {
    cost.cpu_us += CpuOf(process);
    cost.written_bytes += WrittenBy(process);
  }
  return cost;
}

}  // namespace stele::bench
