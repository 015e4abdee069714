// Crawls into an archive until it is killed: captures come from several threads. Says on its
// standard output which of them are acknowledged, and their ids.
//
//   run_writer_kill_child DIRECTORY FIRST
#include <unistd.h>

#include <atomic>
#include <thread>

#include "archive/archive_writer.h"
#include "archive/test_crawl.h"
#include "io/clock.h"
#include "io/posix_file_system.h"
#include "io/random.h"
#include "util/ascii.h"

namespace stele::archive {
namespace {

void Say(const std::string& line) {
  // One write of less than PIPE_BUF bytes is never torn.
  static_cast<void>(::write(STDOUT_FILENO, line.data(), line.size()) == 0);
}

int Main(const std::string& directory, int first) {
  io::PosixFileSystem fs;
  io::SystemClock clock;
  io::SystemRandom random;
  auto archive = ArchiveWriter::Open({fs, clock, random, "a test"}, directory);
  if (!archive) {
    Say("bad " + archive.error().text + "\n");
    return 1;
  }
  const Result<std::uint32_t> run = (*archive)->BeginRun("crawl", "");
  if (!run) return 1;
  RunWriter writer(**archive, *run, {.container_bytes = 50000});
  std::atomic<int> next = first;
  const auto crawl = [&] {
    for (;;) {
      const int number = next++;
      const Status appended =
          writer.Append(testing::Fetched(number, std::string(number % 5000, 'x')),
                        [number](const Result<catalog::CaptureId>& id) {
                          Say(id ? fmt::format("has {} {} {}\n", number, id->batch, id->serial)
                                 : "bad " + id.error().text + "\n");
                        });
      if (!appended) Say("bad " + appended.error().text + "\n");
    }
  };
  std::thread other(crawl);
  crawl();
  return 0;
}

}  // namespace
}  // namespace stele::archive

int main(int, char** arguments) {
  return stele::archive::Main(arguments[1], std::atoi(arguments[2]));
}
