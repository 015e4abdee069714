#include <gtest/gtest.h>

#include "access/call.h"
#include "access/cdx_query.h"
#include "access/parameters.h"
#include "access/regex_filter.h"
#include "access/static_files.h"
#include "access/wayback_path.h"

namespace stele::access {
namespace {

using Kind = WaybackPath::Kind;

TEST(WaybackPaths, I7_AllFormsOfTheFieldAreRead) {
  const auto parse = [](std::string_view text) { return *ParseWaybackPath(text); };
  const std::string url = "http://a.org/x?y=1";
  EXPECT_EQ(parse("20140126200624id_/http://a.org/x?y=1"),
            (WaybackPath{Kind::kCapture, "20140126200624", "", "id_", url}));
  EXPECT_EQ(parse("2014/http://a.org/x?y=1"), (WaybackPath{Kind::kCapture, "2014", "", "", url}));
  EXPECT_EQ(parse("mp_/http://a.org/x?y=1"), (WaybackPath{Kind::kCapture, "", "", "mp_", url}));
  EXPECT_EQ(parse("http://a.org/x?y=1"), (WaybackPath{Kind::kTimeGate, "", "", "", url}));
  EXPECT_EQ(parse("*/http://a.org/x?y=1"), (WaybackPath{Kind::kCaptures, "", "", "", url}));
  EXPECT_EQ(parse("2014*/a.org/x?y=1"), (WaybackPath{Kind::kCaptures, "2014", "", "", url}));
  EXPECT_EQ(parse("2010-2014/a.org/x?y=1"),
            (WaybackPath{Kind::kCaptures, "2010", "2014", "", url}));
  EXPECT_EQ(parse("*/http://a.org/x*"), (WaybackPath{Kind::kPrefix, "", "", "", "http://a.org/x"}));
  for (const std::string_view hosts : {"*.a.org", "*.A.org/*", "http://*.a.org/*", "*.a.org*"}) {
    EXPECT_EQ(parse("2010-2014/" + std::string(hosts)),
              (WaybackPath{Kind::kHosts, "2010", "2014", "", "*.a.org"}))
        << hosts;
  }
  EXPECT_EQ(parse("*/http://a.org/?u=//*.b.org").kind, Kind::kCaptures);
}

TEST(WaybackPaths, I7_AddressesAreMended) {
  EXPECT_EQ(AbsoluteUrl("a.org"), "http://a.org");
  EXPECT_EQ(AbsoluteUrl("a.org:8080/x"), "http://a.org:8080/x");
  EXPECT_EQ(AbsoluteUrl("//a.org/"), "http://a.org/");
  EXPECT_EQ(AbsoluteUrl("http:/a.org/"), "http://a.org/");
  EXPECT_EQ(AbsoluteUrl("https%3A%2F%2Fa.org%2F"), "https://a.org/");
  EXPECT_EQ(AbsoluteUrl("dns:a.org"), "dns:a.org");
  EXPECT_EQ(AbsoluteUrl("urn:x:y"), "urn:x:y");
  EXPECT_EQ(AbsoluteUrl(""), "");
  EXPECT_EQ(AbsoluteUrl("http://"), "");
  EXPECT_EQ(AbsoluteUrl("http%3A%2F%2Fa.org/%0d%0aX: y"), "");
}

TEST(WaybackPaths, I7_WrongTimesAreRefused) {
  for (const std::string_view text :
       {"20149999/http://a.org/", "20140230/http://a.org/", "201401262006241234567/http://a.org/",
        "2014*x/http://a.org/", "", "2014/", "*/"}) {
    EXPECT_FALSE(ParseWaybackPath(text)) << text;
  }
  EXPECT_EQ(MomentOf("2014"), *ParseDigits("2014"));
  EXPECT_EQ(MomentOf(""), catalog::kTimeEnd);
  EXPECT_EQ(MomentOf("2"), *ParseDigits("2999"));
}

TEST(ParametersOfRequests, I7_AreDecoded) {
  const Parameters parameters = Parameters::Parse("a=1&b=x%26y+z&a=2&c&&d=0&n=12");
  EXPECT_EQ(parameters.Get("a"), "1");
  EXPECT_EQ(parameters.GetAll("a").size(), 2u);
  EXPECT_EQ(parameters.Get("b"), "x&y z");
  EXPECT_TRUE(parameters.IsOn("c"));
  EXPECT_FALSE(parameters.IsOn("d"));
  EXPECT_EQ(*parameters.Number("n", 5, 100), 12u);
  EXPECT_EQ(*parameters.Number("m", 5, 100), 5u);
  EXPECT_FALSE(parameters.Number("n", 5, 10));
  EXPECT_FALSE(parameters.Number("b", 5, 10));
  EXPECT_EQ(EncodeArgument("a b/\xC3\xA4"), "a%20b%2F%C3%A4");
}

TEST(RegexFilters, I7_CannotTakeLong) {
  auto whole = *RegexFilter::Make("20[01]", RegexFilter::Anchor::kWhole);
  EXPECT_TRUE(*whole->Matches("200"));
  EXPECT_FALSE(*whole->Matches("2000"));
  auto begin = *RegexFilter::Make("20", RegexFilter::Anchor::kBegin);
  EXPECT_TRUE(*begin->Matches("200"));
  EXPECT_FALSE(*begin->Matches("120"));
  EXPECT_FALSE(RegexFilter::Make("(", RegexFilter::Anchor::kBegin));
  auto evil = *RegexFilter::Make("(a+)+b", RegexFilter::Anchor::kWhole);
  EXPECT_FALSE(evil->Matches(std::string(100, 'a')));
}

TEST(StaticPaths, I8_StayBelow) {
  EXPECT_EQ(SafePath("assets/index-1.js"), "assets/index-1.js");
  EXPECT_EQ(SafePath("a%20b.txt"), "a b.txt");
  for (const std::string_view path : {"../x", "a/../../x", "%2e%2e/x", "a//b", ".git/config", "",
                                      "a%00b", "..%5Cx", "/etc/passwd", "a/%2E%2E%2Fb"}) {
    EXPECT_FALSE(SafePath(path)) << path;
  }
}

TEST(Html, I8_TextStaysText) {
  EXPECT_EQ(EscapeHtml("<a href=\"x\" id='y'>&"), "&lt;a href=&#34;x&#34; id=&#39;y&#39;&gt;&amp;");
}

TEST(CdxQueries, I7_WhatCannotBeAskedIsSaid) {
  for (const std::string_view query :
       {"", "url=", "url=a.org&matchType=all", "url=a.org&sort=up", "url=a.org&limit=x",
        "url=a.org&from=yesterday", "url=a.org&fl=nothing", "url=a.org&filter=status",
        "url=a.org&collapse=x:1", "url=a.org&output=pdf", "url=a.org&resumeKey=zz",
        "url=a.org/*&sort=reverse", "url=a.org&sort=closest", "url=a.org&limit=-1&sort=reverse"}) {
    EXPECT_FALSE(ParseCdxQuery(Parameters::Parse(query), CdxDialect::kPywb)) << query;
  }
}

// The last lines are kept until the end; all lines of an archive are not.
TEST(CdxQueries, I7_LinesThatAreOnlyCountedAreNotKept) {
  const auto query = ParseCdxQuery(Parameters::Parse("url=a.org&limit=-5&showNumPages=true"),
                                   CdxDialect::kInternetArchive);
  ASSERT_TRUE(query) << query.error().text;
  EXPECT_TRUE(query->show_page_count);
  EXPECT_TRUE(!query->last || query->limit <= CdxQuery::kLastMax);
}

}  // namespace
}  // namespace stele::access
