#include "store/owners_file.h"

#include <gmock/gmock.h>

#include "util/digest.h"

namespace stele::store {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kHash =
    "sha256:9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08";

TEST(OwnersFile, W6_HasTokensAndQuotas) {
  const auto rules = ParseOwners(
      "# those who may\n  # and how much\n\ncrawler  token:correct-horse-battery bytes=1000 "
      "references=5\r\n"
      "notes sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n");
  ASSERT_TRUE(rules) << rules.error().text;
  ASSERT_EQ(rules->size(), 2u);
  EXPECT_EQ((*rules)[0].owner, "crawler");
  EXPECT_EQ((*rules)[0].quota, (Quota{1000, 5}));
  EXPECT_EQ((*rules)[0].token_sha256,
            DigestOf(DigestAlgorithm::kSha256, "correct-horse-battery").bytes());
  EXPECT_EQ((*rules)[1].quota, Quota());
  EXPECT_EQ((*rules)[1].token_sha256, DigestOf(DigestAlgorithm::kSha256, "test").bytes());
  EXPECT_EQ(*ParseOwners(FormatOwners(*rules)), *rules);
  EXPECT_THAT(*ParseOwners(""), IsEmpty());
}

TEST(OwnersFile, W6_WhatIsNotUnderstoodIsRefusedWithItsLine) {
  const std::string hash(kHash);
  const std::string other = hash.substr(0, hash.size() - 1) + "9";
  for (const auto& [line, text] : std::vector<std::pair<std::string, std::string>>{
           {"crawler", "OWNER TOKEN"},
           {std::string(65, 'x') + " " + hash, "1 to 64"},
           {"crawler secret", "token:TEXT"},
           {"crawler token:short", "less than 16"},
           {"crawler " + hash.substr(1), "token:TEXT"},
           {"crawler " + hash + "0", "64 hexadecimal"},
           {"crawler " + hash.substr(0, 70) + "G", "64 hexadecimal"},
           {"crawler " + hash + " bytes=-1", "above 0"},
           {"crawler " + hash + " bytes=0", "above 0"},
           {"crawler " + hash + " bytes=1 bytes=2", "once"},
           {"crawler " + hash + " references=99999999999999999999", "above 0"},
           {"crawler " + hash + " quota=1", "only"},
           {"crawler\t" + hash, "printable"},
           {"first " + other, "line above"},
           {"crawler " + hash + "\nsecond " + hash, "another owner"}}) {
    const auto read = ParseOwners("first token:first-first-first\n" + line + "\n");
    ASSERT_FALSE(read) << line;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(read.error().text, HasSubstr(text));
    EXPECT_THAT(read.error().text, HasSubstr(text == "another owner" ? "line 3" : "line 2"));
  }
}

}  // namespace
}  // namespace stele::store
