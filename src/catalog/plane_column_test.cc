#include "catalog/plane_column.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "io/random.h"

namespace stele::catalog {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

// A column as its three pieces.
struct Planes {
  std::string head;
  std::string high;
  std::string low;

  explicit Planes(const std::vector<std::uint64_t>& values) { PutPlanes(values, head, high, low); }

  // Nothing when it is refused. `is_all` says whether no byte was left.
  std::optional<std::vector<std::uint64_t>> Read(std::uint64_t count, bool& is_all) const {
    ByteReader heads(head);
    ByteReader highs(high);
    ByteReader lows(low);
    PlaneColumn column;
    if (!column.TakeHead(heads)) return std::nullopt;
    column.TakeHigh(highs, count);
    column.TakeLow(lows, count);
    if (!heads.good() || !highs.good() || !lows.good()) return std::nullopt;
    is_all = heads.AtEnd() && highs.AtEnd() && lows.AtEnd();
    std::vector<std::uint64_t> values;
    for (std::uint64_t i = 0; i < count; ++i) values.push_back(column[i]);
    return values;
  }
};

void ExpectSame(const std::vector<std::uint64_t>& values) {
  const Planes planes(values);
  bool is_all = false;
  const auto read = planes.Read(values.size(), is_all);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, values);
  EXPECT_TRUE(is_all);
}

TEST(PlaneColumn, I6_RandomColumnsAreTheSameAgain) {
  io::SeededRandom dice(4);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const std::uint64_t bits = dice.Next() % 65;
    const std::uint64_t mask = bits == 64 ? kMax : (std::uint64_t{1} << bits) - 1;
    const std::uint64_t room = kMax - mask;
    const std::uint64_t from = room == 0 ? 0 : dice.Next() % room;
    std::vector<std::uint64_t> values(dice.Next() % 300);
    for (std::uint64_t& value : values) value = from + (dice.Next() & mask);
    ExpectSame(values);
  }
}

TEST(PlaneColumn, I6_ColumnsAtTheEdgesAreTheSameAgain) {
  ExpectSame({});
  ExpectSame({0});
  ExpectSame({kMax});
  ExpectSame({0, kMax});
  ExpectSame({kMax, 0, kMax - 1});
  ExpectSame(std::vector<std::uint64_t>(1000, 17));
  for (int plane = 0; plane < 8; ++plane) {
    const std::uint64_t next = std::uint64_t{1} << (8 * plane);
    ExpectSame({5, 5 + next - 1});
    ExpectSame({5, 5 + next});
    ExpectSame({0, 255 * next});
  }
}

TEST(PlaneColumn, I6_TakesNoMorePlanesThanTheLargestDifferenceNeeds) {
  const Planes same(std::vector<std::uint64_t>(50, 1'000'000));
  EXPECT_EQ(same.high.size() + same.low.size(), 0u);
  const Planes near({1'000'000, 1'000'255});
  EXPECT_EQ(near.high.size(), 2u);
  EXPECT_EQ(near.low.size(), 0u);
  const Planes far({1'000'000, 1'000'256});
  EXPECT_EQ(far.high.size(), 2u);
  EXPECT_EQ(far.low.size(), 2u);
}

TEST(PlaneColumn, I6_WhatIsCutOffIsTheReadersError) {
  const Planes whole({3, 70'000, 12, 1 << 20});
  bool is_all = false;
  for (std::string Planes::*piece : {&Planes::head, &Planes::high, &Planes::low}) {
    for (std::size_t size = 0; size < (whole.*piece).size(); ++size) {
      Planes cut = whole;
      (cut.*piece).resize(size);
      EXPECT_FALSE(cut.Read(4, is_all)) << size;
    }
  }
  // More values than there are.
  EXPECT_FALSE(whole.Read(5, is_all));
  EXPECT_FALSE(whole.Read(kMax, is_all));
}

// A page has a checksum; a column refuses what it cannot be, and else reads inside its bytes.
TEST(PlaneColumn, I6_FlippedBitsAreRefusedOrReadInsideTheColumn) {
  const std::vector<std::uint64_t> values = {3, 70'000, 12, 1 << 20};
  const Planes whole(values);
  for (std::string Planes::*piece : {&Planes::head, &Planes::high, &Planes::low}) {
    for (std::size_t bit = 0; bit < (whole.*piece).size() * 8; ++bit) {
      SCOPED_TRACE(bit);
      Planes flipped = whole;
      char& byte = (flipped.*piece)[bit / 8];
      byte = static_cast<char>(byte ^ (1 << bit % 8));
      bool is_all = false;
      const auto read = flipped.Read(values.size(), is_all);
      if (!read) continue;
      EXPECT_TRUE(*read != values || !is_all);
    }
  }
}

TEST(PlaneColumn, I6_MoreThanEightPlanesMakeNoSense) {
  std::string head;
  PutVarint(head, 1);
  PutVarint(head, 9);
  ByteReader reader(head);
  EXPECT_FALSE(PlaneColumn().TakeHead(reader));
}

}  // namespace
}  // namespace stele::catalog
