#include "store/reference_set.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace stele::store {
namespace {

using Kind = ReferenceEntry::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

ReferenceEntry Entry(Kind kind, std::uint32_t overflow, const std::string& owner,
                     const std::string& id) {
  return {kind, {*Signature::Parse("ADEE2232AF3A4355"), overflow}, {owner, id}, 0, 0, 0};
}

TEST(ReferenceSet, IsTheSameInAnyOrderAndHoweverOften) {
  std::vector<ReferenceEntry> entries = {
      Entry(Kind::kReference, 0, "one", "1"), Entry(Kind::kReference, 0, "two", "1"),
      Entry(Kind::kReference, 1, "one", "2"), Entry(Kind::kRelease, 0, "one", "3"),
      Entry(Kind::kReference, 0, "one", "4")};
  const auto less = [](const ReferenceEntry& a, const ReferenceEntry& b) {
    return FormatReferenceEntry(a) < FormatReferenceEntry(b);
  };
  std::sort(entries.begin(), entries.end(), less);
  do {
    ReferenceSet set;
    for (const ReferenceEntry& entry : entries) set.Add(entry);
    set.Add(entries[0]);
    set.Add(entries[3]);
    EXPECT_EQ(set.Count(0), 2u);
    EXPECT_EQ(set.CountOf(0, "one"), 1u);
    EXPECT_EQ(set.CountOf(0, "two"), 1u);
    EXPECT_EQ(set.Count(1), 1u);
    EXPECT_EQ(set.Count(2), 0u);
    EXPECT_THAT(set.Live(), ElementsAre(0, 1));
    EXPECT_EQ(set.FreeOverflow(), 2u);
    EXPECT_EQ(set.Find(Kind::kReference, {"one", "2"}), 1u);
    EXPECT_FALSE(set.Find(Kind::kRelease, {"one", "2"}));
  } while (std::next_permutation(entries.begin(), entries.end(), less));
}

TEST(ReferenceEntry, WritesAndReadsALine) {
  ReferenceEntry entry = Entry(Kind::kReference, 1, "tomba", "5f0c");
  entry.blocks = 1;
  entry.stored_bytes = 812;
  entry.size = 2048;
  const std::string line = FormatReferenceEntry(entry);
  EXPECT_EQ(line.substr(0, line.rfind(' ')), "+ ADEE2232AF3A4355.1 tomba 5f0c 2 +1 +812 2048");
  const auto read = ParseReferenceEntry(std::string_view(line).substr(0, line.size() - 1));
  ASSERT_TRUE(read);
  EXPECT_EQ(FormatReferenceEntry(*read), line);
}

TEST(ReferenceEntry, AnyDamageIsNoticed) {
  ReferenceEntry entry = Entry(Kind::kRelease, 0, "tomba", "5f0c");
  entry.blocks = -1;
  std::string line = FormatReferenceEntry(entry);
  line.pop_back();
  for (std::size_t at = 0; at < line.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = line;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      EXPECT_FALSE(ParseReferenceEntry(bad)) << bad;
    }
    EXPECT_FALSE(ParseReferenceEntry(line.substr(0, at)));
  }
  const ReferenceEntries read = ParseReferenceEntries(line + "\nrubbish\n\n" + line + "\n- cut");
  EXPECT_EQ(read.entries.size(), 2u);
  EXPECT_EQ(read.damaged, 2u);
  EXPECT_TRUE(read.has_tail);
  EXPECT_THAT(ParseReferenceEntries("").entries, IsEmpty());
}

}  // namespace
}  // namespace stele::store
