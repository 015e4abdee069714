#include "formats/url/url.h"

#include <gtest/gtest.h>

namespace stele::url {
namespace {

// The serialised result, or "failure".
std::string Href(std::string_view input) {
  const Result<Url> url = Parse(input);
  return url ? url->href() : "failure";
}

std::string Resolve(std::string_view base, std::string_view input) {
  const Result<Url> parsed = Parse(base);
  if (!parsed) return "bad base";
  const Result<Url> url = Parse(input, &*parsed);
  return url ? url->href() : "failure";
}

TEST(Url, PartsAreViewsIntoOneString) {
  const Result<Url> url = Parse("HTTPS://User:p%40ss@Example.COM:1234/foo/bar?baz=1#quux");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->href(), "https://User:p%40ss@example.com:1234/foo/bar?baz=1#quux");
  EXPECT_EQ(url->scheme(), "https");
  EXPECT_EQ(url->username(), "User");
  EXPECT_EQ(url->password(), "p%40ss");
  EXPECT_EQ(url->host(), "example.com");
  EXPECT_EQ(url->host_and_port(), "example.com:1234");
  EXPECT_EQ(url->port(), 1234);
  EXPECT_EQ(url->path(), "/foo/bar");
  EXPECT_EQ(url->query(), "baz=1");
  EXPECT_EQ(url->fragment(), "quux");
  EXPECT_EQ(url->path_and_query(), "/foo/bar?baz=1");
  EXPECT_EQ(url->href_without_fragment(), "https://User:p%40ss@example.com:1234/foo/bar?baz=1");
  EXPECT_EQ(url->origin(), "https://example.com:1234");
}

TEST(Url, EmptyQueryIsNotNoQuery) {
  const Result<Url> with = Parse("http://a/?#");
  ASSERT_TRUE(with);
  EXPECT_TRUE(with->has_query());
  EXPECT_TRUE(with->has_fragment());
  EXPECT_EQ(with->query(), "");
  const Result<Url> without = Parse("http://a/");
  ASSERT_TRUE(without);
  EXPECT_FALSE(without->has_query());
  EXPECT_FALSE(without->has_fragment());
}

TEST(Url, DefaultPortIsDropped) {
  EXPECT_EQ(Href("http://a:80/"), "http://a/");
  EXPECT_EQ(Href("https://a:443"), "https://a/");
  EXPECT_EQ(Href("ftp://a:0021/"), "ftp://a/");
  EXPECT_EQ(Href("http://a:443/"), "http://a:443/");
  EXPECT_EQ(Href("http://a:/"), "http://a/");
  EXPECT_EQ(Href("http://a:65536/"), "failure");
  EXPECT_EQ(Href("http://a:8x/"), "failure");
  EXPECT_EQ(Parse("http://a/")->effective_port(), 80);
  EXPECT_EQ(Parse("wss://a/")->effective_port(), 443);
  EXPECT_EQ(Parse("foo://a/")->effective_port(), std::nullopt);
}

TEST(Url, SpacesAroundAndTabsWithinAreDropped) {
  EXPECT_EQ(Href(" \x01 ht\ttp://a\n/b\rc \x1f"), "http://a/bc");
}

TEST(Url, BackslashIsASlashInSpecialSchemesOnly) {
  EXPECT_EQ(Href("http:\\\\a\\b\\..\\c?d\\e#f\\g"), "http://a/c?d\\e#f\\g");
  EXPECT_EQ(Href("foo://a/b\\c"), "foo://a/b\\c");
}

TEST(Url, EachPartIsPercentEncodedByItsOwnSet) {
  EXPECT_EQ(Href("http://u@:p@h/ \"#<>?`{}^|'"), "http://u%40:p@h/%20%22#%3C%3E?%60{}^|'");
  EXPECT_EQ(Href("http://h/`{}^|'?`{}^|'\"<>"), "http://h/%60%7B%7D%5E|'?`{}^|%27%22%3C%3E");
  EXPECT_EQ(Href("foo://h/?'"), "foo://h/?'");
  EXPECT_EQ(Href("http://h/\xC3\xA9?\xC3\xA9#\xC3\xA9"), "http://h/%C3%A9?%C3%A9#%C3%A9");
  EXPECT_EQ(Href("http://h/%zz%4"), "http://h/%zz%4");
}

TEST(Url, BytesThatAreNotUtf8SurviveOutsideTheHost) {
  EXPECT_EQ(Href("http://h/\xE9?\xFF"), "http://h/%E9?%FF");
  EXPECT_EQ(Href("http://\xE9.com/"), "failure");
}

TEST(Url, DotSegmentsAlsoInTheirEscapedForms) {
  EXPECT_EQ(Href("http://h/a/./b/../c/%2e/d/.%2E/e"), "http://h/a/c/e");
  EXPECT_EQ(Href("http://h/../../a/.."), "http://h/");
  EXPECT_EQ(Href("http://h/a/.../..b"), "http://h/a/.../..b");
}

TEST(Url, ResolvesTheExamplesOfRfc3986) {
  const char* base = "http://a/b/c/d;p?q";
  const std::pair<const char*, const char*> cases[] = {
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g/"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q#s"},
      {"g#s", "http://a/b/c/g#s"},
      {"g?y#s", "http://a/b/c/g?y#s"},
      {";x", "http://a/b/c/;x"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../../g", "http://a/g"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
  };
  for (const auto& [input, expected] : cases) EXPECT_EQ(Resolve(base, input), expected) << input;
}

TEST(Url, SameSchemeWithoutSlashesIsRelative) {
  EXPECT_EQ(Resolve("http://a/b/c", "http:d"), "http://a/b/d");
  EXPECT_EQ(Resolve("http://a/b/c", "https:d"), "https://d/");
  EXPECT_EQ(Resolve("http://u:p@a:81/b", "/c"), "http://u:p@a:81/c");
}

TEST(Url, OpaquePathsTakeOnlyFragments) {
  EXPECT_EQ(Resolve("mailto:a@b?c#d", "#e"), "mailto:a@b?c#e");
  EXPECT_EQ(Resolve("mailto:a@b", "x"), "failure");
  EXPECT_EQ(Href("data:text/html,<p> x y ?z"), "data:text/html,<p> x y%20?z");
  EXPECT_EQ(Href("urn:uuid:ABC"), "urn:uuid:ABC");
  EXPECT_EQ(Href("dns:www.Example.com"), "dns:www.Example.com");
  EXPECT_EQ(Href("javascript:alert('x')"), "javascript:alert('x')");
  EXPECT_TRUE(Parse("whois:foo")->has_opaque_path());
  EXPECT_FALSE(Parse("metadata://gnu.org/x")->has_opaque_path());
  EXPECT_EQ(Parse("metadata://GNU.org/x")->host(), "GNU.org");
}

TEST(Url, PathThatLooksLikeAHostIsGuarded) {
  const Result<Url> url = Parse("web+demo:/.//not-a-host/");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->href(), "web+demo:/.//not-a-host/");
  EXPECT_EQ(url->path(), "//not-a-host/");
  EXPECT_FALSE(url->has_host());
  EXPECT_EQ(Resolve("web+demo:/a/b", "..//c"), "web+demo:/.//c");
  EXPECT_EQ(Resolve("web+demo:/.//not-a-host/", "?q"), "web+demo:/.//not-a-host/?q");
}

TEST(Url, FilesKeepTheirDrive) {
  EXPECT_EQ(Href("file:c:\\foo\\bar"), "file:///c:/foo/bar");
  EXPECT_EQ(Href("file:///C|/../x"), "file:///C:/x");
  EXPECT_EQ(Href("file://localhost/x"), "file:///x");
  EXPECT_EQ(Href("file://host/x"), "file://host/x");
  EXPECT_EQ(Resolve("file:///C:/a/b", "/x"), "file:///C:/x");
  EXPECT_EQ(Resolve("file:///C:/a/b", "D|/x"), "file:///D:/x");
  EXPECT_EQ(Resolve("file:///C:/", ".."), "file:///C:/");
}

TEST(Url, OriginIsNullWhereThereIsNone) {
  EXPECT_EQ(Parse("file:///x")->origin(), "null");
  EXPECT_EQ(Parse("foo://a")->origin(), "null");
  EXPECT_EQ(Parse("blob:https://a:8/x")->origin(), "https://a:8");
  EXPECT_EQ(Parse("blob:blob:https://a/x")->origin(), "null");
}

TEST(Url, WhatCannotBeAUrlIsAnError) {
  for (const char* input : {"", "foo", "//a", "http://", "http://?", "http://a b/", "http://[::1",
                            "http://a:b@/", "http://:80/", "foo://:80/", "http://%/"}) {
    const Result<Url> url = Parse(input);
    ASSERT_FALSE(url) << input;
    EXPECT_EQ(url.error().code, ErrorCode::kInvalid);
  }
  EXPECT_FALSE(Parse(std::string(kMaxUrlBytes + 1, 'a')));
}

}  // namespace
}  // namespace stele::url
