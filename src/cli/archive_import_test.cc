#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_line.h"
#include "io/memory_file_system.h"

namespace stele::cli {
namespace {

using testing::HasSubstr;

struct Outcome {
  ExitCode code;
  std::string err;
};

Outcome Import(io::FileSystem& fs, std::vector<std::string> files) {
  io::ManualClock clock(Timestamp{0});
  io::SeededRandom random(1);
  io::StringSink out, err;
  Context context{fs, clock, random, out, err};
  files.insert(files.begin(), {"import", "--archive", "a", "--threads", "1"});
  const ExitCode code = RunCommandLine(SteleCommand(), files, context);
  return {code, err.content()};
}

std::string Warc(int number) {
  return fmt::format(
      "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:{}>\r\nWARC-Date: "
      "2020-01-01T00:00:00Z\r\nWARC-Target-URI: http://example.org/{}\r\n"
      "Content-Type: text/plain\r\nContent-Length: 1\r\n\r\nx\r\n\r\n",
      number, number);
}

TEST(ImportCommand, I5_AFullDiskIsSaidOnceAndTheImportGoesOnLater) {
  io::MemoryFileSystem disk;
  std::vector<std::string> files;
  for (int i = 0; i < 5; ++i) {
    files.push_back(fmt::format("{}.warc", i));
    ASSERT_TRUE(io::ReplaceFile(disk, files.back(), Warc(i)));
  }
  ASSERT_EQ(Import(disk, {files[0]}).code, ExitCode::kDone);
  disk.SetFreeBytes(1 << 20);
  const Outcome full = Import(disk, files);
  EXPECT_EQ(full.code, ExitCode::kFailed);
  const std::string kFull = "no writable volume of a has room";
  ASSERT_THAT(full.err, HasSubstr(kFull));
  EXPECT_EQ(full.err.find(kFull), full.err.rfind(kFull)) << full.err;
  EXPECT_THAT(full.err, HasSubstr("3 more of the files were not looked at; when there is room"));
  disk.SetFreeBytes(std::uint64_t{1} << 30);
  const Outcome again = Import(disk, files);
  EXPECT_EQ(again.code, ExitCode::kDone) << again.err;
  EXPECT_THAT(again.err, HasSubstr("5 files, 1 of them here already; 4 captures"));
}

}  // namespace
}  // namespace stele::cli
