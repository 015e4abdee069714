#include "formats/record/block_stream.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/deflate_codec.h"
#include "codec/gzip_codec.h"
#include "formats/record/test_reading.h"
#include "util/ascii.h"

namespace stele::record {
namespace {

using testing::HasSubstr;

// "block <coding> <length> <decoded length>\n", the block, "\n".
class LineGrammar final : public Grammar {
 public:
  Format format() const override { return Format::kTianwang; }
  Match BeginsRecord(std::string_view bytes) const override {
    return bytes.starts_with("block ") ? Match::kYes : Match::kNo;
  }
  std::size_t FindCandidate(std::string_view bytes, std::size_t from) const override {
    return std::min(bytes.find("block ", from), bytes.size());
  }
  Result<std::size_t> HeadLength(std::string_view bytes) const override {
    return bytes.find('\n') + 1;
  }
  Status ParseHead(std::string_view head, Record& record, std::vector<Defect>&) override {
    const std::vector<std::string_view> words = Split(TrimSpace(head), ' ');
    record.block_coding = words[1] == "deflate" ? BlockCoding::kDeflate
                          : words[1] == "gzip"  ? BlockCoding::kGzip
                                                : BlockCoding::kNone;
    record.content_length = *ParseDecimal(words[2]);
    record.decoded_length = ParseDecimal(words[3]);
    return {};
  }
  std::size_t SeparatorLength(std::string_view bytes, std::vector<Defect>*) const override {
    return bytes.starts_with('\n') ? 1 : 0;
  }
  int confirmations() const override { return 1; }
};

struct Outcome {
  std::string text;
  std::optional<Error> error;
};

// Reads one block of that coding; `decoded` is what its head says.
Outcome ReadOne(std::string_view coding, std::string_view stored, std::string_view decoded) {
  const std::string file =
      fmt::format("block {} {} {}\n{}\n", coding, stored.size(), decoded, stored);
  io::MemorySource source(file);
  RecordReader reader(*OpenRecordInput(source), std::make_unique<LineGrammar>());
  BlockStream block(reader, **reader.Next());
  Outcome outcome;
  for (;;) {
    Result<std::string_view> piece = block.Read();
    if (!piece) outcome.error = piece.error();
    if (!piece || piece->empty()) break;
    outcome.text += *piece;
  }
  // The end, or the error, stays.
  Result<std::string_view> again = block.Read();
  EXPECT_EQ(again.ok(), !outcome.error);
  EXPECT_TRUE(!again || again->empty());
  EXPECT_TRUE(reader.Finish());
  EXPECT_EQ(*reader.Next(), nullptr);
  return outcome;
}

std::string Text() {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += fmt::format("{} lines, ", i);
  return text;
}

std::string Deflate(std::string_view bytes) { return *codec::DeflateCodec().Compress(bytes, 6); }
std::string Gzip(std::string_view bytes) { return *codec::GzipCodec().Compress(bytes, 6); }

TEST(BlockStream, HandsOutPlainBlocksAsTheyAre) {
  EXPECT_EQ(ReadOne("none", Text(), "-").text, Text());
  EXPECT_EQ(ReadOne("none", "", "-").text, "");
}

TEST(BlockStream, DecodesCompressedBlocks) {
  const std::string size = fmt::format("{}", Text().size());
  for (const std::string& decoded : {size, std::string("-")}) {
    EXPECT_EQ(ReadOne("deflate", Deflate(Text()), decoded).text, Text());
    EXPECT_EQ(ReadOne("gzip", Gzip(Text()), decoded).text, Text());
  }
  const Outcome empty = ReadOne("deflate", Deflate(""), "0");
  EXPECT_FALSE(empty.error);
  EXPECT_EQ(ReadOne("gzip", Gzip("one") + Gzip("two"), "6").text, "onetwo");
}

TEST(BlockStream, AWrongDecodedLengthIsCorrupt) {
  const Outcome more = ReadOne("deflate", Deflate("some text"), "8");
  ASSERT_TRUE(more.error);
  EXPECT_EQ(more.error->code, ErrorCode::kCorrupt);
  EXPECT_THAT(more.error->text, HasSubstr("has more"));
  const Outcome fewer = ReadOne("deflate", Deflate("some text"), "10");
  ASSERT_TRUE(fewer.error);
  EXPECT_THAT(fewer.error->text, HasSubstr("has 9"));
}

TEST(BlockStream, CutOffBadAndTrailingBytesAreCorrupt) {
  const std::string whole = Deflate("some text to be cut");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Outcome cut = ReadOne("deflate", whole.substr(0, size), "-");
    ASSERT_TRUE(cut.error) << size;
    EXPECT_EQ(cut.error->code, ErrorCode::kCorrupt);
  }
  EXPECT_TRUE(ReadOne("deflate", whole + "x", "-").error);
  EXPECT_TRUE(ReadOne("gzip", Gzip("one") + "x", "-").error);
  EXPECT_TRUE(ReadOne("deflate", "not compressed at all", "-").error);
}

TEST(BlockStream, ABombStopsAtTheLengthOfTheHead) {
  const Outcome bomb = ReadOne("deflate", Deflate(std::string(50'000'000, '0')), "1000");
  ASSERT_TRUE(bomb.error);
  EXPECT_LT(bomb.text.size(), 100'000u);
}

}  // namespace
}  // namespace stele::record
