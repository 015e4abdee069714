#include "util/coding.h"

#include <gtest/gtest.h>

#include <limits>

namespace stele {
namespace {

TEST(Coding, FixedNumbersAreLittleEndian) {
  std::string bytes;
  PutFixed32(bytes, 0x01020304);
  PutFixed64(bytes, 0x1122334455667788);
  EXPECT_EQ(bytes, std::string("\x04\x03\x02\x01\x88\x77\x66\x55\x44\x33\x22\x11", 12));
  ByteReader reader(bytes);
  EXPECT_EQ(reader.Fixed32(), 0x01020304u);
  EXPECT_EQ(reader.Fixed64(), 0x1122334455667788u);
  EXPECT_TRUE(reader.good());
  EXPECT_TRUE(reader.AtEnd());
}

TEST(Coding, VarintsComeBackAtAllTheirLengths) {
  for (int bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t near : {0, 1, 2}) {
      const std::uint64_t value = (std::uint64_t{1} << bit) - 1 + near;
      std::string bytes;
      PutVarint(bytes, value);
      EXPECT_LE(bytes.size(), 10u);
      ByteReader reader(bytes);
      EXPECT_EQ(reader.Varint(), value);
      EXPECT_TRUE(reader.good() && reader.AtEnd()) << value;
    }
  }
}

TEST(Coding, SignedVarintsAreShortNearZero) {
  std::string bytes;
  for (const std::int64_t value : {-64, -1, 0, 1, 63}) PutSignedVarint(bytes, value);
  EXPECT_EQ(bytes.size(), 5u);
  PutSignedVarint(bytes, std::numeric_limits<std::int64_t>::min());
  PutSignedVarint(bytes, std::numeric_limits<std::int64_t>::max());
  ByteReader reader(bytes);
  for (const std::int64_t value : {-64, -1, 0, 1, 63}) EXPECT_EQ(reader.SignedVarint(), value);
  EXPECT_EQ(reader.SignedVarint(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(reader.SignedVarint(), std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(reader.good());
}

TEST(Coding, WhatIsMissingOrMalformedIsNoticed) {
  const auto refuses = [](std::string_view bytes, auto read) {
    ByteReader reader(bytes);
    read(reader);
    return !reader.good() && reader.AtEnd();
  };
  EXPECT_TRUE(refuses("abc", [](ByteReader& r) { r.Fixed32(); }));
  EXPECT_TRUE(refuses("abcdefg", [](ByteReader& r) { r.Fixed64(); }));
  EXPECT_TRUE(refuses("", [](ByteReader& r) { r.Varint(); }));
  EXPECT_TRUE(refuses("\x80", [](ByteReader& r) { r.Varint(); }));
  EXPECT_TRUE(refuses(std::string_view("\x80\x00", 2), [](ByteReader& r) { r.Varint(); }));
  EXPECT_TRUE(
      refuses("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", [](ByteReader& r) { r.Varint(); }));
  EXPECT_TRUE(
      refuses("\x05"
              "four",
              [](ByteReader& r) { r.Sized(); }));
  std::string sized;
  PutSized(sized, "four");
  ByteReader reader(sized);
  EXPECT_EQ(reader.Sized(), "four");
  EXPECT_TRUE(reader.good());
}

}  // namespace
}  // namespace stele
