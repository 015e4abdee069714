#include "archive/tianwang_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/test_archive.h"
#include "archive/test_segments.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::PutFile;
using testing::WarcText;

constexpr const char* kThen = "2004-05-30T01:02:03Z";
constexpr const char* kLater = "2005-05-30T01:02:03Z";

class TianwangExportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(lab_.Create());
    archive_ = *lab_.Open();
    ASSERT_TRUE(archive_->BeginRun("import", ""));
  }
  void Import(const std::string& bytes) {
    PutFile(fs_, "in.warc", bytes);
    const auto outcome = ImportFile(*archive_, 1, "in.warc", {});
    ASSERT_TRUE(outcome) << outcome.error().text;
  }
  // All captures, in the order of the index.
  Result<std::string> Write() {
    const ArchiveView view = archive_->View();
    io::StringSink sink;
    TianwangExport pages(view, sink);
    CaptureQuery all;
    all.where.what = catalog::SelectAll();
    CaptureResults results(view, all);
    for (;;) {
      Result<const catalog::HeldCapture*> held = results.Next();
      if (!held) return held.error();
      if (*held == nullptr) break;
      const Result<bool> written = pages.Add(**held);
      if (!written) return written.error();
    }
    left_out_ = pages.left_out();
    cut_off_ = pages.cut_off();
    return sink.Take();
  }
  // "url date block" of each page, as our reader of the format has them.
  static std::vector<std::string> Pages(const std::string& bytes) {
    std::vector<std::string> pages;
    auto file = archive_file::ArchiveFile::Open(std::make_unique<io::MemorySource>(bytes), "x.tw");
    EXPECT_TRUE(file);
    record::RecordReader& reader = (*file)->reader();
    for (;;) {
      const record::Record* record = *reader.Next();
      if (record == nullptr) break;
      std::string text =
          fmt::format("{} {} ", record->target_uri, FormatIso(record->date.value_or(Timestamp{})));
      for (std::string_view piece; !(piece = *reader.ReadBlock()).empty();) text += piece;
      pages.push_back(text);
    }
    EXPECT_TRUE(reader.losses().empty());
    return pages;
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  std::unique_ptr<ArchiveWriter> archive_;
  std::map<std::string, std::uint64_t> left_out_;
  std::uint64_t cut_off_ = 0;
};

TEST_F(TianwangExportTest, I4_HasPagesAndWhatRevisitsRepeat) {
  Import(WarcText()
             .Response("http://a.example/", kThen, "same")
             .Request("http://a.example/", kThen, "GET / HTTP/1.1")
             .Revisit("http://a.example/", kLater, "same")
             .bytes());
  const Result<std::string> bytes = Write();
  ASSERT_TRUE(bytes) << bytes.error().text;
  EXPECT_TRUE(bytes->starts_with("version: 1.0\n"));
  EXPECT_THAT(Pages(*bytes),
              ElementsAre("http://a.example/ 2004-05-30T01:02:03Z HTTP/1.1 200 Any\r\n"
                          "Content-Type: text/html\r\n\r\nsame",
                          "http://a.example/ 2005-05-30T01:02:03Z HTTP/1.1 200 OK\r\n"
                          "Content-Type: text/html\r\n\r\nsame"));
  EXPECT_THAT(left_out_, IsEmpty());
}

TEST_F(TianwangExportTest, I4_SaysWhatItCannotHold) {
  Import(WarcText()
             .Revisit("http://a.example/gone", kLater, "gone")
             .Response("http://a.example/", kThen, "here")
             .bytes());
  const Result<std::string> bytes = Write();
  ASSERT_TRUE(bytes) << bytes.error().text;
  EXPECT_EQ(Pages(*bytes).size(), 1u);
  EXPECT_THAT(left_out_,
              ElementsAre(::testing::Pair("repeat captures that are not in this archive", 1u)));
}

TEST_F(TianwangExportTest, I4_SegmentsAreJoinedAlsoForRevisits) {
  Import(testing::FirstSegment() + testing::ThirdSegment());
  Import(WarcText()
             .Revisit("http://b.example/", kLater, testing::kSegmentedPayload, "http://a.example/",
                      kThen)
             .bytes());
  Import(testing::SecondSegment());
  const Result<std::string> bytes = Write();
  ASSERT_TRUE(bytes) << bytes.error().text;
  const std::string block =
      fmt::format("{}{}", testing::kSegmentedHead, testing::kSegmentedPayload);
  EXPECT_THAT(Pages(*bytes), ElementsAre("http://a.example/ 2004-05-30T01:02:03Z " + block,
                                         "http://b.example/ 2005-05-30T01:02:03Z " + block));
  EXPECT_EQ(cut_off_, 0u);
}

TEST_F(TianwangExportTest, I4_CountsWhatLacksSegments) {
  Import(testing::FirstSegment() + testing::SecondSegment());
  const Result<std::string> bytes = Write();
  ASSERT_TRUE(bytes) << bytes.error().text;
  EXPECT_THAT(Pages(*bytes),
              ElementsAre(fmt::format("http://a.example/ 2004-05-30T01:02:03Z {}one two ",
                                      testing::kSegmentedHead)));
  EXPECT_EQ(cut_off_, 1u);
}

TEST_F(TianwangExportTest, I4_WhatIsDamagedDoesNotGoOut) {
  Import(WarcText(record::Compression::kNone).Response("http://a.example/", kThen, "good").bytes());
  const std::string path = *archive_->View().PathOf(1);
  std::string bytes = *io::ReadFile(fs_, path);
  bytes.replace(bytes.find("good"), 4, "evil");
  PutFile(fs_, path, bytes);
  const Result<std::string> written = Write();
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace stele::archive
