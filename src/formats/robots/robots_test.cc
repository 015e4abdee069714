#include "formats/robots/robots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stele::robots {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

bool Allows(std::string_view text, std::string_view target, std::string_view token = "FooBot") {
  return Robots::Parse(text, token).Allows(target);
}

TEST(Robots, NothingForbidsNothing) {
  EXPECT_TRUE(Robots::AllowAll().Allows("/x"));
  EXPECT_TRUE(Allows("", "/x"));
  EXPECT_TRUE(Allows("disallow: /\n", "/x"));  // before any group
  EXPECT_TRUE(Allows("user-agent: FooBot\ndisallow:\n", "/x"));
  EXPECT_FALSE(Robots::DisallowAll().Allows("/x"));
}

TEST(Robots, RobotsTxtItselfIsAllowed) {
  EXPECT_TRUE(Robots::DisallowAll().Allows("/robots.txt"));
  EXPECT_FALSE(Robots::DisallowAll().Allows("/robots.txt.gz"));
}

// RFC 9309 §2.2.1 and §5.1.
TEST(Robots, GroupsAreChosenByProductToken) {
  const std::string_view text =
      "User-Agent: *\n"
      "Disallow: *.gif$\n"
      "Disallow: /example/\n"
      "Allow: /publications/\n"
      "\n"
      "User-Agent: foobot\n"
      "Disallow:/\n"
      "Allow:/example/page.html\n"
      "Allow:/example/allowed.gif\n"
      "\n"
      "User-Agent: barbot\n"
      "User-Agent: bazbot\n"
      "Disallow: /example/page.html\n"
      "\n"
      "User-Agent: quxbot\n";
  EXPECT_FALSE(Allows(text, "/", "foobot"));
  EXPECT_TRUE(Allows(text, "/example/page.html", "foobot"));
  EXPECT_TRUE(Allows(text, "/example/allowed.gif", "FOOBOT"));
  for (const char* const bot : {"barbot", "BazBot"}) {
    EXPECT_FALSE(Allows(text, "/example/page.html", bot));
    EXPECT_TRUE(Allows(text, "/example/other.gif", bot));
  }
  EXPECT_TRUE(Allows(text, "/example/x.gif", "quxbot"));  // its group is empty
  EXPECT_TRUE(Robots::Parse(text, "quxbot").named());
  EXPECT_FALSE(Robots::Parse(text, "stele").named());
  EXPECT_FALSE(Allows(text, "/example/x", "stele"));
  EXPECT_FALSE(Allows(text, "/a/x.gif", "stele"));
  EXPECT_TRUE(Allows(text, "/a/x.gif?y", "stele"));
  EXPECT_TRUE(Allows(text, "/publications/", "stele"));
}

TEST(Robots, GroupsOfOneTokenAreOne) {
  const std::string_view text =
      "user-agent: FooBot\ndisallow: /a\n"
      "user-agent: BarBot\ndisallow: /b\n"
      "user-agent: FooBot\ndisallow: /c\n"
      "user-agent: *\ndisallow: /d\n";
  EXPECT_FALSE(Allows(text, "/a"));
  EXPECT_TRUE(Allows(text, "/b"));
  EXPECT_FALSE(Allows(text, "/c"));
  EXPECT_TRUE(Allows(text, "/d"));
}

TEST(Robots, TokensEndAtTheFirstOtherCharacter) {
  for (const char* const line : {"FooBot", "foobot", "FooBot/1.2", "FooBot 1.2", "FOOBOT*"}) {
    EXPECT_FALSE(Allows(std::string("user-agent: ") + line + "\ndisallow: /\n", "/x")) << line;
  }
  for (const char* const line :
       {"Foo", "FooBot2", "FooBot-News", "Foo Bot", "xFooBot", "*foo", ""}) {
    EXPECT_TRUE(Allows(std::string("user-agent: ") + line + "\ndisallow: /\n", "/x")) << line;
  }
  for (const char* const line : {"*", "* baz", "*\t"}) {
    EXPECT_FALSE(Allows(std::string("user-agent: ") + line + "\ndisallow: /\n", "/x")) << line;
  }
}

TEST(Robots, OtherRecordsDoNotEndAGroup) {
  EXPECT_FALSE(Allows("User-agent: BarBot\nSitemap: https://a/s\nUser-agent: *\nDisallow: /\n",
                      "/x", "BarBot"));
  EXPECT_FALSE(
      Allows("User-agent: FooBot\nInvalid-Unknown: x\nUser-agent: *\nDisallow: /\n", "/x"));
  EXPECT_FALSE(Allows("User-agent: FooBot\n\n\nDisallow: /\n", "/x"));
}

// RFC 9309 §2.2.2 and §5.2.
TEST(Robots, TheLongestRuleCounts) {
  const std::string_view text =
      "User-Agent: foobot\n"
      "Allow: /example/page/\n"
      "Disallow: /example/page/disallowed.gif\n";
  EXPECT_TRUE(Allows(text, "/example/page/x"));
  EXPECT_FALSE(Allows(text, "/example/page/disallowed.gif"));
  EXPECT_TRUE(Allows("user-agent: FooBot\ndisallow: /x/page.html\nallow: /x/\nallow: /x/page.html",
                     "/x/page.html"));
  EXPECT_FALSE(Allows("user-agent: FooBot\ndisallow: /x/page.html\nallow: /x/\n", "/x/page.html"));
  EXPECT_TRUE(Allows("user-agent: FooBot\ndisallow: \nallow: \n", "/x/page.html"));
  EXPECT_TRUE(Allows("user-agent: FooBot\ndisallow: /\nallow: /\n", "/x/page.html"));
  EXPECT_FALSE(Allows("user-agent: FooBot\ndisallow: /x\nallow: /x/\n", "/x"));
  EXPECT_TRUE(Allows("user-agent: FooBot\ndisallow: /x\nallow: /x/\n", "/x/"));
  EXPECT_FALSE(Allows("user-agent: FooBot\nallow: /page\ndisallow: /*.html\n", "/page.html"));
  EXPECT_TRUE(Allows("user-agent: FooBot\nallow: /page\ndisallow: /*.ht\n", "/page"));
}

TEST(Robots, PathsKeepTheirCase) {
  EXPECT_FALSE(Allows("user-agent: FooBot\ndisallow: /x/\n", "/x/y"));
  EXPECT_TRUE(Allows("user-agent: FooBot\ndisallow: /X/\n", "/x/y"));
}

struct EncodingCase {
  const char* pattern;
  const char* target;
  bool same;
};

// RFC 9309 §2.2.2 (table) and §2.2.3.
TEST(Robots, EncodedAndPlainAreTheSame) {
  for (const EncodingCase& one : std::initializer_list<EncodingCase>{
           {"/foo/bar?baz=quz", "/foo/bar?baz=quz", true},
           {"/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", true},
           {"/foo/bar?baz=https%3a%2f%2ffoo.bar", "/foo/bar?baz=https://foo.bar", true},
           {"/foo/bar/\xe3\x83\x84", "/foo/bar/%E3%83%84", true},
           {"/foo/bar/%E3%83%84", "/foo/bar/\xe3\x83\x84", true},
           {"/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84", true},
           {"/foo/bar/%62%61%7A", "/foo/bar/baz", true},
           {"/foo/bar/baz", "/foo/bar/%62%61%7A", true},
           {"/foo/%2Fbar", "/foo//bar", false},
           {"/path/file-with-a-%2A.html", "/path/file-with-a-*.html", true},
           {"/path/file-with-a-%2A.html", "/path/file-with-a-x.html", false},
           {"/path/foo-%24", "/path/foo-$", true},
           {"/path/foo-%24", "/path/foo-", false},
           {"/a$b", "/a$b", true},
           {"/a%zz", "/a%zz", true},
           {"/a b", "/a%20b", true}}) {
    EXPECT_EQ(!Allows(std::string("user-agent: *\ndisallow: ") + one.pattern, one.target), one.same)
        << one.pattern << " " << one.target;
  }
}

TEST(Robots, I1_WildcardsReachIntoQueries) {
  for (const EncodingCase& one : std::initializer_list<EncodingCase>{
           {"/*redirect=/secret", "/go?redirect=/secret", true},
           {"/*redirect=/secret", "/go?redirect=%2Fsecret", true},
           {"/*redirect=%2fsecret", "/go?redirect=/secret", true},
           {"/*redirect=%2Fsecret$", "/go?redirect=/secret", true},
           {"/*redirect=%2Fsecret$", "/go?redirect=/secret/x", false},
           {"/*url=http:", "/go?url=http://x/", true},
           {"/*url=http:", "/go?url=http%3A%2F%2Fx%2F", true},
           {"/*=http%3A*%2Fx$", "/go?url=http://y/x", true},
           {"/*?*url=http%3A", "/go?a=b&url=http:", true},
           {"/*a%2Fb", "/a/b?c", false},
           {"/*a%2Fb", "/a%2Fb?c", true},
           {"/*a/b", "/a%2Fb?c", false},
           {"/*%2Fb*c", "/?/bc", true},
           {"/*%2Fb*bc", "/?/bc", false}}) {
    EXPECT_EQ(!Allows(std::string("user-agent: *\ndisallow: ") + one.pattern, one.target), one.same)
        << one.pattern << " " << one.target;
  }
}

TEST(Robots, Wildcards) {
  for (const EncodingCase& one : std::initializer_list<EncodingCase>{
           {"*", "/any", true},
           {"/*", "/", true},
           {"/$", "/", true},
           {"/$", "/x", false},
           {"/foo/bar/quz", "/foo/bar/quz2", true},
           {"/foo/*/qux", "/foo/bar/qux", true},
           {"/foo/*/qux", "/foo/bar/baz/qux/x", true},
           {"/foo/*/qux", "/foo/qux", false},
           {"*.php$", "/a.php", true},
           {"*.php$", "/a.php.php", true},
           {"*.php$", "/a.php?x", false},
           {"*.php", "/a.php?x", true},
           {"/a*b*c$", "/abbcbc", true},
           {"/a*b*c$", "/abbcb", false},
           {"/a**b", "/ab", true},
           {"/x*aa$", "/xa", false},
           {"foo", "/foo", false},
           {"/foo*", "/fo", false},
           {"/*a*a*a*a*a*a*a*a*a*a*b", "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false}}) {
    EXPECT_EQ(!Allows(std::string("user-agent: *\ndisallow: ") + one.pattern, one.target), one.same)
        << one.pattern << " " << one.target;
  }
}

// What wildcards mean, without any cleverness.
bool SlowlyMatches(std::string_view pattern, std::string_view target) {
  if (pattern.empty()) return true;
  if (pattern == "$") return target.empty();
  if (pattern.front() == '*') {
    for (std::size_t at = 0; at <= target.size(); ++at) {
      if (SlowlyMatches(pattern.substr(1), target.substr(at))) return true;
    }
    return false;
  }
  return !target.empty() && pattern.front() == target.front() &&
         SlowlyMatches(pattern.substr(1), target.substr(1));
}

std::vector<std::string> WordsOf(std::string_view letters, std::size_t length_max) {
  std::vector<std::string> words{""};
  for (std::size_t from = 0, length = 0; length < length_max; ++length) {
    const std::size_t end = words.size();
    for (; from < end; ++from) {
      for (const char letter : letters) words.push_back(words[from] + letter);
    }
  }
  return words;
}

TEST(Robots, WildcardsAsTheSlowTwinHasThem) {
  const std::vector<std::string> targets = WordsOf("ab", 6);
  int matches = 0;
  for (const std::string& word : WordsOf("ab*", 5)) {
    for (const char* const end : {"", "$"}) {
      const std::string pattern = "/" + word + end;
      const Robots robots = Robots::Parse("user-agent: *\ndisallow: " + pattern, "x");
      for (const std::string& target : targets) {
        const bool expected = SlowlyMatches(pattern, "/" + target);
        matches += expected ? 1 : 0;
        ASSERT_EQ(!robots.Allows("/" + target), expected) << pattern << " /" << target;
      }
    }
  }
  EXPECT_GT(matches, 1000);
}

TEST(Robots, LinesEndInEveryWay) {
  for (const char* const end : {"\n", "\r", "\r\n", "\n\n", "\r\r\n", " # comment\n", "\t\n"}) {
    const std::string text = std::string("User-Agent: foo") + end + "Allow: /some/path" + end +
                             "User-Agent: bar" + end + "Disallow: /" + end;
    EXPECT_TRUE(Allows(text, "/x", "foo")) << end;
    EXPECT_FALSE(Allows(text, "/x", "bar")) << end;
  }
  EXPECT_FALSE(Allows("\xef\xbb\xbfuser-agent: *\ndisallow: /", "/x"));
  EXPECT_TRUE(Allows("\xef\xbbuser-agent: *\ndisallow: /", "/x"));
}

TEST(Robots, FrequentMistakesAreForgiven) {
  EXPECT_FALSE(Allows("useragent FooBot\ndisallow /\n", "/x"));
  EXPECT_FALSE(Allows("USER-AGENT : *\nDissallow:/\n", "/x"));
  EXPECT_TRUE(Allows("user-agent: *\ndisallow / and more\n", "/x"));
  EXPECT_TRUE(Allows("user-agent: *\nfoo: /\n", "/x"));
}

TEST(Robots, FilesAreReadUpToTheLimit) {
  std::string text = "user-agent: *\ndisallow: /first\n";
  const std::string filler = "# " + std::string(97, 'x') + "\n";
  while (text.size() + filler.size() < kSizeMax - 20) text += filler;
  text += "disallow: /last\n";
  EXPECT_LE(text.size(), kSizeMax);
  text.resize(kSizeMax - 5, ' ');
  text += "\ndisallow: /beyond\n";
  EXPECT_FALSE(Allows(text, "/first"));
  EXPECT_FALSE(Allows(text, "/last"));
  EXPECT_TRUE(Allows(text, "/beyond"));
  // "disallow: /" would be much more than was meant.
  std::string cut = "user-agent: *\n" + std::string(kSizeMax - 25, '\n') + "disallow: /only/this\n";
  EXPECT_TRUE(Allows(cut, "/x"));
}

TEST(Robots, VerdictsNameTheirRule) {
  const Robots robots = Robots::Parse("User-agent: *\n\nDisallow: /a%62*  # why\n", "x");
  const Robots::Verdict verdict = robots.Judge("/abc");
  EXPECT_FALSE(verdict.allowed);
  EXPECT_EQ(verdict.rule, "/a%62*");
  EXPECT_EQ(verdict.line, 3U);
  EXPECT_EQ(robots.Judge("/b").rule, "");
}

TEST(Robots, I1_DelaysOfMoreThanADayAreADay) {
  for (const char* const value : {"86400", "86401", "999999999999", "99999999999999999999999"}) {
    const std::string text = std::string("user-agent: *\ncrawl-delay: ") + value;
    EXPECT_EQ(Robots::Parse(text, "x").crawl_delay(), std::chrono::hours(24)) << value;
  }
}

TEST(Robots, DelaysAndSitemaps) {
  const Robots robots = Robots::Parse(
      "Sitemap: https://a.example/1.xml\n"
      "User-agent: *\nCrawl-delay: 20\nDisallow: /x\n"
      "User-agent: FooBot\nCrawl-delay: 2.5\nDisallow: /y\n"
      "Sitemap: /relative.xml\nsite-map: b\nsitemap:\n",
      "foobot");
  EXPECT_EQ(robots.crawl_delay(), milliseconds(2500));
  EXPECT_THAT(robots.sitemaps(), ElementsAre("https://a.example/1.xml", "/relative.xml", "b"));
  const auto delay = [](const std::string& value) {
    return Robots::Parse("user-agent: *\ncrawl-delay: " + value, "x").crawl_delay();
  };
  EXPECT_EQ(delay("0"), milliseconds(0));
  EXPECT_EQ(delay("10"), milliseconds(10'000));
  EXPECT_EQ(delay(".5"), milliseconds(500));
  EXPECT_EQ(delay("1.23456"), milliseconds(1234));
  for (const char* const bad : {"", "x", "-1", "1,5", ".", "1e3"}) {
    EXPECT_FALSE(delay(bad)) << bad;
  }
}

// RFC 9309 §2.3.1.
TEST(Robots, StatusDecides) {
  EXPECT_EQ(AccessFor(200, 0), Access::kParse);
  EXPECT_EQ(AccessFor(206, 5), Access::kParse);
  for (const int status : {301, 302, 303, 307, 308}) {
    EXPECT_EQ(AccessFor(status, 0), Access::kFollow);
    EXPECT_EQ(AccessFor(status, 4), Access::kFollow);
    EXPECT_EQ(AccessFor(status, 5), Access::kAllowAll);
  }
  for (const int status : {400, 401, 403, 404, 410, 451}) {
    EXPECT_EQ(AccessFor(status, 0), Access::kAllowAll);
  }
  for (const int status : {429, 500, 503, 599, 0, -1, -2, -4, 600, 100}) {
    EXPECT_EQ(AccessFor(status, 0), Access::kDisallowAll) << status;
  }
}

TEST(Robots, PagesSayItToo) {
  EXPECT_FALSE(ParsePageRobots("", "stele").no_follow);
  EXPECT_FALSE(ParsePageRobots("noindex, follow", "stele").no_follow);
  EXPECT_TRUE(ParsePageRobots("NOINDEX,NoFollow", "stele").no_follow);
  EXPECT_TRUE(ParsePageRobots(" none ", "stele").no_follow);
  EXPECT_TRUE(ParsePageRobots("noarchive", "stele").no_archive);
  EXPECT_FALSE(ParsePageRobots("otherbot: noindex, nofollow", "stele").no_follow);
  EXPECT_TRUE(ParsePageRobots("otherbot: noindex, Stele: nofollow", "stele").no_follow);
  EXPECT_TRUE(
      ParsePageRobots("unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow", "x").no_follow);
  EXPECT_TRUE(
      ParsePageRobots("unavailable_after: Wed, 3 Jul 2024 13:00:00 GMT, nofollow", "x").no_follow);
  EXPECT_TRUE(ParsePageRobots("noindex nofollow", "x").no_follow);
}

}  // namespace
}  // namespace stele::robots
