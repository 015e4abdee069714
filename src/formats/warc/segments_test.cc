#include "formats/warc/segments.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/gzip_codec.h"
#include "formats/warc/warc_grammar.h"
#include "io/memory_file_system.h"
#include "io/stream.h"

namespace stele::warc {
namespace {

using testing::HasSubstr;

constexpr std::string_view kOrigin = "<urn:uuid:origin>";

std::string RecordText(std::string_view type, std::string_view id, std::string_view more,
                       std::string_view block) {
  return fmt::format(
      "WARC/1.1\r\nWARC-Type: {}\r\nWARC-Record-ID: {}\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
      "WARC-Target-URI: http://example.org/\r\n{}Content-Length: {}\r\n\r\n{}\r\n\r\n",
      type, id, more, block.size(), block);
}

std::string First(std::string_view block) {
  return RecordText("response", kOrigin, "WARC-Segment-Number: 1\r\n", block);
}

std::string Continuation(int number, std::string_view block, std::string_view more = "") {
  return RecordText("continuation", fmt::format("<urn:uuid:{}>", number),
                    fmt::format("WARC-Segment-Origin-ID: {}\r\nWARC-Segment-Number: {}\r\n{}",
                                kOrigin, number, more),
                    block);
}

// Files in memory, one reader at a time.
class Files final : public SegmentFiles {
 public:
  explicit Files(std::vector<std::string> files) : files_(std::move(files)) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      EXPECT_TRUE(io::ReplaceFile(fs_, fmt::to_string(i), files_[i]));
      record::RecordReader* reader = *Open(i);
      while (const record::Record* record = *reader->Next()) index.Add(*record, i);
    }
  }

  Result<record::RecordReader*> Open(std::size_t file) override {
    source_ = std::make_unique<io::FileSource>(*fs_.OpenForReading(fmt::to_string(file)));
    reader_ = std::make_unique<record::RecordReader>(*record::OpenRecordInput(*source_),
                                                     std::make_unique<WarcGrammar>());
    return reader_.get();
  }

  // The joined block, or the text of the error.
  std::string Joined(std::string_view id = kOrigin) {
    Result<std::vector<Segment>> segments = index.SegmentsOf(id);
    if (!segments) return segments.error().text;
    JoinedBlock block(*this, *std::move(segments));
    std::string joined;
    for (;;) {
      Result<std::string_view> piece = block.Read();
      if (!piece) {
        EXPECT_FALSE(block.Read());
        return piece.error().text;
      }
      if (piece->empty()) return joined;
      joined += *piece;
    }
  }

  SegmentIndex index;

 private:
  io::MemoryFileSystem fs_;
  std::vector<std::string> files_;
  std::unique_ptr<io::Source> source_;
  std::unique_ptr<record::RecordReader> reader_;
};

const std::string kLast = "WARC-Segment-Total-Length: 9\r\n";

TEST(Segments, AreJoinedInTheirOrderOverSeveralFiles) {
  Files files({Continuation(3, "ghi", kLast), RecordText("warcinfo", "<x>", "", "w") + First("abc"),
               RecordText("resource", "<y>", "", "w") + Continuation(2, "def")});
  EXPECT_EQ(files.Joined(), "abcdefghi");
  EXPECT_EQ(files.Joined("urn:uuid:origin"), "abcdefghi");
}

TEST(Segments, AreFoundInsideACompressedMember) {
  const std::string member = *codec::GzipCodec().Compress(
      First("abc") + Continuation(2, "def") + Continuation(3, "ghi", kLast), 6);
  Files files({member});
  EXPECT_EQ(files.Joined(), "abcdefghi");
}

TEST(Segments, AMissingOneIsNamed) {
  EXPECT_THAT(Files({First("abc") + Continuation(3, "ghi", kLast)}).Joined(),
              HasSubstr("segment 2 of the record <urn:uuid:origin> is not here"));
  EXPECT_THAT(Files({First("abc") + Continuation(2, "def")}).Joined(), HasSubstr("segment 3"));
  EXPECT_THAT(Files({First("abc")}).Joined(), HasSubstr("segment 2"));
  EXPECT_THAT(Files({Continuation(2, "def") + Continuation(3, "ghi", kLast)}).Joined(),
              HasSubstr("segment 1"));
  EXPECT_THAT(Files({First("abc")}).Joined("<other>"), HasSubstr("segment 1"));
}

TEST(Segments, ThoseBeforeAMissingOneAreKnown) {
  const auto leading = [](const std::string& file) {
    return Files({file}).index.LeadingSegmentsOf(kOrigin).size();
  };
  EXPECT_EQ(leading(First("abc") + Continuation(3, "ghi", kLast)), 1u);
  EXPECT_EQ(leading(First("abc") + Continuation(2, "def")), 2u);
  EXPECT_EQ(leading(First("abc") + Continuation(2, "def") + Continuation(3, "ghi", kLast) +
                    Continuation(4, "behind the last")),
            3u);
  EXPECT_EQ(leading(Continuation(2, "def")), 0u);
}

TEST(Segments, LengthsThatDoNotAddUpAreCorrupt) {
  Files files({First("abcd") + Continuation(2, "def") + Continuation(3, "ghi", kLast)});
  EXPECT_THAT(files.Joined(), HasSubstr("have 10 bytes, but the last one says 9"));
}

TEST(Segments, AFileGivenTwiceChangesNothing) {
  const std::string file = First("abc") + Continuation(2, "def") + Continuation(3, "ghi", kLast);
  EXPECT_EQ(Files({file, file}).Joined(), "abcdefghi");
}

TEST(Segments, ADamagedOneIsNamed) {
  const std::string good = Continuation(3, "ghi", kLast);
  std::string packed = *codec::GzipCodec().Compress(good, 6);
  packed.resize(packed.size() - 6);
  Files files({First("abc"), Continuation(2, "def"), packed});
  // Cut off so far that it could not even be indexed, or found to be damaged when it is read.
  EXPECT_THAT(files.Joined(), HasSubstr("segment 3"));
  Files cut({First("abc"), Continuation(2, "def"), good.substr(0, good.size() - 6)});
  EXPECT_THAT(cut.Joined(), HasSubstr("segment 3 of 3: 2 bytes of its block are missing"));
}

TEST(Segments, OtherRecordsAndBadNumbersAreNone) {
  Files files(
      {RecordText("response", kOrigin, "", "whole"), Continuation(0, "zero"),
       Continuation(1, "one"),
       RecordText("continuation", "<z>", "WARC-Segment-Number: 2\r\n", "no origin"),
       RecordText("continuation", "<z>",
                  "WARC-Segment-Number: two\r\nWARC-Segment-Origin-ID: <urn:uuid:origin>\r\n",
                  "no number")});
  EXPECT_FALSE(files.index.SegmentsOf(kOrigin));
}

TEST(Segments, OnlyTheFirstBeginsThem) {
  Files files({First("abc") + Continuation(2, "def") + RecordText("response", "<x>", "", "w")});
  record::RecordReader* reader = *files.Open(0);
  std::vector<bool> begins;
  while (const record::Record* record = *reader->Next()) begins.push_back(BeginsSegments(*record));
  EXPECT_EQ(begins, (std::vector<bool>{true, false, false}));
}

}  // namespace
}  // namespace stele::warc
