#include "formats/arc/arc_line.h"

#include <gtest/gtest.h>

namespace stele::arc {
namespace {

using record::Match;

TEST(ArcLine, ReadsVersion1) {
  const auto line = ParseArcLine("http://example.org/ 192.0.2.1 20140126200624 text/html 1591");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->url, "http://example.org/");
  EXPECT_EQ(line->ip, "192.0.2.1");
  EXPECT_EQ(line->date, "20140126200624");
  EXPECT_EQ(line->mime, "text/html");
  EXPECT_EQ(line->length, 1591u);
  EXPECT_FALSE(line->is_v2);
  EXPECT_TRUE(line->ip_is_valid && line->date_is_digits);
}

TEST(ArcLine, ReadsVersion2) {
  const auto line = ParseArcLine(
      "http://example.org/a 192.0.2.1 19970101000000 text/html 302 9f8e7d "
      "http://example.org/b 209 IA-000176.arc 202");
  ASSERT_TRUE(line);
  ASSERT_TRUE(line->is_v2);
  EXPECT_EQ(line->url, "http://example.org/a");
  EXPECT_EQ(line->mime, "text/html");
  EXPECT_EQ(line->result_code, "302");
  EXPECT_EQ(line->checksum, "9f8e7d");
  EXPECT_EQ(line->location, "http://example.org/b");
  EXPECT_EQ(line->offset, "209");
  EXPECT_EQ(line->filename, "IA-000176.arc");
  EXPECT_EQ(line->length, 202u);
}

TEST(ArcLine, ReadsVersion2WithDashesAndSpaces) {
  const auto line = ParseArcLine(
      "http://example.org/a b c 192.0.2.1 19970101000000 text/html; charset=x 200 - - 209 a.arc 7");
  ASSERT_TRUE(line);
  ASSERT_TRUE(line->is_v2);
  EXPECT_EQ(line->url, "http://example.org/a b c");
  EXPECT_EQ(line->mime, "text/html; charset=x");
  EXPECT_EQ(line->checksum, "-");
}

TEST(ArcLine, KeepsSpacesInUrlAndType) {
  const auto line = ParseArcLine(
      "http://example.org/?a=one two 3 192.0.2.1 20140126200624 text/html; charset=utf-8 5");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->url, "http://example.org/?a=one two 3");
  EXPECT_EQ(line->mime, "text/html; charset=utf-8");
  EXPECT_EQ(line->length, 5u);
}

TEST(ArcLine, ToleratesMissingAndGarbledFields) {
  const auto no_ip = ParseArcLine("http://example.org/ 20140126200624 text/html 5");
  ASSERT_TRUE(no_ip);
  EXPECT_EQ(no_ip->url, "http://example.org/");
  EXPECT_EQ(no_ip->ip, "");
  const auto bad_ip = ParseArcLine("http://example.org/ 999.1 20140126200624 text/html 5");
  ASSERT_TRUE(bad_ip);
  EXPECT_EQ(bad_ip->ip, "999.1");
  EXPECT_FALSE(bad_ip->ip_is_valid);
  const auto bad_date = ParseArcLine("http://example.org/ 192.0.2.1 2014-1x text/html 5");
  ASSERT_TRUE(bad_date);
  EXPECT_EQ(bad_date->date, "2014-1x");
  EXPECT_FALSE(bad_date->date_is_digits);
  const auto no_mime = ParseArcLine("http://example.org/ 192.0.2.1 20140126200624 5");
  ASSERT_TRUE(no_mime);
  EXPECT_EQ(no_mime->mime, "");
  const auto empty_mime = ParseArcLine("http://example.org/ 192.0.2.1 20140126200624  5");
  ASSERT_TRUE(empty_mime);
  EXPECT_EQ(empty_mime->mime, "");
  const auto negative = ParseArcLine("http://example.org/ 192.0.2.1 20140126200624 text/html -1");
  ASSERT_TRUE(negative);
  EXPECT_FALSE(negative->length);
  EXPECT_TRUE(ParseArcLine("http://example.org/ - 20140126200624 text/html 5 \r"));
  EXPECT_TRUE(ParseArcLine("http://example.org/ 2001:db8::1 20140126200624 text/html 5"));
}

TEST(ArcLine, RefusesWhatIsNone) {
  EXPECT_FALSE(ParseArcLine(""));
  EXPECT_FALSE(ParseArcLine("5"));
  EXPECT_FALSE(ParseArcLine("http://example.org/ 5"));
  EXPECT_FALSE(ParseArcLine("http://example.org/ is a fine page of 2014 words 5"));
  EXPECT_FALSE(ParseArcLine("http://example.org/ 192.0.2.1 20140126200624 text/html abc"));
  EXPECT_FALSE(ParseArcLine("http://example.org/ 192.0.2.1 20140126200624 text/html"));
  EXPECT_FALSE(
      ParseArcLine("http://example.org/ 192.0.2.1 20140126200624 text/html 99999999999999999999"));
}

TEST(ArcLine, TwoHeadsThatACutJoinedAreNone) {
  const std::string first = "http://example.org/1 192.0.2.1 20140126200624 text/plain 33";
  const std::string second = "http://example.org/2 192.0.2.1 20140126200624 text/plain 33";
  for (std::size_t size = first.find("0.2.1"); size < first.size(); ++size) {
    EXPECT_FALSE(ParseArcLine(first.substr(0, size) + second)) << size;
  }
  const auto line = ParseArcLine("http://a/?q=1 of 2&u=http://b/ 192.0.2.1 20140126200624 a/b 3");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->url, "http://a/?q=1 of 2&u=http://b/");
}

TEST(ArcScheme, ToldFromThoseOfDamagedFiles) {
  for (const char* good : {"http://a", "HTTPS://a", "dns:a", "filedesc://a", "foo://a"}) {
    EXPECT_EQ(BeginsWithScheme(good), Match::kYes) << good;
  }
  for (const char* bad : {"ttp://a", "tps://a", "Jhttp://a", "xdns:a", "foo:a", "localhost:80/",
                          "example.org:80/", "://a", "1http://a", "verylongnameofascheme://a"}) {
    EXPECT_EQ(BeginsWithScheme(bad), Match::kNo) << bad;
  }
  for (const char* part : {"", "h", "http", "foo", "foo:", "foo:/"}) {
    EXPECT_EQ(BeginsWithScheme(part), Match::kNeedMore) << part;
  }
}

TEST(ArcScheme, IsFoundBehindAnyByteAndWhereTheEndCutsIt) {
  EXPECT_EQ(FindScheme("a: b\xffhttp://x", 0), 5u);
  EXPECT_EQ(FindScheme("texthttps://x", 0), 4u);
  EXPECT_EQ(FindScheme("text\nfoo://x", 0), 5u);
  EXPECT_EQ(FindScheme("http://x/http://y", 1), 9u);
  EXPECT_EQ(FindScheme("\xff\xff"
                       "ht",
                       0),
            2u);
  EXPECT_EQ(FindScheme("12: .", 0), 5u);
}

}  // namespace
}  // namespace stele::arc
