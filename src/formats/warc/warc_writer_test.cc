#include "formats/warc/warc_writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "formats/record/record_reader.h"
#include "formats/warc/warc_grammar.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "util/test_paths.h"

namespace stele::warc {
namespace {

FieldList Resource(int number) {
  FieldList fields;
  fields.Add("WARC-Type", "resource");
  fields.Add("WARC-Record-ID", fmt::format("<urn:uuid:{}>", number));
  fields.Add("WARC-Date", "2014-01-26T20:06:24Z");
  fields.Add("WARC-Target-URI", fmt::format("http://example.org/{}", number));
  return fields;
}

struct Written {
  std::string id;
  std::string block;
  std::uint64_t offset;
  std::uint64_t length;
  friend bool operator==(const Written&, const Written&) = default;
};

std::vector<Written> ReadBack(const std::string& file) {
  std::vector<Written> all;
  io::MemorySource source(file);
  record::RecordReader reader(*record::OpenRecordInput(source), std::make_unique<WarcGrammar>());
  for (;;) {
    Result<const record::Record*> next = reader.Next();
    EXPECT_TRUE(next.ok());
    if (!next || *next == nullptr) break;
    Written one{std::string((*next)->record_id()), "", (*next)->offset, 0};
    EXPECT_EQ((*next)->version, "1.1");
    for (;;) {
      Result<std::string_view> piece = reader.ReadBlock();
      EXPECT_TRUE(piece.ok());
      if (!piece || piece->empty()) break;
      one.block += *piece;
    }
    one.length = reader.Finish()->length;
    EXPECT_TRUE(reader.defects().empty());
    all.push_back(std::move(one));
  }
  EXPECT_TRUE(reader.losses().empty());
  return all;
}

std::string Pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * i >> 7);
  return text;
}

TEST(WarcWriter, EveryCompressionRoundTripsSmallAndLargeRecords) {
  for (const std::string& dictionary : {std::string(), Pattern(5000)}) {
    for (const auto compression :
         {record::Compression::kNone, record::Compression::kGzip, record::Compression::kZstd}) {
      io::StringSink sink;
      auto writer = WarcWriter::Create(sink, {compression, 3, dictionary});
      ASSERT_TRUE(writer);
      std::vector<Written> expected;
      for (const std::size_t size : {0, 1, 5000, 1'048'000, 3'000'000}) {
        const std::string block = Pattern(size);
        const int number = static_cast<int>(size);
        Result<record::Extent> extent = (*writer)->Write(Resource(number), block);
        ASSERT_TRUE(extent);
        expected.push_back(
            {fmt::format("<urn:uuid:{}>", number), block, extent->offset, extent->length});
      }
      EXPECT_TRUE(ReadBack(sink.content()) == expected) << static_cast<int>(compression);
    }
  }
}

TEST(WarcWriter, ABlockInPiecesIsTheSameRecordAsInOne) {
  const std::string block = Pattern(2'500'000);
  for (const std::size_t piece : {1000, 1'100'000}) {
    io::StringSink sink;
    auto writer = WarcWriter::Create(sink, {});
    ASSERT_TRUE((*writer)->Begin(Resource(1), block.size()));
    for (std::size_t at = 0; at < block.size(); at += piece) {
      ASSERT_TRUE((*writer)->Append(std::string_view(block).substr(at, piece)));
    }
    ASSERT_TRUE((*writer)->End());
    EXPECT_TRUE(ReadBack(sink.content()).at(0).block == block);
  }
}

TEST(WarcWriter, ACopyKeepsHeadAndSeparatorByteByByte) {
  const std::string head = "WARC/0.18\nwarc-type:  resource\nContent-Length: 5\n\n";
  io::StringSink sink;
  auto writer = WarcWriter::Create(sink, {record::Compression::kNone, 0, ""});
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->BeginCopy(head, 5, "\n"));
  ASSERT_TRUE((*writer)->Append("block"));
  const Result<record::Extent> extent = (*writer)->End();
  ASSERT_TRUE(extent);
  EXPECT_EQ(sink.content(), head + "block\n");
  EXPECT_EQ(extent->separator, 1u);
  EXPECT_TRUE((*writer)->Write(Resource(1), "x"));
  EXPECT_TRUE(sink.content().ends_with("x\r\n\r\n"));
}

TEST(WarcWriter, WritesTheGoldenFileByteForByte) {
  io::StringSink sink;
  auto writer = WarcWriter::Create(sink, {record::Compression::kNone, 0, ""});
  for (int number = 1; number <= 2; ++number) {
    ASSERT_TRUE((*writer)->Write(Resource(number), "block " + std::to_string(number)));
  }
  std::ifstream file(SourcePath("src/formats/warc/golden/1.1.warc"), std::ios::binary);
  const std::string golden((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(sink.content(), golden);
}

TEST(WarcWriter, AValueCannotSmuggleInAField) {
  io::StringSink sink;
  auto writer = WarcWriter::Create(sink, {});
  FieldList fields = Resource(1);
  fields.Set("WARC-Target-URI", "http://example.org/\r\nWARC-Type: warcinfo");
  EXPECT_EQ((*writer)->Write(fields, "").error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(sink.content().empty());
}

TEST(WarcWriter, I4_ARecordThatIsAbandonedLeavesNothing) {
  for (const auto compression : {record::Compression::kNone, record::Compression::kGzip}) {
    io::StringSink sink;
    WriterOptions options;
    options.compression = compression;
    auto writer = WarcWriter::Create(sink, options);
    EXPECT_TRUE((*writer)->Abandon());
    ASSERT_TRUE((*writer)->Write(Resource(1), "one"));
    ASSERT_TRUE((*writer)->Begin(Resource(2), 10));
    ASSERT_TRUE((*writer)->Append("a part"));
    EXPECT_TRUE((*writer)->Abandon());
    ASSERT_TRUE((*writer)->Write(Resource(3), "three"));
    const std::vector<Written> records = ReadBack(sink.content());
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].block, "one");
    EXPECT_EQ(records[1].block, "three");
    // Of a large one something has gone out.
    ASSERT_TRUE((*writer)->Begin(Resource(4), 3'000'000));
    ASSERT_TRUE((*writer)->Append(Pattern(2'000'000)));
    EXPECT_FALSE((*writer)->Abandon());
  }
}

// Whatever write fails, the records that were reported as written are there and can be read.
TEST(WarcWriter, AFailingDiskLeavesWhatWasWrittenReadable) {
  for (int fail_at = 2;; ++fail_at) {
    io::MemoryFileSystem disk;
    io::FaultFileSystem fs(disk, fail_at);
    auto file = fs.Create("f.warc.gz");
    ASSERT_TRUE(file);
    io::FileSink sink(**file);
    auto writer = WarcWriter::Create(sink, {});
    int written = 0;
    for (int i = 0; i < 5; ++i) {
      const std::string block = Pattern(i == 3 ? 2'000'000 : 100);
      written += (*writer)->Write(Resource(i), block).ok() ? 1 : 0;
    }
    io::FileSource source(*disk.OpenForReading("f.warc.gz"));
    record::RecordReader reader(*record::OpenRecordInput(source), std::make_unique<WarcGrammar>());
    int readable = 0;
    while (*reader.Next() != nullptr) {
      if (reader.Finish()) ++readable;
    }
    EXPECT_GE(readable, written) << "failing operation " << fail_at;
    if (written == 5) break;
    ASSERT_LT(fail_at, 1000);
  }
}

}  // namespace
}  // namespace stele::warc
