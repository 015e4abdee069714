#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "cli/command_line.h"
#include "io/posix_file_system.h"

namespace {

// Messages of several threads do not cut each other.
class LockedSink final : public stele::io::Sink {
 public:
  explicit LockedSink(stele::io::Sink& base) : base_(base) {}
  stele::Status Write(std::string_view bytes) override {
    const std::lock_guard lock(mutex_);
    return base_.Write(bytes);
  }

 private:
  stele::io::Sink& base_;
  std::mutex mutex_;
};

}  // namespace

int main(int count, char** words) {
  stele::io::PosixFileSystem fs;
  stele::io::SystemClock clock;
  stele::io::SystemRandom random;
  stele::io::DescriptorSink out(STDOUT_FILENO);
  stele::io::DescriptorSink raw_err(STDERR_FILENO);
  LockedSink err(raw_err);
  stele::cli::Context context{fs,
                              clock,
                              random,
                              out,
                              err,
                              ::isatty(STDERR_FILENO) == 1,
                              static_cast<int>(std::max(1u, std::thread::hardware_concurrency())),
                              ::isatty(STDOUT_FILENO) == 1};
  const std::vector<std::string> arguments(words + std::min(count, 1), words + count);
  return static_cast<int>(
      stele::cli::RunCommandLine(stele::cli::SteleCommand(), arguments, context));
}
