#include "catalog/page_index.h"

#include <gtest/gtest.h>

namespace stele::catalog {
namespace {

PageIndex ExampleIndex() {
  PageIndex index;
  index.Add("", 100);
  index.Add("com,example)/", 50);
  index.Add("com,example)/a", 60);
  index.Add("com,example)/a", 70);
  index.Add("org,example)/", 80);
  return index;
}

TEST(PageIndex, P1_KnowsWhereEachPageLies) {
  const PageIndex index = ExampleIndex();
  ASSERT_EQ(index.size(), 5u);
  EXPECT_EQ(index.offset(0), 32u);
  EXPECT_EQ(index.length(0), 100u);
  EXPECT_EQ(index.offset(4), 32u + 100 + 50 + 60 + 70);
  EXPECT_EQ(index.end(), 32u + 100 + 50 + 60 + 70 + 80);
  EXPECT_EQ(index.first_key(2), "com,example)/a");
}

TEST(PageIndex, P1_FindsThePageOfAKey) {
  const PageIndex index = ExampleIndex();
  EXPECT_EQ(index.LastAtOrBefore(""), 0u);
  EXPECT_EQ(index.LastAtOrBefore("com,example)."), 0u);
  EXPECT_EQ(index.LastAtOrBefore("com,example)/"), 1u);
  EXPECT_EQ(index.LastAtOrBefore("com,example)/a"), 3u);
  EXPECT_EQ(index.LastAtOrBefore("com,example)/b"), 3u);
  EXPECT_EQ(index.LastAtOrBefore("zz"), 4u);
  PageIndex late;
  late.Add("b", 20);
  EXPECT_EQ(late.LastAtOrBefore("a"), std::nullopt);
  EXPECT_EQ(PageIndex().LastAtOrBefore("a"), std::nullopt);
}

TEST(PageIndex, P1_ComesBackFromItsText) {
  for (const PageIndex& index : {ExampleIndex(), PageIndex()}) {
    const Result<PageIndex> again = PageIndex::Parse(index.Format());
    ASSERT_TRUE(again);
    ASSERT_EQ(again->size(), index.size());
    for (std::uint32_t page = 0; page < index.size(); ++page) {
      EXPECT_EQ(again->first_key(page), index.first_key(page));
      EXPECT_EQ(again->offset(page), index.offset(page));
    }
    EXPECT_EQ(again->end(), index.end());
  }
}

TEST(PageIndex, P1_RefusesWhatItDidNotWrite) {
  const std::string text = ExampleIndex().Format();
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(PageIndex::Parse(text.substr(0, size))) << size;
  }
  EXPECT_FALSE(PageIndex::Parse(text + "x"));
  using namespace std::string_literals;
  EXPECT_FALSE(PageIndex::Parse("\x02\x20\x00\x01z\x20\x00\x01y"s)) << "keys that fall";
  EXPECT_FALSE(PageIndex::Parse("\x01\x20\x01\x01z"s)) << "shares more than there is";
  EXPECT_FALSE(PageIndex::Parse("\x01\x0F\x00\x01z"s)) << "too short for a frame";
}

}  // namespace
}  // namespace stele::catalog
