#include "codec/block_deflater.h"

#include <gtest/gtest.h>

#include "codec/crc32.h"
#include "codec/deflate_codec.h"
#include "codec/test_samples.h"

namespace stele::codec {
namespace {

constexpr std::string_view kLastBlock("\x03\x00", 2);  // nothing, with fixed codes

std::string BlocksOf(BlockDeflater& deflater, std::string_view bytes, std::size_t piece) {
  Buffer out;
  while (bytes.size() > piece) {
    deflater.Deflate(bytes.substr(0, piece), false, out);
    bytes.remove_prefix(piece);
  }
  deflater.Deflate(bytes, true, out);
  return std::string(out.view());
}

std::string Inflated(const std::string& blocks) {
  const auto plain =
      DeflateCodec().Decompress(blocks + std::string(kLastBlock), std::size_t{1} << 30);
  EXPECT_TRUE(plain) << plain.error().text;
  return plain ? *plain : "";
}

std::vector<std::string> Samples() {
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += "<p>line " + std::to_string(i * i % 1009) + "</p>\n";
  std::string noise;
  std::uint64_t state = 1;
  for (int i = 0; i < 300'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    noise += static_cast<char>(state >> 56);
  }
  return {"", "a", text.substr(0, 19'200), text, noise, std::string(1'000'000, 'x')};
}

TEST(BlockDeflater, BlocksCanBeJoinedAtEveryLevel) {
  for (const int level : {-1, 1, 2, 3, 4, 6, 9, 20}) {
    BlockDeflater deflater(level);
    std::string joined;
    std::string expected;
    for (const std::string& sample : Samples()) {
      const std::string blocks = BlocksOf(deflater, sample, sample.size());
      EXPECT_EQ(Inflated(blocks), sample) << level;
      joined += blocks;
      expected += sample;
    }
    EXPECT_TRUE(Inflated(joined) == expected) << level;
  }
}

TEST(BlockDeflater, PiecesOfAnySizeGiveTheSameBytes) {
  for (const int level : {1, 2, 3, 6}) {
    for (const std::size_t piece : {1000, 65'536, 300'000}) {
      BlockDeflater deflater(level);
      for (const std::string& sample : Samples()) {
        EXPECT_TRUE(Inflated(BlocksOf(deflater, sample, piece)) == sample) << level << piece;
      }
    }
  }
}

TEST(BlockDeflater, APoolHandsOutWhatWasGivenBack) {
  BlockDeflaterPool pool;
  std::unique_ptr<BlockDeflater> fast = pool.Take(1);
  const BlockDeflater* const address = fast.get();
  pool.Give(std::move(fast));
  EXPECT_NE(pool.Take(6).get(), address);
  EXPECT_EQ(pool.Take(1).get(), address);
}

TEST(Crc32, TheMiddleFollowsFromTheWholeAndTheOtherParts) {
  EXPECT_EQ(Crc32(0, "123456789"), 0xcbf43926u);
  EXPECT_EQ(Crc32(Crc32(0, "1234"), "56789"), 0xcbf43926u);
  for (const std::string& middle : Samples()) {
    const std::string first = "WARC/1.1\r\nand so on\r\n\r\n";
    const std::string last = "\r\n\r\n";
    EXPECT_EQ(Crc32OfMiddle(Crc32(0, first + middle + last), Crc32(0, first), middle.size(),
                            Crc32(0, last)),
              Crc32(0, middle));
  }
}

}  // namespace
}  // namespace stele::codec
