#include "store/claims.h"

#include <gtest/gtest.h>

namespace stele::store {
namespace {

using std::chrono::milliseconds;

StoreRequest Claiming(const Signature& signature, const std::string& id) {
  StoreRequest request{signature, 1, StoreMode::kRegular, "", {"me", id}};
  request.home.claim = true;
  return request;
}

Signature SignatureOf(int number) { return Sha256Signatures().Of(std::to_string(number)); }

TEST(Claims, W11_OneOperationHasAContentUntilItGivesItBack) {
  Claims claims(milliseconds(600'000));
  const Signature signature = SignatureOf(1);
  EXPECT_TRUE(claims.Ask(Claiming(signature, "1")));
  EXPECT_TRUE(claims.Ask(Claiming(signature, "1")));  // asked again
  EXPECT_FALSE(claims.Ask(Claiming(signature, "2")));
  EXPECT_FALSE(claims.BeginStoring(Claiming(signature, "2")));
  EXPECT_EQ(claims.ClaimedBy(signature)->id, "1");
  claims.End(signature, {"me", "2"});  // not its own
  EXPECT_FALSE(claims.Ask(Claiming(signature, "2")));
  claims.End(signature, {"me", "1"});
  EXPECT_FALSE(claims.ClaimedBy(signature));
  EXPECT_EQ(claims.size(), 0u);
}

TEST(Claims, W11_ABlockThatIsBeingMadeIsWaitedFor) {
  Claims claims(milliseconds(600'000));
  const Signature signature = SignatureOf(1);
  ASSERT_TRUE(claims.BeginStoring(Claiming(signature, "1")));
  EXPECT_FALSE(claims.Ask(Claiming(signature, "2")));
  claims.EndStoring(signature);
  EXPECT_EQ(claims.size(), 0u);
  EXPECT_TRUE(claims.Ask(Claiming(signature, "2")));
}

TEST(Claims, W11_ClaimsOfClientsThatNeverComeBackAreForgotten) {
  Claims claims(milliseconds(0));  // ends at once
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(claims.Ask(Claiming(SignatureOf(i), "1")));
  EXPECT_LE(claims.size(), 1000u);
}

TEST(Claims, W11_ClaimsThatLastAreKeptHoweverMany) {
  Claims claims(milliseconds(600'000));
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(claims.Ask(Claiming(SignatureOf(i), "1")));
  for (int i = 0; i < 10'000; ++i) ASSERT_FALSE(claims.Ask(Claiming(SignatureOf(i), "2")));
}

}  // namespace
}  // namespace stele::store
