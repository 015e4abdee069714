// Stores, deletes and compacts in a volume until it is killed. Says on its standard output what it
// is about to do and what was acknowledged.
//
//   volume_kill_child KIND DIRECTORY RUN
#include <unistd.h>

#include <cstdio>
#include <thread>
#include <vector>

#include "store/volume_kill_lab.h"

namespace stele::store {
namespace {

constexpr int kThreads = 4;

void Say(const std::string& line) {
  // One write of less than PIPE_BUF bytes is never torn.
  static_cast<void>(::write(STDOUT_FILENO, line.data(), line.size()) == 0);
}

// Each thread deletes only what it stored itself.
void Work(Volume& volume, const std::string& run, int thread) {
  io::SeededRandom dice(std::stoul(run) * 100 + static_cast<unsigned>(thread));
  int last = -1;
  for (int i = 0;; ++i) {
    const char act = last >= 0 && dice.Next() % 3 > 0 ? '-' : '+';
    const int number = act == '-' ? last : static_cast<int>(dice.Next() % kKillContents);
    const std::string id = fmt::format("{}-{}-{}", run, thread, i);
    Say(fmt::format("try {} {} {}\n", act, number, id));
    const Status done = KillLab::Perform(volume, act, number, id);
    Say(fmt::format("{} {} {} {}\n", done ? "ack" : "bad", act, number, id));
    last = act == '-' ? -1 : number;
  }
}

int Main(const std::string& kind, const std::string& directory, const std::string& run) {
  KillLab lab;
  const Result<std::unique_ptr<Volume>> volume = lab.Open(kind, directory);
  if (!volume) {
    std::fprintf(stderr, "%s\n", volume.error().text.c_str());
    return 1;
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] { Work(**volume, run, t); });
  }
  for (;;) {
    const Result<std::uint64_t> freed = (*volume)->Compact({});
    Say(freed ? "compacted\n" : "bad compact: " + freed.error().text + "\n");
  }
}

}  // namespace
}  // namespace stele::store

int main(int argc, char** argv) {
  return argc == 4 ? stele::store::Main(argv[1], argv[2], argv[3]) : 2;
}
