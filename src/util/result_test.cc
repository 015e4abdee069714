#include "util/result.h"

#include <gtest/gtest.h>

namespace stele {
namespace {

TEST(Result, HoldsAValueOrAnError) {
  Result<int> good = 3;
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(*good, 3);
  const Result<int> bad = Error{ErrorCode::kCorrupt, "block holds another content"};
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(bad.error().text, "block holds another content");
}

TEST(Result, MovesItsValueOut) {
  Result<std::unique_ptr<int>> boxed = std::make_unique<int>(7);
  std::unique_ptr<int> taken = *std::move(boxed);
  EXPECT_EQ(*taken, 7);
}

TEST(ResultDeathTest, ReadingTheAbsentSideEndsTheProgram) {
  const Status done;
  EXPECT_TRUE(done.ok());
  EXPECT_DEATH(static_cast<void>(done.error()), "does not hold");
}

}  // namespace
}  // namespace stele
