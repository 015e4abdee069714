// The commands that write archive files, on disks that fail.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_line.h"
#include "cli/held_block.h"
#include "codec/gzip_codec.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"

namespace stele::cli {
namespace {

using testing::HasSubstr;

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

Outcome Try(io::FileSystem& fs, const std::vector<std::string>& words) {
  io::ManualClock clock(Timestamp{0});
  io::SeededRandom random(1);
  io::StringSink out, err;
  Context context{fs, clock, random, out, err};
  const ExitCode code = RunCommandLine(SteleCommand(), words, context);
  return {code, out.content(), err.content()};
}

std::string RecordText(int number, const std::string& block) {
  return fmt::format(
      "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:{}>\r\nWARC-Date: "
      "2020-01-01T00:00:00Z\r\nWARC-Target-URI: http://example.org/{}\r\nX-Unknown: kept\r\n"
      "Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{}\r\n\r\n",
      number, number, block.size(), block);
}

std::string Packed(const std::string& text) { return *codec::GzipCodec().Compress(text, 6); }

std::string Arc(const std::string& block) {
  return "filedesc://x.arc 0.0.0.0 20080430204825 text/plain 77\n1 0 InternetArchive\nURL "
         "IP-address Archive-date Content-type Archive-length\n\n" +
         fmt::format("http://example.org/ 192.0.2.1 20080430204826 text/html {}\n{}\n",
                     block.size(), block);
}

// One small record, and one that does not fit in memory.
std::string SampleFile() {
  return RecordText(1, "small") + RecordText(2, std::string(HeldBlock::kMemoryBytesMax + 1, 'x'));
}

// Fails the 1st, 2nd, 3rd ... disk operation of the command: the output is complete, or not there.
void ExpectAllOrNothing(const std::vector<std::pair<std::string, std::string>>& inputs,
                        const std::vector<std::string>& words, const std::string& output) {
  const auto prepare = [&](io::MemoryFileSystem& disk) {
    for (const auto& [name, bytes] : inputs) ASSERT_TRUE(io::ReplaceFile(disk, name, bytes));
  };
  io::MemoryFileSystem good;
  prepare(good);
  ASSERT_EQ(Try(good, words).code, ExitCode::kDone);
  const std::string complete = *io::ReadFile(good, output);
  for (int fail_at = 1;; ++fail_at) {
    ASSERT_LT(fail_at, 1000);
    io::MemoryFileSystem disk;
    prepare(disk);
    io::FaultFileSystem fs(disk, fail_at);
    const Outcome outcome = Try(fs, words);
    const bool exists = *disk.Exists(output);
    if (exists) {
      EXPECT_TRUE(*io::ReadFile(disk, output) == complete) << fail_at;
    }
    if (outcome.code == ExitCode::kDone) {
      EXPECT_TRUE(exists);
      break;
    }
    EXPECT_EQ(outcome.code, ExitCode::kFailed) << fail_at;
    EXPECT_THAT(outcome.err, testing::StartsWith("stele: ")) << fail_at;
  }
}

TEST(WarcRecompress, OnAFailingDiskTheOutputIsCompleteOrNotThere) {
  ExpectAllOrNothing({{"a.warc", SampleFile()}}, {"warc", "recompress", "a.warc", "--output", "o"},
                     "o");
  ExpectAllOrNothing({{"a.warc", SampleFile()}},
                     {"warc", "recompress", "a.warc", "--directory", "d", "--compression", "zstd"},
                     "d/a.warc.zst");
}

TEST(WarcFilter, OnAFailingDiskTheOutputIsCompleteOrNotThere) {
  ExpectAllOrNothing({{"a.warc", SampleFile()}, {"b.warc.gz", Packed(RecordText(3, "b"))}},
                     {"warc", "filter", "a.warc", "b.warc.gz", "--output", "o"}, "o");
}

TEST(WarcRecover, OnAFailingDiskTheOutputIsCompleteOrNotThere) {
  ExpectAllOrNothing({{"a.warc", SampleFile()}}, {"warc", "recover", "a.warc", "--output", "o"},
                     "o");
}

TEST(WarcConvert, OnAFailingDiskTheOutputIsCompleteOrNotThere) {
  const std::string large = Arc(std::string(HeldBlock::kMemoryBytesMax + 1, 'x'));
  ExpectAllOrNothing({{"a.arc", large}},
                     {"warc", "convert", "--to", "warc", "a.arc", "--output", "o"}, "o");
  ExpectAllOrNothing({{"a.arc", large}},
                     {"warc", "convert", "--to", "tianwang", "a.arc", "--output", "o"}, "o");
}

TEST(WarcRewriting, APowerFailureAfterSuccessLosesNothing) {
  io::MemoryFileSystem disk;
  ASSERT_TRUE(io::ReplaceFile(disk, "a.warc", SampleFile()));
  ASSERT_EQ(Try(disk, {"warc", "recompress", "a.warc", "--output", "o"}).code, ExitCode::kDone);
  const std::string complete = *io::ReadFile(disk, "o");
  disk.Crash();
  EXPECT_EQ(*io::ReadFile(disk, "o"), complete);
}

TEST(WarcRewriting, LeavesNoTemporaryFiles) {
  io::MemoryFileSystem disk;
  ASSERT_TRUE(io::ReplaceFile(disk, "a.warc", SampleFile()));
  ASSERT_TRUE(io::ReplaceFile(disk, "bad", "this is no archive file at all"));
  EXPECT_EQ(Try(disk, {"warc", "recompress", "a.warc", "--output", "o"}).code, ExitCode::kDone);
  EXPECT_EQ(Try(disk, {"warc", "recompress", "a.warc", "bad", "--output", "p"}).code,
            ExitCode::kFailed);
  EXPECT_THAT(*disk.List("."), testing::ElementsAre("a.warc", "bad", "o"));
}

TEST(WarcRewriting, RefusesToDestroyItsInput) {
  io::MemoryFileSystem disk;
  ASSERT_TRUE(disk.MakeDirectory("d"));
  for (const std::string name : {"a.warc", "o.part", "o.block", "d/b.warc.gz"}) {
    ASSERT_TRUE(io::ReplaceFile(disk, name, RecordText(1, "x")));
  }
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"a.warc", "--output", "a.warc"},
                                             {"a.warc", "--output", "./a.warc"},
                                             {"a.warc", "--output", "d/../a.warc"},
                                             {"o.part", "--output", "o"},
                                             {"o.block", "--output", "o"},
                                             {"d/b.warc.gz", "--directory", "d"}}) {
    std::vector<std::string> all = {"warc", "recompress", "--force"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = Try(disk, all);
    EXPECT_EQ(outcome.code, ExitCode::kFailed) << words.back();
    EXPECT_THAT(outcome.err, HasSubstr("is an input")) << words.back();
    EXPECT_EQ(*io::ReadFile(disk, words.front()), RecordText(1, "x"));
  }
}

TEST(WarcRewriting, ReplacesOnlyWhenAskedTo) {
  io::MemoryFileSystem disk;
  ASSERT_TRUE(io::ReplaceFile(disk, "a.warc", RecordText(1, "x")));
  ASSERT_TRUE(io::ReplaceFile(disk, "o", "old"));
  const Outcome refused = Try(disk, {"warc", "recompress", "a.warc", "--output", "o"});
  EXPECT_EQ(refused.code, ExitCode::kFailed);
  EXPECT_THAT(refused.err, HasSubstr("--force"));
  EXPECT_EQ(*io::ReadFile(disk, "o"), "old");
  EXPECT_EQ(Try(disk, {"warc", "recompress", "a.warc", "--output", "o", "--force"}).code,
            ExitCode::kDone);
}

TEST(WarcRewriting, OneOutputForEachInputOrOneForAll) {
  io::MemoryFileSystem disk;
  ASSERT_TRUE(disk.MakeDirectory("d"));
  ASSERT_TRUE(io::ReplaceFile(disk, "a.warc", RecordText(1, "x")));
  ASSERT_TRUE(io::ReplaceFile(disk, "d/a.warc", RecordText(2, "y")));
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"warc", "recompress", "a.warc"},
           {"warc", "recompress", "a.warc", "--output", "o", "--directory", "e"},
           {"warc", "recompress", "a.warc", "--output", "o", "--level", "13"},
           {"warc", "recompress", "a.warc", "--output", "o", "--compression", "lzma"},
           {"warc", "recompress", "a.warc", "--output", "o", "--dictionary", "none"},
           {"warc", "convert", "a.warc", "--output", "o"},
           {"warc", "convert", "--to", "arc", "a.warc", "--output", "o"},
           {"warc", "convert", "--to", "warc", "--compress", "a.warc", "--output", "o"},
           {"warc", "filter", "--status", "x", "a.warc", "--output", "o"},
           {"warc", "recover", "--output", "o"},
           {"warc", "cat", "--block", "--payload", "a.warc"},
           {"warc", "cat", "--offset", "x", "a.warc"},
           {"warc", "cat", "--offset", "1", "a.warc", "d/a.warc"}}) {
    EXPECT_EQ(Try(disk, words).code, ExitCode::kUsage) << testing::PrintToString(words);
  }
  EXPECT_THAT(Try(disk, {"warc", "recompress", "a.warc", "d/a.warc", "--directory", "e"}).err,
              HasSubstr("two of the files"));
  EXPECT_THAT(*disk.List("."), testing::ElementsAre("a.warc", "d"));
}

TEST(WarcRecompress, KeepsHeadsAndBlocksByteByByte) {
  io::MemoryFileSystem disk;
  const std::string text = SampleFile();
  ASSERT_TRUE(io::ReplaceFile(disk, "whole.warc.gz", Packed(text)));
  for (const std::string compression : {"gzip", "zstd", "none"}) {
    ASSERT_EQ(Try(disk, {"warc", "recompress", "whole.warc.gz", "--force", "--compression",
                         compression, "--output", "o"})
                  .code,
              ExitCode::kDone);
    const Outcome unpacked = Try(disk, {"warc", "cat", "o"});
    EXPECT_EQ(unpacked.code, ExitCode::kDone);
    EXPECT_TRUE(unpacked.out == text) << compression;
    EXPECT_EQ(Try(disk, {"warc", "check", "o"}).code, ExitCode::kDone) << compression;
  }
}

}  // namespace
}  // namespace stele::cli
