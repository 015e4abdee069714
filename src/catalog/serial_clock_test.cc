#include "catalog/serial_clock.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "catalog/test_captures.h"
#include "io/random.h"

namespace stele::catalog {
namespace {

constexpr std::int64_t kMonth = 31ll * 86400000;

struct Known {
  CaptureId id;
  Timestamp time;
};

// Captures of three months, some seconds apart; serials begin anew each month.
std::vector<Known> Crawled(std::uint64_t seed) {
  io::SeededRandom dice(seed);
  std::vector<Known> captures;
  std::int64_t time = kFirstTime;
  std::uint32_t batch = 0;
  std::uint32_t serial = 0;
  while (time < kFirstTime + 3 * kMonth) {
    time += static_cast<std::int64_t>(dice.Next() % 100'000);
    if (BatchOf({time}) != batch) serial = 0;
    batch = BatchOf({time});
    captures.push_back({{batch, serial++}, {time}});
  }
  return captures;
}

SerialClock ClockOf(const std::vector<Known>& captures) {
  SerialClockBuilder builder;
  for (const Known& capture : captures) builder.Add(capture.id, capture.time);
  return builder.Build(captures.size());
}

std::int64_t OffBy(const SerialClock& clock, const Known& capture) {
  return std::int64_t{clock.Guess(capture.id.batch, capture.time)} -
         std::int64_t{capture.id.serial};
}

SerialClock AsWritten(const SerialClock& clock) {
  std::string bytes;
  clock.Put(bytes);
  ByteReader in(bytes);
  SerialClock again;
  EXPECT_TRUE(SerialClock::Take(in, again));
  EXPECT_TRUE(in.AtEnd());
  return again;
}

TEST(SerialClock, P3_SerialsAreGuessedFromTimes) {
  const std::vector<Known> captures = Crawled(1);
  ASSERT_GT(captures.size(), 100'000u);
  const SerialClock clock = ClockOf(captures);
  std::int64_t off = 0;
  for (const Known& capture : captures) off += std::abs(OffBy(clock, capture));
  EXPECT_LT(off, 8 * static_cast<std::int64_t>(captures.size()));
  EXPECT_EQ(AsWritten(clock), clock);
}

TEST(SerialClock, P3_TwoTogetherKnowWhatEachKnows) {
  const std::vector<Known> captures = Crawled(2);
  const auto middle = captures.begin() + static_cast<std::ptrdiff_t>(captures.size() / 2);
  SerialClockBuilder builder;
  builder.Add(ClockOf({captures.begin(), middle}));
  builder.Add(ClockOf({middle, captures.end()}));
  SerialClock clock = builder.Build(captures.size());
  for (int merges = 0; merges < 5; ++merges) {
    SerialClockBuilder again;
    again.Add(clock);
    clock = AsWritten(again.Build(captures.size()));
  }
  std::int64_t off = 0;
  for (const Known& capture : captures) off += std::abs(OffBy(clock, capture));
  EXPECT_LT(off, 10 * static_cast<std::int64_t>(captures.size()));
}

TEST(SerialClock, P3_WhateverIsAddedIsBounded) {
  io::SeededRandom dice(3);
  SerialClockBuilder builder;
  for (int i = 0; i < 300'000; ++i) {
    const auto time = static_cast<std::int64_t>(dice.Next()) >> (dice.Next() % 40);
    const auto serial = static_cast<std::uint32_t>(dice.Next());
    const std::uint32_t batch =
        i % 7 == 0 ? static_cast<std::uint32_t>(dice.Next()) : BatchOf({time});
    builder.Add({batch, serial}, {time});
  }
  const SerialClock clock = builder.Build(300'000);
  std::string bytes;
  clock.Put(bytes);
  EXPECT_LT(bytes.size(), SerialClock::kPointsMax * 10);
  EXPECT_EQ(AsWritten(clock), clock);
}

TEST(SerialClock, P3_NothingIsKnownOfOtherBatches) {
  SerialClockBuilder builder;
  builder.Add({200405, 1000}, {kFirstTime});
  const SerialClock clock = builder.Build(1);
  EXPECT_EQ(clock.Guess(200405, {kFirstTime}), 1000u);
  EXPECT_EQ(clock.Guess(200405, {kFirstTime - kMonth}), 1000u);
  EXPECT_EQ(clock.Guess(200405, {kFirstTime + kMonth}), 1001u);
  EXPECT_EQ(clock.Guess(200406, {kFirstTime}), 0u);
  EXPECT_EQ(SerialClock().Guess(200405, {kFirstTime}), 0u);
}

TEST(SerialClock, P3_WhatMakesNoSenseIsRefused) {
  SerialClockBuilder builder;
  builder.Add({200405, 1000}, {kFirstTime});
  std::string good;
  builder.Build(1).Put(good);
  for (std::size_t size = 0; size < good.size(); ++size) {
    ByteReader cut(std::string_view(good).substr(0, size));
    SerialClock clock;
    EXPECT_FALSE(SerialClock::Take(cut, clock)) << size;
  }
  std::string late;  // moments of no such month
  PutVarint(late, 20);
  PutVarint(late, 1);
  PutVarint(late, 200405);
  PutSignedVarint(late, std::int64_t{1} << 50);
  PutVarint(late, 2);
  PutSignedVarint(late, 1);
  PutSignedVarint(late, 1);
  ByteReader in(late);
  SerialClock clock;
  EXPECT_FALSE(SerialClock::Take(in, clock));
}

}  // namespace
}  // namespace stele::catalog
