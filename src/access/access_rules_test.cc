#include "access/access_rules.h"

#include <gtest/gtest.h>

#include "util/test_paths.h"

namespace stele::access {
namespace {

using Access = AccessRules::Access;

const Timestamp kNow = *ParseDigits("20261116");

Access Judge(const AccessRules& rules, std::string_view key, std::string_view time = "2014",
             std::string_view user = "") {
  return rules.Judge(key, *ParseDigits(time), kNow, {std::string(user), std::nullopt}).access;
}

Viewer At(std::string_view address, std::string user = "") {
  return {std::move(user), net::IpAddress::FromText(address)};
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

// What a library shows in its reading room only, and nobody may take home.
TEST(Rules, W15_AReadingRoomHasItsOwn) {
  const AccessRules rules = Parse(
      "org,a)/ - {\"access\": \"block\"}\n"
      "org,a)/ - {\"access\": \"allow\", \"ip\": [\"192.0.2.0/24\", \"2001:db8::/32\"], "
      "\"downloads\": false}\n"
      "org,a)/ - {\"access\": \"exclude\", \"user\": \"guest\"}\n"
      "org,b)/ - {\"access\": \"allow\", \"ip\": \"198.51.100.7\", \"user\": \"staff\"}\n"
      "org,b)/ - {\"access\": \"exclude\"}\n");
  const auto judge = [&](std::string_view key, const Viewer& viewer) {
    return rules.Judge(key, *ParseDigits("2014"), kNow, viewer);
  };
  EXPECT_EQ(judge("org,a)/x", {}).access, Access::kBlock);
  EXPECT_EQ(judge("org,a)/x", At("192.0.3.1")).access, Access::kBlock);
  EXPECT_EQ(judge("org,a)/x", At("192.0.2.77")).access, Access::kAllow);
  EXPECT_FALSE(judge("org,a)/x", At("192.0.2.77")).downloads);
  EXPECT_EQ(judge("org,a)/x", At("2001:db8::5")).access, Access::kAllow);
  EXPECT_EQ(judge("org,a)/x", At("192.0.2.77", "guest")).access, Access::kExclude);
  EXPECT_EQ(judge("org,b)/", At("198.51.100.7")).access, Access::kExclude);
  EXPECT_EQ(judge("org,b)/", {"staff", std::nullopt}).access, Access::kExclude);
  EXPECT_EQ(judge("org,b)/", At("198.51.100.7", "staff")).access, Access::kAllow);
  EXPECT_TRUE(judge("org,b)/", At("198.51.100.7", "staff")).downloads);
  EXPECT_TRUE(judge("org,c)/", {}).downloads);
  // Those whom the same rules are for see the same.
  EXPECT_EQ(rules.ClassOf({}), rules.ClassOf(At("203.0.113.1", "somebody")));
  EXPECT_EQ(rules.ClassOf(At("192.0.2.1")), rules.ClassOf(At("2001:db8::1", "staff")));
  EXPECT_NE(rules.ClassOf({}), rules.ClassOf(At("192.0.2.1")));
  EXPECT_NE(rules.ClassOf({}), rules.ClassOf(At("203.0.113.1", "guest")));
}

TEST(Rules, W15_FilesOfPywbMeanWhatTheyMeanThere) {
  const auto rules_of = [](const std::string& name) {
    const std::optional<std::string> text = ReadSample("warc-samples/pywb/" + name + ".aclj");
    return text ? std::optional(Parse(*text)) : std::nullopt;
  };
  for (const std::string name : {"after", "allow_all", "allows", "before", "blocks", "list1",
                                 "list2", "newer", "older", "pywb", "single-line"}) {
    const auto rules = rules_of(name);
    if (!rules) GTEST_SKIP() << name << ".aclj is not here (STELE_TEST_DATA)";
    EXPECT_FALSE(rules->empty()) << name;
  }
  const AccessRules rules = *rules_of("pywb");
  EXPECT_EQ(Judge(rules, "org,iana)/"), Access::kAllow);
  EXPECT_EQ(Judge(rules, "org,iana)/domains"), Access::kExclude);
  EXPECT_EQ(Judge(rules, "org,iana)/about"), Access::kBlock);
  EXPECT_EQ(Judge(rules, "org,iana)/about", "2014", "staff"), Access::kAllow);
  EXPECT_EQ(Judge(rules, "org,iana)/about", "2014", "another"), Access::kBlock);
  EXPECT_EQ(Judge(rules, "org,iana)/_css/2013.1/screen.css"), Access::kExclude);
  EXPECT_EQ(Judge(rules, "org,iana)/_css/2013.1/fonts/opensans-semibold.ttf"), Access::kAllow);
  EXPECT_EQ(Judge(rules, "org,iana)/exact/match/first/line/aclj"), Access::kAllow);
  EXPECT_EQ(Judge(rules, "org,iana)/exact/match/first/line/aclj/x"), Access::kExclude);
  EXPECT_EQ(Judge(rules, "com,example)/?example=3", "2014", "staff"), Access::kBlock);
  EXPECT_EQ(Judge(rules, "com,example)/?example=3", "2014", "staff2"), Access::kExclude);
  EXPECT_EQ(Judge(rules, "com,example)/?example=3"), Access::kAllow);
  EXPECT_EQ(Judge(rules, "org,example)/?example=1"), Access::kBlock);
  const AccessRules list = *rules_of("list1");
  EXPECT_EQ(Judge(list, "com,example)/abc/page.html"), Access::kAllow);
  EXPECT_EQ(Judge(list, "com,example)/abc/ef"), Access::kBlock);
  EXPECT_EQ(Judge(list, "com,example,sub)/"), Access::kExclude);
  EXPECT_EQ(Judge(list, "com,other)/"), Access::kAllow);
}

TEST(Rules, W15_AWrongLineIsNamed) {
  for (const std::string_view line :
       {"org,a)/", "org,a)/ - {", "org,a)/ - {\"access\": \"maybe\"}", "org,a)/ - {}",
        "org,a)/ - {\"access\": \"block\", \"before\": \"soon\"}",
        "org,a)/ - {\"access\": \"block\", \"user\": 7}",
        "org,a)/ - {\"access\": \"allow\", \"user\": \"\"}",
        "org,a)/ - {\"access\": \"block\", \"ip\": []}",
        "org,a)/ - {\"access\": \"block\", \"ip\": [\"192.0.2.0/40\"]}",
        "org,a)/ - {\"access\": \"block\", \"ip\": 7}",
        "org,a)/ - {\"access\": \"allow\", \"downloads\": \"no\"}",
        "org,a)/ - {\"access\": \"block\", \"newer\": {\"eons\": 1}}"}) {
    const Result<AccessRules> rules = AccessRules::Parse("\n" + std::string(line), "file");
    ASSERT_FALSE(rules) << line;
    EXPECT_NE(rules.error().text.find("line 2"), std::string::npos) << rules.error().text;
  }
}

}  // namespace
}  // namespace stele::access
