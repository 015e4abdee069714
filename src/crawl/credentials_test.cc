#include "crawl/credentials.h"

#include <gtest/gtest.h>

namespace stele::crawl {
namespace {

constexpr Timestamp kNow{1'700'000'000'000};

url::Url Url(const std::string& text) { return *url::Parse(text); }

TEST(Credentials, I1_LoginsGoToTheirHostOnly) {
  Credentials credentials;
  ASSERT_TRUE(credentials.AddLogins("# mine\n\nA.org basic me:pass word\nb.org  bearer  t0ken\r\n",
                                    "logins"));
  EXPECT_EQ(credentials.AuthorizationFor(Url("http://a.org/")), "Basic bWU6cGFzcyB3b3Jk");
  EXPECT_EQ(credentials.AuthorizationFor(Url("https://b.org/")), "Bearer t0ken");
  EXPECT_EQ(credentials.AuthorizationFor(Url("http://sub.a.org/")), "");
  EXPECT_TRUE(credentials.GoesTo(Url("http://a.org/"), kNow));
  EXPECT_FALSE(credentials.GoesTo(Url("http://c.org/"), kNow));
}

TEST(Credentials, I1_LoginsGoToNoOtherPortAndInTheClearOnlyWhereTheSeedIs) {
  Credentials credentials;
  ASSERT_TRUE(
      credentials.AddLogins("a.org bearer a\nb.org:81 bearer b\nc.org bearer c\n"
                            "[::1]:82 bearer d\nc.org:83 bearer e\n",
                            "logins"));
  for (const char* seed : {"http://a.org:8080/", "https://c.org/", "https://c.org:83/"}) {
    credentials.AddSeed(Url(seed));
  }
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"http://a.org/", "Bearer a"},      {"https://a.org/", "Bearer a"},
      {"http://a.org:8080/", "Bearer a"}, {"http://a.org:8081/", ""},
      {"http://b.org:81/", "Bearer b"},   {"http://b.org/", ""},
      {"https://c.org/x", "Bearer c"},    {"http://c.org/x", ""},
      {"https://c.org:83/", "Bearer e"},  {"http://c.org:83/", ""},
      {"http://[::1]:82/", "Bearer d"},   {"http://[::1]/", ""}};
  for (const auto& [url, login] : expected) {
    EXPECT_EQ(credentials.AuthorizationFor(Url(url)), login) << url;
    EXPECT_EQ(credentials.GoesTo(Url(url), kNow), !login.empty()) << url;
  }
  EXPECT_EQ(credentials.AuthorizationForProxy("a.org", 3128), "Bearer a");
  EXPECT_EQ(credentials.AuthorizationForProxy("b.org", 81), "Bearer b");
  EXPECT_EQ(credentials.AuthorizationForProxy("b.org", 82), "");
}

TEST(Credentials, I1_FormsAreOfTheirHost) {
  Credentials credentials;
  ASSERT_TRUE(
      credentials.AddLogins("a.org form https://a.org/in?x user=me&word=a+b%21\n", "logins"));
  ASSERT_EQ(credentials.forms().size(), 1U);
  EXPECT_EQ(credentials.forms().front().page.href(), "https://a.org/in?x");
  EXPECT_EQ(credentials.forms().front().fields, "user=me&word=a+b%21");
  EXPECT_EQ(credentials.AuthorizationFor(Url("https://a.org/")), "");
}

TEST(Credentials, I1_WrongLinesAreNamedWithoutTheirSecret) {
  for (const char* wrong :
       {"a.org", "a.org basic", "a.org basic s3cret", "a.org digest s3:cret",
        "a.org form https://b.org/ s3=cret", "a.org:80 form https://a.org/ s3=cret",
        "a.org form s3=cret", "a.org form https://a.org/ s3cret"}) {
    Credentials credentials;
    const Status added = credentials.AddLogins(std::string("\n") + wrong, "logins");
    ASSERT_FALSE(added) << wrong;
    EXPECT_EQ(added.error().text.find("s3"), std::string::npos) << added.error().text;
    EXPECT_NE(added.error().text.find("logins:2"), std::string::npos);
  }
}

TEST(Credentials, I1_CookiesOfAFileAreKnown) {
  Credentials credentials;
  credentials.AddCookies("a.org\tFALSE\t/\tFALSE\t0\tsid\ts3cret\n", kNow);
  EXPECT_EQ(credentials.cookies().size(), 1U);
  EXPECT_TRUE(credentials.GoesTo(Url("http://a.org/x"), kNow));
  EXPECT_FALSE(credentials.GoesTo(Url("http://b.org/x"), kNow));
}

TEST(Credentials, I1_StoredRequestsHaveNoSecrets) {
  EXPECT_EQ(Redacted("GET / HTTP/1.1\r\nHost: a\r\nauthorization: Basic x\r\nCookie: a=1; b=2\r\n"
                     "X-Cookie: kept\r\n\r\nCookie: body\r\n"),
            "GET / HTTP/1.1\r\nHost: a\r\nauthorization: [redacted]\r\nCookie: [redacted]\r\n"
            "X-Cookie: kept\r\n\r\nCookie: body\r\n");
  EXPECT_EQ(Redacted(""), "");
  EXPECT_EQ(Redacted("GET /"), "GET /");
}

}  // namespace
}  // namespace stele::crawl
