#include "formats/cookies/cookies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stele::cookies {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr Timestamp kNow{1'700'000'000'000};
constexpr Timestamp kLater{kNow.milliseconds + 10'000};
const Site kSite{"www.example.org", "/a/b/page", true};

std::optional<Cookie> Parse(std::string_view value, const Site& site = kSite) {
  return ParseSetCookie(value, site, kNow);
}

TEST(Cookies, NameAndValue) {
  const auto cookie = Parse(" SID = 31d4d96e407aad42 ; HttpOnly");
  ASSERT_TRUE(cookie);
  EXPECT_EQ(cookie->name, "SID");
  EXPECT_EQ(cookie->value, "31d4d96e407aad42");
  EXPECT_EQ(cookie->domain, "www.example.org");
  EXPECT_EQ(cookie->path, "/a/b");
  EXPECT_TRUE(cookie->host_only);
  EXPECT_FALSE(cookie->secure);
  EXPECT_FALSE(cookie->expires);
  EXPECT_EQ(Parse("a=b=c")->value, "b=c");
  EXPECT_EQ(Parse("a=\"q\"")->value, "\"q\"");
  EXPECT_EQ(Parse("a=")->value, "");
  for (const char* const bad : {"", "a", "=b", " = ", "a=b\x01"}) EXPECT_FALSE(Parse(bad)) << bad;
  EXPECT_FALSE(Parse("a=" + std::string(5000, 'x')));
}

TEST(Cookies, Domains) {
  EXPECT_EQ(Parse("a=b; Domain=.Example.ORG")->domain, "example.org");
  EXPECT_FALSE(Parse("a=b; Domain=example.org")->host_only);
  EXPECT_TRUE(Parse("a=b; Domain=")->host_only);
  for (const std::string other :
       {"other.org", "x.www.example.org", "xample.org", "org", "e.org", "ww.example.org"}) {
    EXPECT_FALSE(Parse("a=b; domain=" + other)) << other;
  }
  // A host that is itself a public suffix may set cookies for itself.
  const Site suffix{"github.io", "/", true};
  EXPECT_TRUE(Parse("a=b; domain=github.io", suffix)->host_only);
  EXPECT_FALSE(Parse("a=b; domain=io", suffix));
  const Site address{"192.0.2.1", "/", true};
  EXPECT_TRUE(Parse("a=b; domain=192.0.2.1", address)->host_only);
  EXPECT_FALSE(Parse("a=b; domain=2.1", address));
}

TEST(Cookies, Paths) {
  EXPECT_EQ(Parse("a=b; path=/x")->path, "/x");
  EXPECT_EQ(Parse("a=b; path=x")->path, "/a/b");
  EXPECT_EQ(Parse("a=b; path=")->path, "/a/b");
  EXPECT_EQ(Parse("a=b", {"h.example", "/page", true})->path, "/");
  EXPECT_EQ(Parse("a=b", {"h.example", "", true})->path, "/");
}

TEST(Cookies, SecureOnesComeFromSecureSitesOnly) {
  EXPECT_TRUE(Parse("a=b; Secure")->secure);
  EXPECT_FALSE(Parse("a=b; Secure", {"h.example", "/", false}));
}

TEST(Cookies, TimesOfExpiry) {
  for (const char* const date :
       {"Wed, 09 Jun 2024 10:18:14 GMT", "Wednesday, 09-Jun-24 10:18:14 GMT",
        "Wed Jun  9 10:18:14 2024", "9 june 2024 10:18:14", "10:18:14 2024-Jun-09 whatever"}) {
    const auto cookie = Parse(std::string("a=b; Expires=") + date);
    ASSERT_TRUE(cookie && cookie->expires) << date;
    EXPECT_EQ(FormatIso(*cookie->expires), "2024-06-09T10:18:14Z") << date;
  }
  for (const char* const date : {"", "tomorrow", "9 Jun 2024", "32 Jun 2024 10:18:14",
                                 "9 Jun 2024 24:00:00", "9 Jun 1500 10:18:14"}) {
    EXPECT_FALSE(Parse(std::string("a=b; Expires=") + date)->expires) << date;
  }
  EXPECT_EQ(Parse("a=b; max-age=10; expires=Wed, 09 Jun 2024 10:18:14 GMT")->expires, kLater);
  EXPECT_LT(*Parse("a=b; Max-Age=0")->expires, kNow);
  EXPECT_LT(*Parse("a=b; Max-Age=-5")->expires, kNow);
  EXPECT_FALSE(Parse("a=b; Max-Age=1x")->expires);
  // Nothing lives longer than 400 days.
  const Timestamp longest{kNow.milliseconds + std::int64_t{400} * 86'400'000};
  EXPECT_EQ(Parse("a=b; Max-Age=99999999999999999999999")->expires, longest);
  EXPECT_EQ(Parse("a=b; Expires=1 Jan 9999 00:00:00")->expires, longest);
}

TEST(CookieJar, SendsWhatFits) {
  CookieJar jar;
  jar.SetAll({"host=1; path=/", "domain=2; domain=example.org; path=/", "deep=3; path=/a/b",
              "secure=4; secure; path=/", "other=5; path=/x"},
             kSite, kNow);
  EXPECT_EQ(jar.HeaderFor(kSite, kNow), "deep=3; host=1; secure=4; domain=2");
  EXPECT_EQ(jar.HeaderFor({"www.example.org", "/a/bc", false}, kNow), "host=1; domain=2");
  EXPECT_EQ(jar.HeaderFor({"news.example.org", "/", true}, kNow), "domain=2");
  EXPECT_EQ(jar.HeaderFor({"example.org", "", true}, kNow), "domain=2");
  EXPECT_EQ(jar.HeaderFor({"x.www.example.org", "/", true}, kNow), "domain=2");
  EXPECT_EQ(jar.HeaderFor({"badexample.org", "/", true}, kNow), "");
  EXPECT_EQ(jar.size(), 5U);
}

TEST(CookieJar, LaterOnesReplaceAndExpiredOnesDelete) {
  CookieJar jar;
  jar.SetAll({"a=1; path=/", "b=1; path=/", "a=2; path=/"}, kSite, kNow);
  EXPECT_EQ(jar.size(), 2U);
  jar.SetAll({"c=1; path=/; max-age=10"}, kSite, kNow);
  EXPECT_EQ(jar.HeaderFor(kSite, kNow), "b=1; a=2; c=1");
  EXPECT_EQ(jar.HeaderFor(kSite, kLater), "b=1; a=2");
  jar.SetAll({"b=; path=/; max-age=0"}, kSite, kNow);
  EXPECT_EQ(jar.HeaderFor(kSite, kLater), "a=2");
  jar.SetAll({"a=; path=/; expires=Thu, 01 Jan 1970 00:00:00 GMT", "c=; path=/; max-age=0"}, kSite,
             kNow);
  EXPECT_EQ(jar.size(), 0U);
}

TEST(CookieJar, IsBounded) {
  JarLimits limits;
  limits.per_domain_max = 3;
  limits.domains_max = 2;
  limits.bytes_per_domain_max = 100;
  CookieJar jar(limits);
  for (int i = 0; i < 10; ++i) {
    jar.SetAll({std::to_string(i) + "=x; path=/"}, {"one.example", "/", true}, kNow);
  }
  EXPECT_EQ(jar.HeaderFor({"one.example", "/", true}, kNow), "7=x; 8=x; 9=x");
  jar.SetAll({"long=" + std::string(80, 'x')}, {"one.example", "/", true}, kNow);
  EXPECT_EQ(jar.size(), 3U);
  jar.SetAll({"long2=" + std::string(80, 'x')}, {"one.example", "/", true}, kNow);
  EXPECT_EQ(jar.size(), 1U);
  jar.SetAll({"a=b"}, {"two.example", "/", true}, kNow);
  jar.SetAll({"a=b"}, {"three.example", "/", true}, kNow);
  EXPECT_EQ(jar.HeaderFor({"three.example", "/", true}, kNow), "");
}

TEST(CookiesTxt, SevenFields) {
  const std::string_view text =
      "# Netscape HTTP Cookie File\n"
      "\n"
      ".example.org\tTRUE\t/\tTRUE\t1900000000\tsession\tabc\r\n"
      "#HttpOnly_www.example.org\tFALSE\t/x\tFALSE\t0\tid\t\n"
      "www.example.org\tFALSE\t/\tFALSE\t1800000000.75\tfloat\tv\n"
      "www.example.org FALSE / FALSE 0 spaces v\n"
      "www.example.org\tFALSE\tx\tFALSE\t0\tpath\tv\n"
      "\tFALSE\t/\tFALSE\t0\tnodomain\tv\n"
      "www.example.org\tFALSE\t/\tFALSE\tsoon\ttime\tv";
  std::vector<std::pair<std::size_t, std::string>> wrong;
  const std::vector<Cookie> cookies = ParseCookiesTxt(
      text, kNow,
      [&](std::size_t line, std::string_view reason) { wrong.emplace_back(line, reason); });
  ASSERT_EQ(cookies.size(), 3U);
  EXPECT_EQ(cookies[0], (Cookie{"session", "abc", "example.org", "/", Timestamp{1'900'000'000'000},
                                false, true, kNow}));
  EXPECT_EQ(cookies[1],
            (Cookie{"id", "", "www.example.org", "/x", std::nullopt, true, false, kNow}));
  EXPECT_EQ(cookies[2].expires, Timestamp{1'800'000'000'000});
  EXPECT_THAT(
      wrong,
      ElementsAre(Pair(6U, testing::HasSubstr("seven")), Pair(7U, testing::HasSubstr("slash")),
                  Pair(8U, testing::HasSubstr("domain")), Pair(9U, testing::HasSubstr("time"))));
  CookieJar jar;
  for (const Cookie& cookie : cookies) jar.Set(cookie, kNow);
  EXPECT_EQ(jar.HeaderFor({"sub.example.org", "/", true}, kNow), "session=abc");
  EXPECT_EQ(jar.HeaderFor({"www.example.org", "/x", false}, kNow), "id=; float=v");
  EXPECT_EQ(jar.All().size(), 3U);
}

}  // namespace
}  // namespace stele::cookies
