#include "cli/file_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "io/memory_file_system.h"

namespace stele::cli {
namespace {

// A terminal that can be waited for.
class ShownText final : public io::Sink {
 public:
  Status Write(std::string_view bytes) override {
    const std::lock_guard lock(mutex_);
    text_ += bytes;
    grown_.notify_all();
    return {};
  }
  void WaitFor(std::string_view text) {
    std::unique_lock lock(mutex_);
    grown_.wait(lock, [&] { return text_.find(text) != text_.npos; });
  }
  std::string text() const { return text_; }

 private:
  std::mutex mutex_;
  std::condition_variable grown_;
  std::string text_;
};

TEST(FileJobs, I5_ProgressHasABarAPercentageARateAndTheTimeThatIsLeft) {
  io::MemoryFileSystem fs;
  for (const char* path : {"1", "2"}) {
    auto file = fs.Create(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->Append(std::string(2'000'000, 'x')));
  }
  io::ManualClock clock(Timestamp{0});
  io::SeededRandom random(1);
  io::StringSink out;
  ShownText shown;
  Context context{fs, clock, random, out, shown};
  const ExitCode code =
      RunOverFiles({"1", "2"}, 1, out, true, context, [&](FileJob& job) -> Result<ExitCode> {
        if (job.path == "1") {
          job.done += 1'000'000;
          shown.WaitFor(" s left, ");
          shown.WaitFor("[#######                       ]  25 %  1 MB of 4 MB, ");
        }
        return ExitCode::kDone;
      });
  EXPECT_EQ(code, ExitCode::kDone);
  EXPECT_THAT(shown.text(), testing::ContainsRegex("1 MB of 4 MB, [0-9]+ s left, [0-9]+ MB/s"));
  EXPECT_TRUE(shown.text().ends_with("\r\x1b[K"));
}

}  // namespace
}  // namespace stele::cli
