// Adds captures to a catalog, and merges it, until it is killed. Says on its standard output which
// serial comes next after each sync.
//
//   catalog_kill_child DIRECTORY FIRST_SERIAL
#include <unistd.h>

#include <cstdio>
#include <deque>
#include <thread>
#include <vector>

#include "catalog/catalog_kill_lab.h"
#include "io/posix_file_system.h"

namespace stele::catalog {
namespace {

void Say(const std::string& line) {
  // One write of less than PIPE_BUF bytes is never torn.
  static_cast<void>(::write(STDOUT_FILENO, line.data(), line.size()) == 0);
}

void Merge(Catalog& catalog) {
  for (int round = 0;; ++round) {
    const Result<bool> done = catalog.Maintain();
    if (!done) Say("bad " + done.error().text + "\n");
    if (done && *done) Say("merged\n");
    if (round % 2 != 1) continue;
    if (const Status all = catalog.Compact(); !all) Say("bad " + all.error().text + "\n");
    Say("compacted\n");
  }
}

int Main(const std::string& directory, std::uint32_t serial) {
  io::PosixFileSystem fs;
  PageCache cache(1 << 20);
  const Result<std::unique_ptr<Catalog>> catalog =
      Catalog::Open(fs, directory, cache, kKillOptions);
  if (!catalog) {
    Say("bad " + catalog.error().text + "\n");
    return 1;
  }
  std::thread merging([&] { Merge(**catalog); });
  for (;;) {
    std::deque<std::string> urls;
    std::vector<Capture> captures;
    for (std::uint32_t i = 0; i <= serial % 40; ++i) {
      captures.push_back(KillCapture(serial + i, urls.emplace_back()));
    }
    Status done = (*catalog)->Append(captures);
    serial += static_cast<std::uint32_t>(captures.size());
    if (done && serial % 3 == 0) done = (*catalog)->Sync();
    if (!done) Say("bad " + done.error().text + "\n");
    // A killed process leaves its files as they are: what was added is there, synced or not.
    Say(fmt::format("next {}\n", serial));
  }
}

}  // namespace
}  // namespace stele::catalog

int main(int argc, char** argv) {
  return argc == 3 ? stele::catalog::Main(argv[1], static_cast<std::uint32_t>(std::stoul(argv[2])))
                   : 2;
}
