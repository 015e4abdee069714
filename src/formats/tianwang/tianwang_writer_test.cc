#include "formats/tianwang/tianwang_writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/record/test_reading.h"
#include "formats/tianwang/tianwang_grammar.h"
#include "io/fault_file_system.h"
#include "io/posix_file_system.h"
#include "util/test_paths.h"

namespace stele::tianwang {
namespace {

using record::Reading;
using record::RecordReader;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<record::Grammar> NewGrammar() { return std::make_unique<TianwangGrammar>(); }

Timestamp Time() { return *ParseIso("2003-04-15T08:13:06Z"); }

Page MakePage(std::string_view url, std::string_view data) {
  return {.url = url, .time = Time(), .data = data};
}

std::string Written(const Page& page) {
  io::StringSink sink;
  Writer writer(sink);
  EXPECT_TRUE(writer.Write(page));
  return sink.Take();
}

// Reads all records and writes them anew.
std::string Rewritten(std::string_view file) {
  io::StringSink sink;
  Writer writer(sink);
  io::MemorySource source(file);
  RecordReader reader(*record::OpenRecordInput(source), NewGrammar());
  while (const record::Record* record = *reader.Next()) {
    std::string data;
    for (std::string_view piece; !(piece = *reader.ReadBlock()).empty();) data += piece;
    Page page;
    page.url = record->target_uri;
    page.origin = record->fields.Find("origin").value_or("");
    page.time = *record->date;
    page.ip = record->fields.Find("ip").value_or("");
    page.data = data;
    page.unzip_length = record->decoded_length;
    Result<record::Extent> written = writer.Write(page);
    EXPECT_TRUE(written);
    Result<record::Extent> read = reader.Finish();
    EXPECT_EQ(written->offset, read->offset);
    EXPECT_EQ(written->length, read->length);
    EXPECT_TRUE(reader.defects().empty());
  }
  EXPECT_TRUE(reader.losses().empty());
  return sink.Take();
}

TEST(TianwangWriter, I4_WritesTheRecordOfThePaper) {
  Page page = MakePage("http://www.pku.edu.cn/", "HTTP/1.0 200 OK\n\n<html>");
  page.origin = "http://www.somewhere.cn/";
  page.ip = "162.105.129.12";
  EXPECT_EQ(Written(page),
            "version: 1.0\nurl: http://www.pku.edu.cn/\norigin: http://www.somewhere.cn/\n"
            "date: Tue, 15 Apr 2003 08:13:06 GMT\nip: 162.105.129.12\nlength: 23\n\n"
            "HTTP/1.0 200 OK\n\n<html>\n");
}

TEST(TianwangWriter, I4_LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(Written(MakePage("http://a/", "")),
            "version: 1.0\nurl: http://a/\ndate: Tue, 15 Apr 2003 08:13:06 GMT\nlength: 0\n\n\n");
}

TEST(TianwangWriter, I4_CompressedPagesComeBackAsTheyWere) {
  Page page = MakePage("http://a/", "text text text text text text text");
  page.compress = true;
  const std::string file = Written(page);
  EXPECT_THAT(file, HasSubstr("\nunzip-length: 34\nlength: "));
  const Reading reading = ReadAsFile(file, NewGrammar);
  EXPECT_THAT(reading.good, ElementsAre("http://a/ text text text text text text text"));
  EXPECT_TRUE(reading.rules.empty());
}

TEST(TianwangWriter, I4_AnyDataComesBackByteForByte) {
  std::string file;
  std::vector<std::string> expected;
  for (const std::string& data :
       {std::string("\n\n\n"), std::string("version: 1.0\nlength: 1\n\n"), std::string(1, '\0'),
        std::string("\r\n"), std::string(100'000, '\n'), std::string()}) {
    for (const bool compress : {false, true}) {
      Page page = MakePage("http://a/", data);
      page.compress = compress;
      file += Written(page);
      expected.push_back("http://a/ " + data);
    }
  }
  EXPECT_EQ(ReadAsFile(file, NewGrammar).good, expected);
  EXPECT_EQ(Rewritten(file), file);
}

TEST(TianwangWriter, I4_DataInPiecesIsWrittenAsInOne) {
  const Page page = MakePage("http://a/", "some data");
  io::StringSink sink;
  Writer writer(sink);
  ASSERT_TRUE(writer.Begin(page, 9));
  ASSERT_TRUE(writer.Append("some "));
  ASSERT_TRUE(writer.Append("data"));
  const Result<record::Extent> first = writer.End();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->length, Written(page).size());
  EXPECT_EQ(writer.Write(page)->offset, first->length);
  EXPECT_EQ(sink.content(), Written(page) + Written(page));
}

TEST(TianwangWriter, I4_RefusesWhatWouldBreakTheRules) {
  io::StringSink sink;
  Writer writer(sink);
  std::vector<Page> bad(8, MakePage("http://a/", "data"));
  bad[0].url = "";
  bad[1].url = "http://a/\nlength: 3";
  bad[2].origin = "http://a/\r";
  bad[3].ip = " 192.0.2.1";
  bad[4].compress = true;
  bad[4].unzip_length = 3;
  bad[5].time = Timestamp{std::int64_t{1} << 60};
  bad[6].time = Timestamp{-(std::int64_t{1} << 60)};
  const std::string long_url(40'000, 'a');
  bad[7].url = long_url;
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const Result<record::Extent> written = writer.Write(bad[i]);
    ASSERT_FALSE(written) << i;
    EXPECT_EQ(written.error().code, ErrorCode::kInvalid) << i;
  }
  EXPECT_EQ(sink.content(), "");
  EXPECT_TRUE(writer.Write(MakePage("http://a/", "data")));
}

TEST(TianwangWriter, I4_TheGoldenFileIsReadAndWrittenIdentically) {
  io::PosixFileSystem fs;
  Result<std::string> golden = io::ReadFile(fs, SourcePath("src/formats/tianwang/golden/v1.tw"));
  ASSERT_TRUE(golden);
  const Reading reading = ReadAsFile(*golden, NewGrammar);
  EXPECT_THAT(
      reading.good,
      ElementsAre("http://www.pku.edu.cn/ HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
                  "<html>Peking University</html>",
                  "http://example.org/page <p>a page and no HTTP head</p>\n",
                  fmt::format("http://example.org/packed HTTP/1.1 200 OK\r\n\r\n{:x>200}", "")));
  EXPECT_THAT(reading.types, ElementsAre("response", "resource", "response"));
  EXPECT_TRUE(reading.losses.empty());
  EXPECT_TRUE(reading.rules.empty());
  EXPECT_EQ(Rewritten(*golden), *golden);
}

// However the disk fails, every record that was acknowledged is there, and what follows is named.
TEST(TianwangWriter, AFailingDiskLosesNoAcknowledgedRecord) {
  for (int fail_at = 1;; ++fail_at) {
    io::MemoryFileSystem disk;
    io::FaultFileSystem fs(disk, fail_at);
    std::size_t acknowledged = 0;
    bool failed = true;
    if (Result<std::unique_ptr<io::WritableFile>> file = fs.Create("f.tw"); file) {
      io::FileSink sink(**file);
      Writer writer(sink);
      failed = false;
      for (int i = 0; i < 4; ++i) {
        const std::string url = fmt::format("http://a/{}", i);
        Page page = MakePage(url, "some data");
        page.compress = i == 1;
        const Result<record::Extent> written = writer.Write(page);
        EXPECT_FALSE(failed && written) << "a record after a failure";
        failed |= !written;
        if (written) ++acknowledged;
      }
    }
    if (Result<std::string> bytes = io::ReadFile(disk, "f.tw"); bytes) {
      const Reading reading = ReadAsFile(*bytes, NewGrammar);
      ASSERT_GE(reading.good.size(), acknowledged);
      for (std::size_t i = 0; i < acknowledged; ++i) {
        EXPECT_EQ(reading.good[i], fmt::format("http://a/{} some data", i)) << fail_at;
      }
    }
    if (!failed) break;
  }
}

}  // namespace
}  // namespace stele::tianwang
