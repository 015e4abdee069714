// Crawls into an archive until it is killed, one run after another: captures come from several
// threads, and indexes are merged at the end of each run. Says on its standard output which
// captures are acknowledged, and their ids.
//
//   run_writer_kill_child DIRECTORY FIRST
#include <unistd.h>

#include <atomic>
#include <thread>

#include "archive/archive_writer.h"
#include "archive/test_crawl.h"
#include "archive/test_indexes.h"
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

bool CrawlOnce(ArchiveWriter& archive, std::atomic<int>& next) {
  const Result<std::uint32_t> run = archive.BeginRun("crawl", "");
  if (!run) return false;
  RunWriter writer(archive, *run, {.container_bytes = 50000});
  const auto crawl = [&] {
    for (int i = 0; i < 40; ++i) {
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
  other.join();
  return writer.Finish() && archive.EndRun(*run);
}

int Main(const std::string& directory, int first) {
  io::PosixFileSystem fs;
  io::SystemClock clock;
  io::SystemRandom random;
  auto archive =
      ArchiveWriter::Open({fs, clock, random, "a test", testing::kSmallIndexes}, directory);
  if (!archive) {
    Say("bad " + archive.error().text + "\n");
    return 1;
  }
  std::atomic<int> next = first;
  for (;;) {
    if (!CrawlOnce(**archive, next)) {
      Say("bad run\n");
      return 1;
    }
  }
}

}  // namespace
}  // namespace stele::archive

int main(int, char** arguments) {
  return stele::archive::Main(arguments[1], std::atoi(arguments[2]));
}
