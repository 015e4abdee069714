// Compacting takes long: what is to be told goes to the client line by line, and a blank line now
// and then, so that it knows that the server is there. A client that has gone is noticed by that,
// and the compaction ends where it is.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <thread>

#include "store/remote/volume_service_call.h"
#include "store/remote/wire_compact.h"
#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr std::string_view kLines = "application/x-ndjson";
constexpr std::chrono::seconds kSilenceMax{2};
constexpr std::string_view kUsualPercent = "50";

// Lines between the thread that makes them and the one that sends them.
class WaitingLines {
 public:
  void Add(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_ += line;
    changed_.notify_one();
  }
  void End() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_one();
  }
  // What was added since, a blank line when nothing was for a while, nothing at the end.
  std::optional<std::string> Take() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kSilenceMax, [&] { return ended_ || !lines_.empty(); });
    if (!lines_.empty()) return std::exchange(lines_, {});
    return ended_ ? std::nullopt : std::optional<std::string>("\n");
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string lines_;
  bool ended_ = false;
};

}  // namespace

void VolumeService::Compact(Call& call) {
  const auto given = call.query.find("below");
  const auto percent =
      ParseDecimal(given == call.query.end() ? kUsualPercent : std::string_view(given->second));
  if (!percent || *percent > 100) {
    return call.Fail(
        {ErrorCode::kInvalid, "parameter 'below' must be a number of percent, from 0 to 100"});
  }
  const std::unique_lock turn(compacting_, std::try_to_lock);
  if (!turn) return call.Fail({ErrorCode::kBusy, "a volume is being compacted here already"});
  WaitingLines lines;
  std::atomic<bool> gone = false;
  CompactOptions options;
  options.used_share_max = static_cast<double>(*percent) / 100;
  options.progress = [&](std::uint64_t done_bytes, std::uint64_t all_bytes) {
    lines.Add(wire::CompactLineJson(wire::CompactProgress{done_bytes, all_bytes}));
  };
  options.report = [&](const Finding& finding) { lines.Add(wire::CompactLineJson(finding)); };
  options.stop = [&] { return gone.load(); };
  Result<std::uint64_t> freed = std::uint64_t{0};
  std::thread compaction([&] {
    freed = call.volume->Compact(options);
    lines.End();
  });
  bool started = false;
  const auto send = [&](const std::string& text) {
    Status sent = started ? Status() : call.response.Start(call.StartOf(200, kLines));
    started = true;
    if (sent) sent = call.response.Write(text);
    return sent ? call.response.Flush() : sent;
  };
  while (const std::optional<std::string> text = lines.Take()) {
    if (!gone) gone = !send(*text).ok();
  }
  compaction.join();
  if (!started && !freed) return call.Fail(freed.error());
  if (gone) return;
  const wire::CompactLine end = freed ? wire::CompactLine(wire::Compacted{*freed}) : freed.error();
  static_cast<void>(send(wire::CompactLineJson(end)).ok());
}

}  // namespace stele::store
