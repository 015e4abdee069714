#include "crawl/scope.h"

#include <gtest/gtest.h>

namespace stele::crawl {
namespace {

struct Lab {
  explicit Lab(ScopeOptions options = {}, const std::string& seed = "http://www.a.org/news/x.html")
      : scope(std::move(options)) {
    scope.AddSeed(*url::Parse(seed));
  }
  Decision Decide(const std::string& url, const std::string& hops = "L",
                  const std::string& via = "") const {
    Candidate candidate;
    candidate.url = url;
    candidate.via = via;
    candidate.hops = hops;
    return scope.Decide(candidate, *url::Parse(url), 2026);
  }
  bool Takes(const std::string& url, const std::string& hops = "L") const {
    return Decide(url, hops).accepted;
  }
  Scope scope;
};

ScopeOptions WithReach(Reach reach) {
  ScopeOptions options;
  options.reach = reach;
  return options;
}

ScopeOptions WithRules(const std::vector<std::string>& rules) {
  ScopeOptions options;
  for (const std::string& text : rules) {
    Result<ScopeRule> rule = ScopeRule::Parse(text.substr(1), text[0] == '+');
    EXPECT_TRUE(rule) << rule.error().text;
    if (rule) options.rules.push_back(*std::move(rule));
  }
  return options;
}

TEST(Scope, I1_HostIsTheDefaultWithOrWithoutWww) {
  const Lab lab;
  EXPECT_TRUE(lab.Takes("http://a.org/other"));
  EXPECT_TRUE(lab.Takes("https://www.a.org/"));
  EXPECT_FALSE(lab.Takes("http://b.a.org/"));
  EXPECT_FALSE(lab.Takes("http://a.org:8080/")) << "another server";
  EXPECT_FALSE(lab.Takes("http://aa.org/"));
  EXPECT_EQ(lab.Decide("http://b.org/").reason, "outside");
}

TEST(Scope, I1_OtherReaches) {
  const Lab domain(WithReach(Reach::kDomain));
  EXPECT_TRUE(domain.Takes("http://b.a.org/"));
  EXPECT_FALSE(domain.Takes("http://b.org/"));
  const Lab prefix(WithReach(Reach::kPrefix));
  EXPECT_TRUE(prefix.Takes("http://a.org/news/y/z.html"));
  EXPECT_TRUE(prefix.Takes("http://a.org/news/"));
  EXPECT_FALSE(prefix.Takes("http://a.org/newsletter"));
  EXPECT_FALSE(prefix.Takes("http://a.org/"));
  const Lab folder(WithReach(Reach::kPrefix), "http://a.org/blog/");
  EXPECT_TRUE(folder.Takes("http://a.org/blog/1"));
  EXPECT_FALSE(folder.Takes("http://a.org/blogs/1"));
  EXPECT_TRUE(Lab(WithReach(Reach::kAny)).Takes("http://b.org/"));
  EXPECT_FALSE(Lab(WithReach(Reach::kPage)).Takes("http://www.a.org/news/"));
  for (const Reach reach : {Reach::kPage, Reach::kPrefix, Reach::kHost, Reach::kDomain}) {
    EXPECT_EQ(ReachByName(NameOf(reach)), reach);
  }
}

TEST(Scope, I1_WhatPagesNeedIsTakenFromAnywhereUpToThreeHops) {
  const Lab lab;
  EXPECT_EQ(lab.Decide("http://cdn.net/a.css", "LE").reason, "embed");
  EXPECT_TRUE(lab.Takes("http://cdn.net/b.css", "LEE"));
  EXPECT_TRUE(lab.Takes("http://cdn.net/c.png", "LERE"));
  EXPECT_FALSE(lab.Takes("http://cdn.net/d.png", "LEEEE"));
  EXPECT_TRUE(lab.Takes("http://cdn.net/e.js", "LX"));
  EXPECT_FALSE(lab.Takes("http://cdn.net/f.js", "LXE"));
  EXPECT_FALSE(lab.Takes("http://b.org/", "LR")) << "a page that is elsewhere";
  EXPECT_FALSE(lab.Takes("http://cdn.net/page", "LEL"));
}

TEST(Scope, I1_TheFirstRuleThatMatchesDecidesAndSaysSo) {
  const Lab lab(WithRules({"-regex:.*\\.iso", "+host:b.org", "-domain:a.org", "+surt:net,c)/x",
                           "+prefix:http://d.org/y/"}));
  EXPECT_FALSE(lab.Takes("http://b.org/big.iso"));
  EXPECT_TRUE(lab.Takes("http://b.org/"));
  EXPECT_EQ(lab.Decide("http://www.a.org/").reason, "rule -domain:a.org");
  EXPECT_TRUE(lab.Takes("http://c.net/xy"));
  EXPECT_FALSE(lab.Takes("http://c.net/y"));
  EXPECT_TRUE(lab.Takes("http://d.org/y/1"));
  EXPECT_FALSE(lab.Takes("http://d.org/y1"));
  for (const char* wrong : {"host", "host:", "regex:(", "x:y", ""}) {
    EXPECT_FALSE(ScopeRule::Parse(wrong, true)) << wrong;
  }
}

TEST(Scope, I1_WhatIsExcludedIsNoSeedThatASeedLeadsTo) {
  const Lab lab(WithRules({"-host:b.org"}));
  const url::Url url = *url::Parse("http://b.org/login");
  Candidate seed;
  seed.seed = true;
  EXPECT_TRUE(lab.scope.Decide(seed, url, 2026).accepted);
  seed.hops = "R";
  EXPECT_EQ(lab.scope.Decide(seed, url, 2026).reason, "rule -host:b.org");
  EXPECT_TRUE(lab.scope.Decide(seed, *url::Parse("http://c.org/"), 2026).accepted);
}

TEST(Scope, I1_HostsInRulesMayHaveLettersOfAnyLanguage) {
  const Lab lab(WithRules({"-host:a.MÜLLER.example", "+domain:müller.example"}));
  EXPECT_TRUE(lab.Takes("http://b.xn--mller-kva.example/x"));
  EXPECT_FALSE(lab.Takes("http://a.xn--mller-kva.example/x"));
}

TEST(Scope, I1_SitemapsOfHostsThatBelongToItAreTakenFromAnywhere) {
  const std::string robots = "http://www.a.org/robots.txt";
  const std::string map = "http://maps.net/a.xml";
  for (const Reach reach : {Reach::kPrefix, Reach::kHost, Reach::kDomain}) {
    const Lab lab(WithReach(reach));
    EXPECT_EQ(lab.Decide(map, "M", robots).reason, "sitemap");
    EXPECT_TRUE(lab.Decide("http://www.a.org/sitemap.xml", "M", robots).accepted);
    EXPECT_TRUE(lab.Decide("http://other.net/a.xml", "MR", map).accepted);
    EXPECT_TRUE(lab.Decide("http://other.net/a.xml", "MRM", map).accepted);
    EXPECT_FALSE(lab.Decide(map, "MMMMMM", map).accepted) << "an index of indexes without end";
    EXPECT_FALSE(lab.Decide("http://maps.net/page", "ML", map).accepted);
    EXPECT_FALSE(lab.Decide(map, "M", "http://cdn.net/robots.txt").accepted) << "only embeds";
  }
  EXPECT_FALSE(Lab(WithReach(Reach::kPage)).Decide(map, "M", robots).accepted);
  const Lab ruled(WithRules({"-prefix:http://maps.net/", "+host:b.org"}));
  EXPECT_EQ(ruled.Decide(map, "M", robots).reason, "rule -prefix:http://maps.net/");
  EXPECT_TRUE(ruled.Decide("http://c.net/b.xml", "M", "http://b.org/robots.txt").accepted);
}

TEST(Scope, I1_AnExpressionThatTakesForEverIsGivenUp) {
  const Lab lab(WithRules({"+regex:(x+x+)+y"}));
  EXPECT_FALSE(lab.Takes("http://b.org/" + std::string(200, 'x')));
}

TEST(Scope, I1_SeedsAreTakenAndDepthAndTrapsAreNot) {
  ScopeOptions options;
  options.depth_max = 2;
  const Lab lab(std::move(options));
  Candidate seed;
  seed.seed = true;
  EXPECT_TRUE(lab.scope.Decide(seed, *url::Parse("http://elsewhere.net/2090/01/"), 2026).accepted);
  EXPECT_TRUE(lab.Takes("http://a.org/x", "LL"));
  EXPECT_EQ(lab.Decide("http://a.org/x", "LLL").reason, kTooDeep);
  EXPECT_EQ(lab.Decide("http://elsewhere.net/x", "LLL").reason, "outside");
  EXPECT_EQ(lab.Decide("http://a.org/2090/01/", "L").reason, "trap calendar");
  EXPECT_TRUE(lab.Takes("http://a.org/img/2090-01.png", "LE"));
  EXPECT_EQ(lab.Decide("ftp://a.org/", "L").reason, "scheme");
}

}  // namespace
}  // namespace stele::crawl
