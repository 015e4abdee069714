#include "archive/applied_mark.h"

#include <gtest/gtest.h>

#include "io/memory_file_system.h"

namespace stele::archive {
namespace {

TEST(AppliedMark, IsReadAsItWasWritten) {
  for (const AppliedMark& mark :
       {AppliedMark{1234, {}}, AppliedMark{1, {7}}, AppliedMark{99, {2, 70, 4'000'000'000}}}) {
    EXPECT_EQ(ParseAppliedMark(FormatAppliedMark(mark)), mark);
  }
  EXPECT_TRUE(FormatAppliedMark({1234, {}}).starts_with("stele applied 2 1234 "));
}

TEST(AppliedMark, P3_SaysNothingWhenAnyByteOfItIsFlipped) {
  const std::string good = FormatAppliedMark({1234, {2, 7}});
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    EXPECT_EQ(ParseAppliedMark(bad), AppliedMark()) << at;
  }
  EXPECT_EQ(ParseAppliedMark(""), AppliedMark());
  EXPECT_EQ(ParseAppliedMark("stele applied 2 "), AppliedMark());
}

TEST(AppliedMark, MayBeMissing) {
  io::MemoryFileSystem fs;
  EXPECT_EQ(*ReadAppliedMark(fs, "applied"), AppliedMark());
}

}  // namespace
}  // namespace stele::archive
