// The files are started in order, so the one whose turn it is to write is always running: the
// others may wait for it when their buffers are full, and nothing can stand still.
#include "cli/file_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "util/ascii.h"

namespace stele::cli {
namespace {

constexpr std::size_t kWaitingBytesMax = 8 << 20;  // of one file, before its turn
constexpr std::size_t kWriteBytes = 64 * 1024;

class OrderedOutput {
 public:
  OrderedOutput(io::Sink& out, std::size_t count)
      : out_(out), ended_(count, false), waiting_(count) {}

  Status Write(std::size_t index, std::string_view bytes) {
    std::unique_lock lock(mutex_);
    waiting_[index] += bytes;
    if (waiting_[index].size() >= kWaitingBytesMax) {
      turn_changed_.wait(lock, [&] { return turn_ == index; });
    }
    if (turn_ != index || waiting_[index].size() < kWriteBytes) return status_;
    return Pass(index);
  }

  Status End(std::size_t index) {
    const std::lock_guard lock(mutex_);
    ended_[index] = true;
    while (turn_ < ended_.size() && ended_[turn_]) static_cast<void>(Pass(turn_++).ok());
    if (turn_ < ended_.size()) static_cast<void>(Pass(turn_).ok());
    turn_changed_.notify_all();
    return status_;
  }

 private:
  // Requires: mutex_ is held. The first error stays.
  Status Pass(std::size_t index) {
    if (status_ && !waiting_[index].empty()) status_ = out_.Write(waiting_[index]);
    waiting_[index].clear();
    return status_;
  }

  io::Sink& out_;
  std::mutex mutex_;
  std::condition_variable turn_changed_;
  std::size_t turn_ = 0;
  std::vector<bool> ended_;
  std::vector<std::string> waiting_;
  Status status_;
};

class OrderedSink final : public io::Sink {
 public:
  OrderedSink(OrderedOutput& output, std::size_t index) : output_(output), index_(index) {}
  Status Write(std::string_view bytes) override { return output_.Write(index_, bytes); }

 private:
  OrderedOutput& output_;
  std::size_t index_;
};

std::string Megabytes(double bytes) { return fmt::format("{:.0f} MB", bytes / 1e6); }

// One line that is drawn over and over.
class ProgressBar {
 public:
  ProgressBar(Context& context, std::uint64_t total)
      : context_(context), total_(total), begin_(std::chrono::steady_clock::now()) {}

  void Draw(std::uint64_t done) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    const double speed = static_cast<double>(done) / std::max(spent.count(), 0.001);
    std::string line = Megabytes(static_cast<double>(done));
    if (total_ > 0) {
      const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
      const auto filled = static_cast<std::size_t>(share * 30);
      const double left =
          (static_cast<double>(total_) - static_cast<double>(done)) / std::max(speed, 1.0);
      line = fmt::format("[{:<30}] {:3.0f} %  {} of {}, {} left", std::string(filled, '#'),
                         share * 100, line, Megabytes(static_cast<double>(total_)),
                         fmt::format("{:.0f} s", std::max(left, 0.0)));
    }
    Put(fmt::format("\r\x1b[K{}, {}/s", line, Megabytes(speed)));
  }

  void Clear() { Put("\r\x1b[K"); }

 private:
  void Put(const std::string& text) { static_cast<void>(context_.err.Write(text).ok()); }

  Context& context_;
  std::uint64_t total_;
  std::chrono::steady_clock::time_point begin_;
};

std::uint64_t TotalSize(const std::vector<std::string>& paths, Context& context) {
  std::uint64_t total = 0;
  for (const std::string& path : paths) {
    if (path == "-") return 0;
    auto file = context.fs.OpenForReading(path);
    if (!file) continue;
    const Result<std::uint64_t> size = (*file)->Size();
    if (size) total += *size;
  }
  return total;
}

// Shared by the threads of one command.
struct Run {
  const std::vector<std::string>& paths;
  const FileTask& task;
  Context& context;
  OrderedOutput output;
  std::atomic<std::size_t> next = 0;
  std::atomic<std::uint64_t> done = 0;
  std::mutex mutex = {};
  std::condition_variable ended = {};
  int running = 0;
  ExitCode worst = ExitCode::kDone;

  void Work() {
    for (std::size_t i = next++; i < paths.size(); i = next++) {
      OrderedSink sink(output, i);
      FileJob job{paths[i], sink, done};
      const Result<ExitCode> outcome = task(job);
      const Status written = output.End(i);
      const std::lock_guard lock(mutex);
      if (!outcome) Complain(context, outcome.error().text);
      if (outcome && !written) Complain(context, written.error().text);
      const ExitCode code = outcome && written ? *outcome : ExitCode::kFailed;
      worst = std::max(worst, code);
    }
    const std::lock_guard lock(mutex);
    --running;
    ended.notify_all();
  }
};

}  // namespace

ExitCode RunOverFiles(const std::vector<std::string>& paths, int threads, io::Sink& out,
                      bool show_progress, Context& context, const FileTask& task) {
  Run run{paths, task, context, OrderedOutput(out, paths.size())};
  const int workers = std::min<int>(threads, static_cast<int>(paths.size()));
  if (workers <= 1 && !show_progress) {
    run.running = 1;
    run.Work();
    return run.worst;
  }
  ProgressBar bar(context, show_progress ? TotalSize(paths, context) : 0);
  std::vector<std::thread> pool;
  run.running = workers;
  for (int i = 0; i < workers; ++i) pool.emplace_back([&run] { run.Work(); });
  {
    std::unique_lock lock(run.mutex);
    while (!run.ended.wait_for(lock, std::chrono::milliseconds(200),
                               [&] { return run.running == 0; })) {
      if (show_progress) bar.Draw(run.done);
    }
  }
  for (std::thread& thread : pool) thread.join();
  if (show_progress) bar.Clear();
  return run.worst;
}

std::vector<Option> WithFileOptions(std::vector<Option> options) {
  options.push_back({"--threads", "N", "Work on up to N files at a time", "one per core"});
  options.push_back({"--quiet", "", "No progress bar and no summary"});
  return options;
}

int ThreadsOf(const Arguments& arguments, Context& context) {
  const std::optional<std::string> text = arguments.Get("--threads");
  if (!text) return context.cores;
  const std::optional<std::uint64_t> number = ParseDecimal(*text);
  if (!number || *number < 1 || *number > 1024) {
    Complain(context, fmt::format("--threads {} is not a number from 1 to 1024", *text));
    return 0;
  }
  return static_cast<int>(*number);
}

bool ShowsProgress(const Arguments& arguments, const Context& context) {
  return context.err_is_terminal && !arguments.Has("--quiet");
}

bool HasFiles(const Arguments& arguments, Context& context) {
  if (!arguments.positionals.empty()) return true;
  Complain(context, "Which file? Use - for standard input.");
  return false;
}

}  // namespace stele::cli
