#include "crawl/seed.h"

#include <gtest/gtest.h>

namespace stele::crawl {
namespace {

TEST(Seed, I1_SeedsNeedNoScheme) {
  EXPECT_EQ(ParseSeed("example.org")->href(), "http://example.org/");
  EXPECT_EQ(ParseSeed(" https://example.org/a#b ")->href_without_fragment(),
            "https://example.org/a");
  EXPECT_EQ(ParseSeed("[2001:db8::1]:8080/x")->href(), "http://[2001:db8::1]:8080/x");
  EXPECT_EQ(ParseSeed("bücher.example")->href(), "http://xn--bcher-kva.example/");
  EXPECT_EQ(ParseSeed("a.org/in?to=https://b.org/")->href(), "http://a.org/in?to=https://b.org/");
  for (const char* wrong : {"", "ftp://a.org/", "http://", "file:///etc/passwd", "./file.html",
                            "/srv/seeds.txt", "*.example.org", "ht!tp:/x y"}) {
    EXPECT_FALSE(ParseSeed(wrong)) << wrong;
  }
}

TEST(Seed, I1_SeedsWithPasswordsAreRefusedWithoutSayingThem) {
  for (const char* wrong :
       {"http://me:swordfish@a.org/", "swordfish@a.org", "http://:swordfish@a.org"}) {
    const Result<url::Url> seed = ParseSeed(wrong);
    ASSERT_FALSE(seed) << wrong;
    EXPECT_EQ(seed.error().text.find("swordfish"), std::string::npos);
    EXPECT_NE(seed.error().text.find("--logins"), std::string::npos);
  }
  EXPECT_TRUE(ParseSeed("http://a.org/me:you@b"));
}

TEST(Seed, I1_WhetherASchemeWasGivenIsStored) {
  EXPECT_EQ(*SeedText(" Example.org "), "example.org/");
  EXPECT_EQ(*SeedText("example.org:8080/a#b"), "example.org:8080/a");
  EXPECT_EQ(*SeedText("HTTP://example.org"), "http://example.org/");
  EXPECT_EQ(*SeedText("https://example.org"), "https://example.org/");
  EXPECT_FALSE(SeedText("ftp://example.org/"));
  EXPECT_TRUE(AreSameSeeds({"example.org"}, {"http://EXAMPLE.org/#a"}));
  EXPECT_FALSE(AreSameSeeds({"example.org"}, {"https://example.org/"}));
  EXPECT_FALSE(AreSameSeeds({"a.org", "b.org"}, {"a.org"}));
}

TEST(Seed, I1_SeedsOfAnOriginAreAskedForByHttpsOnce) {
  SchemelessSeeds seeds;
  for (const char* text : {"a.org", "a.org/x", "a.org:8080/", "http://a.org/y", "b.org"}) {
    seeds.Add(text);
  }
  EXPECT_TRUE(seeds.IsUntried("http://a.org"));
  EXPECT_EQ(seeds.Fail("http://a.org", {-2, "refused"}),
            (std::vector<std::string>{"http://a.org/", "http://a.org/x"}));
  EXPECT_FALSE(seeds.IsUntried("http://a.org"));
  EXPECT_TRUE(seeds.HasFailed("http://a.org"));
  EXPECT_TRUE(seeds.Fail("http://a.org", {-2, "refused"}).empty());
  EXPECT_EQ(seeds.WhyByHttps("http://a.org/x")->error, "refused");
  EXPECT_EQ(seeds.WhyByHttps("http://a.org/y"), nullptr);
  EXPECT_EQ(seeds.WhyByHttps("http://b.org/"), nullptr);
  EXPECT_EQ(ByHttps("http://a.org:8080/").href(), "https://a.org:8080/");
  EXPECT_EQ(ByHttps("http://a.org:443/").href(), "https://a.org/");
}

}  // namespace
}  // namespace stele::crawl
