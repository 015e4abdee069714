#include "store/membership.h"

#include <gmock/gmock.h>

#include "io/fault_file_system.h"
#include "io/memory_file_system.h"

namespace stele::store {
namespace {

using testing::HasSubstr;

Membership Sample() {
  return {{3, "sha256", Placement::kRendezvous, {"v1", "v2"}},
          Membership::Settled::kSelf,
          "<connector/>\n"};
}

TEST(Membership, W8_IsTextThatPeopleRead) {
  const std::string text = FormatMembership(Sample());
  EXPECT_EQ(text,
            "STELE-MEMBER 1\nsum 93EACE032FD91E69\nepoch 3\nsettled self\nsignature sha256\n"
            "placement rendezvous\nvolume v1\nvolume v2\n\n<connector/>\n");
  EXPECT_EQ(*ParseMembership(text), Sample());
}

TEST(Membership, W8_AnyFlippedBitIsNoticed) {
  const std::string text = FormatMembership(Sample());
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(ParseMembership(flipped)) << bit;
  }
}

TEST(Membership, W8_AMissingFileIsNoMembershipAndADamagedOneIsAnError) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectory("v"));
  EXPECT_EQ(ReadMembership(fs, "v")->composition.epoch, 0u);
  ASSERT_TRUE(WriteMembership(fs, "v", Sample()));
  EXPECT_EQ(*ReadMembership(fs, "v"), Sample());
  ASSERT_TRUE(io::ReplaceFile(fs, "v/member", "STELE-MEMBER 2\n"));
  const auto damaged = ReadMembership(fs, "v");
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(damaged.error().text, HasSubstr("v/member"));
}

TEST(Membership, W8_AFailedWriteLeavesTheOldOneOrTheNewOne) {
  Membership next = Sample();
  next.composition.epoch = 4;
  for (int fail_at = 1;; ++fail_at) {
    io::MemoryFileSystem disk;
    ASSERT_TRUE(disk.MakeDirectory("v"));
    ASSERT_TRUE(disk.SyncDirectory("."));
    ASSERT_TRUE(WriteMembership(disk, "v", Sample()));
    io::FaultFileSystem fs(disk, fail_at);
    const bool written = WriteMembership(fs, "v", next).ok();
    disk.Crash();
    const auto found = ReadMembership(disk, "v");
    ASSERT_TRUE(found) << found.error().text;
    if (written) {
      EXPECT_EQ(*found, next);
      break;
    }
    EXPECT_TRUE(*found == next || *found == Sample());
  }
}

}  // namespace
}  // namespace stele::store
