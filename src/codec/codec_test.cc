// What holds for every codec.
#include "codec/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/buffer.h"
#include "codec/registry.h"
#include "codec/test_samples.h"

namespace stele::codec {
namespace {

constexpr std::size_t kSteps[] = {1, 2, 3, 7, 13, 64, 251, 1000, 4096, 65537};

class EveryCodec : public testing::TestWithParam<std::string> {
 protected:
  EveryCodec() : registry_(StandardRegistry()), codec_(*registry_.Find(GetParam())) {}

  bool Writes() const { return codec_.NewEncoder(1) != nullptr; }
  std::string Packed(std::string_view text) const { return codec_.Compress(text, 6).value(); }
  // A packed text of some kilobytes, also for the formats that are only read.
  std::string Text() const { return Writes() ? Markup(3000) : BrotliSampleText(); }
  std::string PackedText() const { return Writes() ? Packed(Text()) : BrotliSample(); }

  Registry registry_;
  const Codec& codec_;
};
class WritingCodec : public EveryCodec {};      // those that are not only read
class FramedCodec : public EveryCodec {};       // those that know where their stream ends
class CompressingCodec : public EveryCodec {};  // those of which a bomb can be made here

TEST_P(WritingCodec, RoundTripsWholeBuffersAtEveryLevel) {
  for (const std::string& text :
       {std::string(), std::string("x"), Noise(10000), Markup(100000), std::string(300000, '\0')}) {
    for (int level = -1; level <= 20; ++level) {
      const Result<std::string> packed = codec_.Compress(text, level);
      ASSERT_TRUE(packed.ok());
      EXPECT_EQ(codec_.Decompress(*packed, text.size()).value(), text) << "level " << level;
    }
  }
}

TEST_P(EveryCodec, StreamsInOddPiecesGiveTheSameBytes) {
  const std::string text = Text();
  const std::string packed = PackedText();
  const auto decoder = codec_.NewDecoder();
  for (const std::size_t in_step : kSteps) {
    for (const std::size_t out_step : kSteps) {
      const Streamed got = DecodeInSteps(*decoder, packed, in_step, out_step);
      EXPECT_TRUE(got.done && !got.stuck) << in_step << "/" << out_step;
      EXPECT_EQ(got.out, text);
      EXPECT_EQ(got.consumed, packed.size());
      decoder->Reset();
    }
  }
}

TEST_P(WritingCodec, EncodersInOddPiecesGiveReadableStreams) {
  for (const int level : {0, 1, 6, 9}) {
    const auto encoder = codec_.NewEncoder(level);
    for (const std::string& text : {std::string(), Markup(40000), Noise(40000)}) {
      for (const std::size_t in_step : kSteps) {
        for (const std::size_t out_step : {5, 100, 65537}) {
          const std::string packed = EncodeInSteps(*encoder, text, in_step, out_step);
          EXPECT_EQ(codec_.Decompress(packed, text.size()).value(), text);
          encoder->Reset();
        }
      }
    }
  }
}

TEST_P(FramedCodec, TruncationAtEveryByteIsNeverDone) {
  const std::string packed = PackedText();
  const auto decoder = codec_.NewDecoder();
  for (std::size_t size = 0; size < packed.size(); ++size) {
    for (const std::size_t in_step : {std::size_t{1}, std::size_t{64}, packed.size()}) {
      const Streamed got = DecodeInSteps(*decoder, packed.substr(0, size), in_step, 700);
      EXPECT_FALSE(got.done || got.corrupt || got.stuck) << size;
      EXPECT_EQ(got.consumed, size);
      EXPECT_TRUE(std::string_view(Text()).starts_with(got.out));
      decoder->Reset();
    }
    EXPECT_EQ(codec_.Decompress(packed.substr(0, size), SIZE_MAX).error().code,
              ErrorCode::kCorrupt);
  }
}

TEST_P(FramedCodec, FlippedBitsAreNeverTakenForTheOriginal) {
  // Brotli has no checksum, and zlib's Adler-32 misses changes as small as a flipped distance.
  const bool checksummed = GetParam() == "gzip" || GetParam() == "zstd";
  const std::string text = Text();
  const std::string packed = PackedText();
  const auto decoder = codec_.NewDecoder();
  for (std::size_t bit = 0; bit < packed.size() * 8; ++bit) {
    std::string bad = packed;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    const Streamed got = DecodeInSteps(*decoder, bad, 100, 700, 1 << 20);
    EXPECT_FALSE(got.stuck) << bit;
    // Some header bits carry no meaning.
    EXPECT_TRUE(!checksummed || !got.done || got.out == text) << bit;
    decoder->Reset();
  }
}

TEST_P(FramedCodec, BytesAfterTheEndAreLeftAlone) {
  const std::string packed = PackedText();
  const auto decoder = codec_.NewDecoder();
  for (const std::string& tail : {std::string("x"), Noise(100), packed}) {
    for (const std::size_t in_step : kSteps) {
      for (const std::size_t out_step : kSteps) {
        const Streamed got = DecodeInSteps(*decoder, packed + tail, in_step, out_step);
        EXPECT_TRUE(got.done);
        EXPECT_EQ(got.consumed, packed.size()) << in_step << "/" << out_step;
        EXPECT_EQ(decoder->Decode(tail, {})->consumed, 0u);
        decoder->Reset();
      }
    }
  }
  EXPECT_EQ(codec_.Decompress(packed + "\xffjunk", SIZE_MAX).error().code, ErrorCode::kCorrupt);
}

TEST_P(FramedCodec, StreamsAfterEachOtherAreReadByReset) {
  const std::string packed = PackedText();
  std::string three = packed + packed + packed;
  const auto decoder = codec_.NewDecoder();
  std::string_view rest = three;
  for (int i = 0; i < 3; ++i) {
    const Streamed got = DecodeInSteps(*decoder, rest, 97, 101);
    EXPECT_EQ(got.out, Text());
    rest.remove_prefix(got.consumed);
    decoder->Reset();
  }
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(codec_.Decompress(three, SIZE_MAX).value(), Text() + Text() + Text());
}

TEST_P(EveryCodec, ResetForgetsAHalfReadOrCorruptStream) {
  const auto decoder = codec_.NewDecoder();
  for (const std::string& before : {PackedText().substr(0, 60), Noise(500), std::string("\x1f")}) {
    DecodeInSteps(*decoder, before, 17, 50);
    decoder->Reset();
    EXPECT_EQ(DecodeInSteps(*decoder, PackedText(), 64, 64).out, Text());
    decoder->Reset();
  }
}

TEST_P(EveryCodec, TheSizeLimitIsExact) {
  EXPECT_EQ(codec_.Decompress(PackedText(), Text().size()).value(), Text());
  for (const std::size_t size_max : {std::size_t{0}, std::size_t{1}, Text().size() - 1}) {
    EXPECT_EQ(codec_.Decompress(PackedText(), size_max).error().code, ErrorCode::kFull);
  }
}

TEST_P(CompressingCodec, BombsGiveNoMoreThanTheRoomOffered) {
  const std::string bomb = Packed(std::string(64 << 20, '\0'));
  EXPECT_LT(bomb.size(), 100000u);
  EXPECT_EQ(codec_.Decompress(bomb, 1 << 20).error().code, ErrorCode::kFull);
  const auto decoder = codec_.NewDecoder();
  const Streamed got = DecodeInSteps(*decoder, bomb, bomb.size(), 1000, 1 << 20);
  EXPECT_LE(got.out.size(), (1u << 20) + 1000);
}

std::string NameOf(const testing::TestParamInfo<std::string>& codec) { return codec.param; }

INSTANTIATE_TEST_SUITE_P(Standard, EveryCodec,
                         testing::Values("identity", "gzip", "deflate", "zstd", "br"), NameOf);
INSTANTIATE_TEST_SUITE_P(Standard, WritingCodec,
                         testing::Values("identity", "gzip", "deflate", "zstd"), NameOf);
INSTANTIATE_TEST_SUITE_P(Standard, FramedCodec, testing::Values("gzip", "deflate", "zstd", "br"),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Standard, CompressingCodec, testing::Values("gzip", "deflate", "zstd"),
                         NameOf);

TEST(Registry, FindsCodecsByNameAndAliasInAnyCase) {
  const Registry registry = StandardRegistry();
  EXPECT_EQ(registry.Find("X-GZip"), registry.Find("gzip"));
  EXPECT_EQ(registry.Find("BR")->name(), "br");
  EXPECT_EQ(registry.Find("compress"), nullptr);
  EXPECT_EQ(registry.Find(""), nullptr);
}

TEST(Registry, BrotliIsOnlyRead) {
  const Registry registry = StandardRegistry();
  EXPECT_EQ(registry.Find("br")->NewEncoder(5), nullptr);
  EXPECT_EQ(registry.Find("br")->Compress("x", 5).error().code, ErrorCode::kInvalid);
}

TEST(Buffer, KeepsItsBytesWhenItGrows) {
  Buffer buffer;
  std::string twin;
  for (int i = 0; i < 1000; ++i) {
    const std::string piece = Noise(i % 37, i);
    buffer.Append(piece);
    twin += piece;
  }
  EXPECT_EQ(buffer.view(), twin);
  const std::size_t capacity = buffer.capacity();
  Buffer moved = std::move(buffer);
  EXPECT_EQ(moved.view(), twin);
  moved.Clear();
  EXPECT_EQ(moved.capacity(), capacity);
}

}  // namespace
}  // namespace stele::codec
