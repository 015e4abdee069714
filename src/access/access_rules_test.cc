#include "access/access_rules.h"

#include <gtest/gtest.h>

namespace stele::access {
namespace {

using Access = AccessRules::Access;

const Timestamp kNow = *ParseDigits("20261116");

Access Judge(const AccessRules& rules, std::string_view key, std::string_view time = "2014",
             std::string_view user = "") {
  return rules.Judge(key, *ParseDigits(time), kNow, user);
}

AccessRules Parse(std::string_view text) {
  Result<AccessRules> rules = AccessRules::Parse(text, "test");
  EXPECT_TRUE(rules) << rules.error().text;
  return rules ? *std::move(rules) : AccessRules();
}

TEST(Rules, W15_TheMostSpecialOneDecides) {
  const AccessRules rules = Parse(
      "org,iana)/_css/2013.1/fonts/opensans-semibold.ttf - {\"access\": \"allow\"}\n"
      "org,iana)/_css - {\"access\": \"exclude\"}\n"
      "org,iana)/### - {\"access\": \"allow\"}\n"
      "org,iana)/ - {\"access\": \"exclude\"}\n"
      "\n# a comment\n"
      "com, - {\"access\": \"block\"}\n");
  EXPECT_EQ(Judge(rules, "org,iana)/"), Access::kAllow);
  EXPECT_EQ(Judge(rules, "org,iana)/about"), Access::kExclude);
  EXPECT_EQ(Judge(rules, "org,iana)/_css/x"), Access::kExclude);
  EXPECT_EQ(Judge(rules, "org,iana)/_css/2013.1/fonts/opensans-semibold.ttf"), Access::kAllow);
  EXPECT_EQ(Judge(rules, "com,example)/"), Access::kBlock);
  EXPECT_EQ(Judge(rules, "net,example)/"), Access::kAllow);
}

TEST(Rules, W15_DatesAndAgesDecide) {
  const AccessRules rules = Parse(
      "org,a)/ - {\"access\": \"block\", \"before\": \"20140126\"}\n"
      "org,b)/ - {\"access\": \"block\", \"after\": \"20140126\"}\n"
      "org,c)/ - {\"access\": \"exclude\", \"newer\": {\"years\": 1, \"months\": 6}}\n"
      "org,d)/ - {\"access\": \"exclude\", \"older\": {\"years\": 1}}\n");
  EXPECT_EQ(Judge(rules, "org,a)/", "20140125"), Access::kBlock);
  EXPECT_EQ(Judge(rules, "org,a)/", "20140127"), Access::kAllow);
  EXPECT_EQ(Judge(rules, "org,b)/", "20140125"), Access::kAllow);
  EXPECT_EQ(Judge(rules, "org,b)/", "20140127"), Access::kBlock);
  EXPECT_EQ(Judge(rules, "org,c)/", "20250515"), Access::kAllow);
  EXPECT_EQ(Judge(rules, "org,c)/", "20250517"), Access::kExclude);
  EXPECT_EQ(Judge(rules, "org,d)/", "20251115"), Access::kExclude);
  EXPECT_EQ(Judge(rules, "org,d)/", "20251117"), Access::kAllow);
}

TEST(Rules, W15_UsersMayHaveTheirOwn) {
  const AccessRules rules = Parse(
      "org,iana)/about - {\"access\": \"block\"}\n"
      "org,iana)/about - {\"access\": \"allow\", \"user\": \"staff\"}\n"
      "*, - {\"access\": \"exclude\", \"user\": \"guest\"}\n");
  EXPECT_EQ(Judge(rules, "org,iana)/about"), Access::kBlock);
  EXPECT_EQ(Judge(rules, "org,iana)/about", "2014", "staff"), Access::kAllow);
  EXPECT_EQ(Judge(rules, "com,x)/", "2014", "guest"), Access::kExclude);
  EXPECT_EQ(Judge(rules, "com,x)/"), Access::kAllow);
}

TEST(Rules, W15_AWrongLineIsNamed) {
  for (const std::string_view line :
       {"org,a)/", "org,a)/ - {", "org,a)/ - {\"access\": \"maybe\"}", "org,a)/ - {}",
        "org,a)/ - {\"access\": \"block\", \"before\": \"soon\"}",
        "org,a)/ - {\"access\": \"block\", \"newer\": {\"eons\": 1}}"}) {
    const Result<AccessRules> rules = AccessRules::Parse("\n" + std::string(line), "file");
    ASSERT_FALSE(rules) << line;
    EXPECT_NE(rules.error().text.find("line 2"), std::string::npos) << rules.error().text;
  }
}

}  // namespace
}  // namespace stele::access
