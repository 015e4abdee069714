#include "store/composition.h"

#include <gmock/gmock.h>

#include <map>

namespace stele::store {
namespace {

using testing::ElementsAre;

Composition Of(int volumes, Placement placement) {
  Composition composition{.epoch = 1, .placement = placement};
  for (int i = 0; i < volumes; ++i) composition.volumes.push_back("v" + std::to_string(i));
  return composition;
}

TEST(Composition, W4_HomesAreSignatureModN) {
  const Composition three = Of(3, Placement::kModulo);
  EXPECT_EQ(three.HomeOf(Signature("\x01\x04")), 260u % 3);
  EXPECT_THAT(three.OrderFor(Signature("\x01\x04")), ElementsAre(2, 0, 1));
  EXPECT_TRUE(three.IsHome("v2", Signature("\x01\x04")));
  EXPECT_FALSE(three.IsHome("v0", Signature("\x01\x04")));
}

TEST(Composition, W9_RendezvousMovesFewHomesWhenAVolumeJoins) {
  const Composition before = Of(4, Placement::kRendezvous);
  const Composition after = Of(5, Placement::kRendezvous);
  const Sha256Signatures sha;
  int moved = 0;
  std::map<std::size_t, int> share;
  constexpr int kContents = 2000;
  for (int i = 0; i < kContents; ++i) {
    const Signature signature = sha.Of(std::to_string(i));
    const std::size_t home = after.HomeOf(signature);
    ++share[home];
    if (before.HomeOf(signature) == home) continue;
    ++moved;
    EXPECT_EQ(home, 4u);
  }
  EXPECT_NEAR(moved, kContents / 5, 80);
  for (const auto& [home, count] : share) EXPECT_NEAR(count, kContents / 5, 80) << home;
}

TEST(Composition, W11_TheHomeIsTheFirstInOrder) {
  for (const Placement placement : {Placement::kModulo, Placement::kRendezvous}) {
    for (int volumes = 1; volumes < 9; ++volumes) {
      const Composition composition = Of(volumes, placement);
      for (int i = 0; i < 50; ++i) {
        const Signature signature = RabinSignatures().Of(std::to_string(i));
        const std::vector<std::size_t> order = composition.OrderFor(signature);
        EXPECT_EQ(order.front(), composition.HomeOf(signature));
        std::vector<bool> seen(composition.volumes.size(), false);
        for (const std::size_t place : order) seen[place] = true;
        EXPECT_THAT(seen, testing::Each(true));
      }
    }
  }
}

TEST(Composition, PlacementsHaveNames) {
  for (const Placement placement : {Placement::kModulo, Placement::kRendezvous}) {
    EXPECT_EQ(PlacementByName(PlacementName(placement)), placement);
  }
  EXPECT_EQ(PlacementByName("ring"), std::nullopt);
}

}  // namespace
}  // namespace stele::store
