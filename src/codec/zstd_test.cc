#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include "codec/deflate_codec.h"
#include "codec/test_samples.h"
#include "codec/zstd_codec.h"

namespace stele::codec {
namespace {

std::string Trained(std::uint64_t seed) {
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i) texts.push_back(Markup(2000, seed * 1000 + i));
  return TrainDictionary({texts.begin(), texts.end()}, 8000).value();
}

TEST(Zstd, FramesSayTheirSizeAndEndInAChecksum) {
  const std::string frame = ZstdCodec().Compress(Markup(1234), 3).value();
  EXPECT_EQ(ZSTD_getFrameContentSize(frame.data(), frame.size()), 1234u);
  EXPECT_EQ(frame[4] & 4, 4) << "Content_Checksum_flag";
}

TEST(Zstd, StreamsSayTheirSizeWhenItWasAnnounced) {
  const std::string text = Markup(50000);
  const auto encoder = ZstdCodec().NewEncoder(3);
  encoder->ExpectSize(text.size());
  const std::string frame = EncodeInSteps(*encoder, text, 1000, 1000);
  EXPECT_EQ(ZSTD_getFrameContentSize(frame.data(), frame.size()), text.size());
  EXPECT_EQ(ZstdCodec().Decompress(frame, SIZE_MAX).value(), text);
}

TEST(Zstd, AWrongAnnouncementIsRefused) {
  for (const std::uint64_t wrong : {10, 100}) {
    const auto encoder = ZstdCodec().NewEncoder(3);
    encoder->ExpectSize(wrong);
    std::string room(1000, '\0');
    const Result<Progress> first = encoder->Encode(std::string(5, 'x'), room, false);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(encoder->Encode(std::string(45, 'x'), room, true).error().code, ErrorCode::kInvalid);
  }
}

TEST(Zstd, ADictionaryShrinksSmallPagesAndIsNamedInEachFrame) {
  const std::string page = Markup(1000, 77);
  const Result<std::unique_ptr<ZstdCodec>> with = ZstdCodec::WithDictionary(Trained(1));
  const std::string frame = (*with)->Compress(page, 3).value();
  EXPECT_LT(frame.size(), ZstdCodec().Compress(page, 3)->size());
  EXPECT_NE((*with)->dictionary_id(), 0u);
  EXPECT_EQ(ZSTD_getDictID_fromFrame(frame.data(), frame.size()), (*with)->dictionary_id());
  EXPECT_EQ((*with)->Decompress(frame, SIZE_MAX).value(), page);
}

TEST(Zstd, OneEncoderWritesManyFramesWithItsDictionary) {
  const Result<std::unique_ptr<ZstdCodec>> with = ZstdCodec::WithDictionary(Trained(1));
  const auto encoder = (*with)->NewEncoder(3);
  for (int i = 0; i < 5; ++i) {
    const std::string page = Markup(1000, i);
    encoder->ExpectSize(page.size());
    EXPECT_EQ(EncodeInSteps(*encoder, page, 100, 100).size(), (*with)->Compress(page, 3)->size());
    encoder->Reset();
  }
}

TEST(Zstd, AnotherDictionaryOrNoneIsCorrupt) {
  const Result<std::unique_ptr<ZstdCodec>> one = ZstdCodec::WithDictionary(Trained(1));
  const Result<std::unique_ptr<ZstdCodec>> two = ZstdCodec::WithDictionary(Trained(2));
  const std::string frame = (*one)->Compress(Markup(1000, 5), 3).value();
  EXPECT_EQ((*two)->Decompress(frame, SIZE_MAX).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(ZstdCodec().Decompress(frame, SIZE_MAX).error().code, ErrorCode::kCorrupt);
  const std::string plain = ZstdCodec().Compress(Markup(1000, 5), 3).value();
  EXPECT_EQ((*one)->Decompress(plain, SIZE_MAX).value(), Markup(1000, 5)) << "frames without one";
}

TEST(Zstd, ABrokenDictionaryIsRefusedAndARawOneTaken) {
  std::string broken = Trained(1);
  for (std::size_t i = 8; i < 60; ++i) broken[i] = '\xff';
  EXPECT_EQ(ZstdCodec::WithDictionary(broken).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(ZstdCodec::WithDictionary(broken.substr(0, 6)).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(ZstdCodec::WithDictionary("").error().code, ErrorCode::kInvalid);
  const Result<std::unique_ptr<ZstdCodec>> raw = ZstdCodec::WithDictionary(Markup(5000));
  const std::string frame = (*raw)->Compress(Markup(5000), 3).value();
  EXPECT_LT(frame.size(), 100u);
  EXPECT_EQ((*raw)->Decompress(frame, SIZE_MAX).value(), Markup(5000));
}

TEST(Zstd, DecodersOutliveTheirCodec) {
  std::unique_ptr<Decoder> decoder;
  std::string frame;
  {
    const Result<std::unique_ptr<ZstdCodec>> with = ZstdCodec::WithDictionary(Trained(1));
    frame = (*with)->Compress(Markup(1000), 3).value();
    decoder = (*with)->NewDecoder();
  }
  EXPECT_EQ(DecodeInSteps(*decoder, frame, 10, 10).out, Markup(1000));
}

TEST(Zstd, TrainingNeedsSamples) {
  EXPECT_EQ(TrainDictionary({}, 1000).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(TrainDictionary({"x"}, 1000).error().code, ErrorCode::kInvalid);
}

TEST(Zstd, SkippableFramesGiveNothing) {
  const std::string skippable(
      "\x5d\x2a\x4d\x18\x03\x00\x00\x00"
      "abc",
      11);
  const auto decoder = ZstdCodec().NewDecoder();
  const Streamed got = DecodeInSteps(*decoder, skippable + "rest", 1, 10);
  EXPECT_TRUE(got.done);
  EXPECT_EQ(got.consumed, skippable.size());
  EXPECT_EQ(got.out, "");
  EXPECT_EQ(ZstdCodec().Decompress(skippable + *ZstdCodec().Compress("x", 1), 10).value(), "x");
}

TEST(Zstd, WindowsBeyondTheLimitAreRefused) {
  // Single frame, no content size, window descriptor of 2^24 bytes.
  const std::string frame("\x28\xb5\x2f\xfd\x00\x70\x09\x00\x00x", 10);
  EXPECT_EQ(ZstdCodec(24).Decompress(frame, 10).value(), "x");
  EXPECT_EQ(ZstdCodec(23).Decompress(frame, 10).error().code, ErrorCode::kCorrupt);
}

TEST(Deflate, RawStreamsAreToldFromZlibStreams) {
  const std::string text = Markup(3000);
  const std::string zlib = DeflateCodec().Compress(text, 6).value();
  const std::string raw = zlib.substr(2, zlib.size() - 6);
  const auto decoder = DeflateCodec().NewDecoder();
  for (const std::size_t in_step : {1, 2, 3, 50, 5000}) {
    for (const std::size_t out_step : {1, 2, 3, 50, 5000}) {
      const Streamed got = DecodeInSteps(*decoder, raw + "tail", in_step, out_step);
      EXPECT_EQ(got.out, text);
      EXPECT_EQ(got.consumed, raw.size());
      decoder->Reset();
    }
  }
  EXPECT_EQ(DeflateCodec().Decompress(std::string("\x03\x00", 2), 10).value(), "");
}

TEST(Deflate, APresetDictionaryIsCorrupt) {
  EXPECT_EQ(DeflateCodec().Decompress("\x78\xbb\x01\x02\x03\x04zzzz", 10).error().code,
            ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace stele::codec
