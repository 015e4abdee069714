#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "codec/buffer.h"
#include "codec/gzip_codec.h"
#include "codec/gzip_member.h"
#include "codec/test_samples.h"

namespace stele::codec {
namespace {

struct HeaderFields {
  bool extra = false, name = false, comment = false, checksum = false;
};

// A member made by zlib, which writes every optional field.
std::string MemberWith(const HeaderFields& fields, std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string extra = Noise(300), name = "name.warc", comment(500, 'c');
  gz_header header{};
  header.os = 3;
  if (fields.extra) {
    header.extra = reinterpret_cast<Bytef*>(extra.data());
    header.extra_len = static_cast<uInt>(extra.size());
  }
  if (fields.name) header.name = reinterpret_cast<Bytef*>(name.data());
  if (fields.comment) header.comment = reinterpret_cast<Bytef*>(comment.data());
  header.hcrc = fields.checksum;
  EXPECT_EQ(deflateSetHeader(&stream, &header), Z_OK);
  std::string out(text.size() + 2000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

HeaderFields FieldsOf(int mask) {
  return {(mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0, (mask & 8) != 0};
}

TEST(Gzip, ReadsEveryCombinationOfHeaderFieldsInPieces) {
  const std::string text = Markup(500);
  for (int mask = 0; mask < 16; ++mask) {
    const std::string member = MemberWith(FieldsOf(mask), text);
    GzipDecoder decoder;
    for (const std::size_t in_step : {1, 2, 9, 10, 11, 12, 13, 300, 5000}) {
      const Streamed got = DecodeInSteps(decoder, member + "next", in_step, 400);
      EXPECT_EQ(got.out, text) << mask << " by " << in_step;
      EXPECT_EQ(got.consumed, member.size());
      decoder.Reset();
    }
    GzipMemberInflater inflater;
    Buffer out;
    const auto whole = inflater.Inflate(member + "next", 1000, out);
    ASSERT_TRUE(whole.ok());
    EXPECT_EQ(whole->consumed, member.size());
    EXPECT_EQ(out.view(), text);
  }
}

TEST(Gzip, HeaderChecksumIsVerified) {
  const std::string good = MemberWith(FieldsOf(15), "text");
  GzipMemberInflater inflater;
  Buffer out;
  for (const std::size_t at :
       {5u, 11u, 50u, 315u, 400u, 823u}) {  // time, extra, name, comment, crc
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    GzipDecoder decoder;
    EXPECT_TRUE(DecodeInSteps(decoder, bad, 1, 100).corrupt) << at;
    EXPECT_FALSE(inflater.Inflate(bad, 1000, out).ok()) << at;
  }
}

TEST(Gzip, WrongChecksumOrSizeIsCorruptAfterAllBytesWereGiven) {
  const std::string text = Markup(5000);
  const std::string good = GzipCodec().Compress(text, 6).value();
  GzipMemberInflater inflater;
  Buffer out;
  for (std::size_t at = good.size() - 8; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    GzipDecoder decoder;
    const Streamed got = DecodeInSteps(decoder, bad, 1 << 20, 1 << 20);
    EXPECT_TRUE(got.corrupt);
    EXPECT_EQ(got.out, text);
    EXPECT_EQ(inflater.Inflate(bad, 1 << 20, out).error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(out.size(), 0u);
  }
}

TEST(Gzip, ForeignBytesAreCorruptAtOnce) {
  GzipDecoder decoder;
  for (const std::string& bad : {std::string("\x1f\x8c"), std::string("HTTP/1.1 200 OK"),
                                 std::string("\x1f\x8b\x07"), std::string("\x1f\x8b\x08\x20")}) {
    EXPECT_EQ(decoder.Decode(bad, {}).error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(decoder.Decode("", {}).error().code, ErrorCode::kCorrupt) << "the error stays";
    decoder.Reset();
  }
}

TEST(Gzip, LevelZeroStoresWhatDoesNotShrink) {
  const std::string noise = Noise(1 << 20);
  EXPECT_LT(GzipCodec().Compress(noise, 0)->size(), noise.size() + noise.size() / 1000 + 64);
  EXPECT_EQ(GzipCodec().Decompress(*GzipCodec().Compress(noise, 0), noise.size()).value(), noise);
}

TEST(GzipMember, InflatesMembersOneAfterAnotherIntoTheSameBuffer) {
  GzipMemberDeflater deflater(6);
  GzipMemberInflater inflater;
  Buffer packed, out;
  std::string file;
  std::vector<std::string> texts = {"", Markup(100), Markup(1000000), Noise(70000), "end"};
  for (const std::string& text : texts) {
    deflater.Deflate(text, packed);
    file += packed.view();
  }
  std::string_view rest = file;
  for (const std::string& text : texts) {
    const auto member = inflater.Inflate(rest, 1 << 20, out);
    ASSERT_TRUE(member.ok());
    ASSERT_EQ(member->kind, GzipMemberInflater::Kind::kDone);
    EXPECT_EQ(out.view(), text);
    EXPECT_EQ(member->produced, text.size());
    rest.remove_prefix(member->consumed);
  }
  EXPECT_TRUE(rest.empty());
}

TEST(GzipMember, TruncationAtEveryByteNeedsMore) {
  const std::string member = GzipCodec().Compress(Markup(2000), 6).value();
  GzipMemberInflater inflater;
  Buffer out;
  for (std::size_t size = 0; size < member.size(); ++size) {
    const auto got = inflater.Inflate(std::string_view(member).substr(0, size), 1 << 20, out);
    ASSERT_TRUE(got.ok()) << size;
    EXPECT_EQ(got->kind, GzipMemberInflater::Kind::kNeedMore);
    EXPECT_EQ(out.size(), 0u);
  }
}

TEST(GzipMember, BeyondTheSizeLimitNeedsMoreAndTakesNoMoreMemory) {
  for (const HeaderFields& fields : {FieldsOf(0), FieldsOf(8)}) {
    const std::string text = Markup(200000);
    const std::string member = MemberWith(fields, text);
    GzipMemberInflater inflater;
    for (const std::size_t size_max : {std::size_t{0}, std::size_t{1000}, text.size() - 1}) {
      Buffer out;
      EXPECT_EQ(inflater.Inflate(member, size_max, out)->kind, GzipMemberInflater::Kind::kNeedMore);
      EXPECT_LE(out.capacity(), size_max);
    }
    Buffer out;
    EXPECT_EQ(inflater.Inflate(member, text.size(), out)->kind, GzipMemberInflater::Kind::kDone);
  }
}

TEST(GzipMember, FlippedBitsAreCorruptOrNeedMoreOrHarmless) {
  const std::string text = Markup(800);
  const std::string member = GzipCodec().Compress(text, 9).value();
  GzipMemberInflater inflater;
  Buffer out;
  for (std::size_t bit = 0; bit < member.size() * 8; ++bit) {
    std::string bad = member;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    const auto got = inflater.Inflate(bad, 1 << 20, out);
    const bool done = got.ok() && got->kind == GzipMemberInflater::Kind::kDone;
    EXPECT_TRUE(!done || out.view() == text) << bit;
  }
}

}  // namespace
}  // namespace stele::codec
