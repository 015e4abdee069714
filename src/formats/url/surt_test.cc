#include "formats/url/surt.h"

#include <gtest/gtest.h>

#include <utility>

#include "formats/url/surt_parts.h"

namespace stele::url {
namespace {

using Case = std::pair<std::string_view, std::string_view>;

template <std::size_t n>
void ExpectKeys(const Case (&cases)[n]) {
  for (const auto& [url, key] : cases) EXPECT_EQ(SurtKey(url), key) << url;
}

TEST(Surt, ReversesTheHostAndDropsTheScheme) {
  ExpectKeys({{"http://archive.org/", "org,archive)/"},
              {"https://a.b.example.co.uk/x", "uk,co,example,b,a)/x"},
              {"ftp://Example.com/X", "com,example)/x"},
              {"whois://whois.isoc.org.il/shaveh.co.il", "il,org,isoc,whois)/shaveh.co.il"},
              {"metadata://gnu.org/software/MANIFEST.txt", "org,gnu)/software/manifest.txt"}});
}

TEST(Surt, FoldsCaseUserFragmentAndWww) {
  ExpectKeys({{"HTTP://WWW.Example.com/Foo?Bar=BAZ#Frag", "com,example)/foo?bar=baz"},
              {"http://user:pass@www12.example.com/", "com,example)/"},
              {"http://www.www.com/", "com,www)/"},
              {"http://www2.com/", "com)/"},
              {"http://wwwa.com/", "com,wwwa)/"},
              {"http://www-1.a.com/", "com,a,www-1)/"},
              {"http://www/", "www)/"}});
}

TEST(Surt, KeepsOnlyPortsThatAreNotTheSchemesOwn) {
  ExpectKeys({{"http://a.com:80/", "com,a)/"},
              {"https://a.com:443/", "com,a)/"},
              {"http://a.com:443/", "com,a:443)/"},
              {"https://a.com:80/", "com,a:80)/"},
              {"http://a.com:08080/x", "com,a:8080)/x"},
              {"ftp://a.com:21/", "com,a:21)/"},
              {"http://a.com:/", "com,a)/"},
              {"http://a.com:0/", "com,a)/"}});
}

TEST(Surt, StripsTrailingSlashEmptyQueryAndDots) {
  ExpectKeys({{"http://a.com", "com,a)/"},
              {"http://a.com/x/", "com,a)/x"},
              {"http://a.com/x/?", "com,a)/x"},
              {"http://a.com?x", "com,a)/?x"},
              {"http://a.com//x///y/./z/../w", "com,a)/x/y/w"},
              {"http://a.com/a//../b", "com,a)/a/b"},
              {"http://a.com/../../x", "com,a)/x"},
              {"http://a.com/a/../../x", "com,a)/../x"},
              {"http://..a.com../x", "com,a)/x"}});
}

TEST(Surt, UnescapesUntilNothingIsLeftAndEscapesOnce) {
  ExpectKeys({{"http://a.com/%25%32%35", "com,a)/%25"},
              {"http://a.com/%2525252525", "com,a)/%25"},
              {"http://a.com/%4%31%zz", "com,a)/a%25zz"},
              {"http://a.com/a%20b c%2Fd", "com,a)/a%20b%20c/d"},
              {"http://a.com/a%23b%3Fc", "com,a)/a%23b?c"},
              {"http://a.com/\xC3\x89?\xC3\x89=%C3%89", "com,a)/%c3%89?%c3%89=%c3%89"},
              {"http://a.com/?a=\"<>`{}|\\^[]'()*~+", "com,a)/?a=\"<>`{}|\\^[]'()*~+"},
              {"http://a.com/x?q=a%26b%3Dc", "com,a)/x?b=c&q=a"}});
}

TEST(Surt, SortsQueryArguments) {
  ExpectKeys({{"http://a.com/?b&a", "com,a)/?a&b"},
              {"http://a.com/?b=1&a&a=&a=1", "com,a)/?a&a=&a=1&b=1"},
              {"http://a.com/?a-b=1&a=2", "com,a)/?a=2&a-b=1"},
              {"http://a.com/?a=1&", "com,a)/?&a=1"},
              {"http://a.com/?a=1&A=0", "com,a)/?a=0&a=1"}});
}

TEST(Surt, StripsSessionIdsOfTheQuery) {
  ExpectKeys(
      {{"http://a.com/x?PHPSESSID=0123456789abcdefghijklmnopqrstuv&b=1", "com,a)/x?b=1"},
       {"http://a.com/x?a=1&jsessionid=0123456789ABCDEF0123456789abcdef&b=2", "com,a)/x?a=1&b=2"},
       {"http://a.com/x?sid=0123456789abcdef0123456789abcdef", "com,a)/x"},
       {"http://a.com/x?a&sid=0123456789abcdef0123456789abcdef", "com,a)/x?&a"},
       {"http://a.com/x?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&b", "com,a)/x?b"},
       {"http://a.com/x?CFID=12&CFTOKEN=34&b", "com,a)/x?b"},
       {"http://a.com/x?cfid=&cftoken=34", "com,a)/x?cfid=&cftoken=34"},
       {"http://a.com/x?sid=tooshort", "com,a)/x?sid=tooshort"},
       {"http://a.com/x?xsid=0123456789abcdef0123456789abcdef&b", "com,a)/x?xb"}});
}

TEST(Surt, StripsSessionIdsOfAspxPathsOnly) {
  ExpectKeys(
      {{"http://a.com/(S(4hqa0555fwsecu455xqckv45))/m.aspx", "com,a)/m.aspx"},
       {"http://a.com/(4hqa0555fwsecu455xqckv45)/m.ASPX?x", "com,a)/m.aspx?x"},
       {"http://a.com/(a(4hqa0555fwsecu455xqckv45)S(4hqa0555fwsecu455xqckv45))/m.aspx",
        "com,a)/m.aspx"},
       {"http://a.com/(4hqa0555fwsecu455xqckv45)/m.html",
        "com,a)/(4hqa0555fwsecu455xqckv45)/m.html"},
       {"http://a.com/(4hqa0555fwsecu455xqckv45)/.aspx", "com,a)/(4hqa0555fwsecu455xqckv45)/.aspx"},
       {"http://a.com/x;jsessionid=0123456789abcdef0123456789abcdef",
        "com,a)/x;jsessionid=0123456789abcdef0123456789abcdef"}});
}

TEST(Surt, NumericHostsAreDottedDecimal) {
  ExpectKeys({{"http://1.2.3.4/", "4,3,2,1)/"},
              {"http://3279880203/blah", "11,0,127,195)/blah"},
              {"http://4294967297/", "1,0,0,0)/"},
              {"http://010.010/", "8,0,0,8)/"},
              {"http://256.1.1.1/", "1,1,1,256)/"},
              {"http://0x7f.1/", "1,0x7f)/"},
              {"http://[2001:DB8::1]:8080/x", "2001:db8::1:8080)/x"}});
}

TEST(Surt, HostNamesFollowIdna2003) {
  ExpectKeys({{"http://www.B\xC3\x9C"
               "CHER.ch/",
               "ch,xn--bcher-kva)/"},
              {"http://b%C3%BC"
               "cher.ch/",
               "ch,xn--bcher-kva)/"},
              {"http://fa\xC3\x9F.de/", "de,fass)/"},
              {"http://b%FC"
               "cher.ch/",
               "ch,bcher)/"},
              {"http://\xC3\xA9..com/", "com,%c3%a9)/"},
              {"http://\xE1\xBA\x9E.de/", "de,ss)/"}});
}

TEST(Surt, MissingSlashesAndSchemesAreMendedForHttp) {
  ExpectKeys({{"example.com/x", "com,example)/x"},
              {"//example.com/x", "com,example)/x"},
              {"http:example.com/x", "com,example)/x"},
              {"https:///example.com/x", "com,example)/x"},
              {"http://https://order.1and1.com", "com,1and1,order)/"},
              {"http:/", "http:/"},
              {"  http://a.com/\tb\r\nc  ", "com,a)/bc"}});
}

TEST(Surt, OpaqueUrlsKeepTheirScheme) {
  ExpectKeys({{"dns:www.Example.com", "dns:www.example.com"},
              {"urn:uuid:ABC", "urn:uuid:abc"},
              {"urn:pageinfo:http://Example.com/?b&a", "urn:pageinfo:http://example.com?a&b"},
              {"warcinfo:Foo.warc.gz", "warcinfo:foo.warc.gz"},
              {"filedesc:Foo.arc.gz", "filedesc:Foo.arc.gz"},
              {"filedesc://Foo.arc.gz", "filedesc://Foo.arc.gz"},
              {"screenshot:http://www.Example.com/", "screenshot:http://www.example.com"},
              {"mailto:Foo@bar.com", "mailto:foo@bar.com"},
              {"data:text/html,A b", "data:text/html,a%20b"},
              {"whois:Foo", "whois:foo"},
              {"localhost:8080/x", "localhost:8080/x"}});
}

TEST(Surt, WhatCannotBeReadIsKeptInLowerCase) {
  ExpectKeys({{"", "-"},
              {" ", "-"},
              {"http://A.com:abc/X y", "http://a.com:abc/x%20y"},
              {"http://a.com:65536/", "http://a.com:65536/"}});
}

TEST(Surt, HostKeyIsThePrefixOfItsUrls) {
  EXPECT_EQ(SurtHost("www.example.com"), "com,example");
  EXPECT_EQ(SurtHost("[2001:db8::1]"), "2001:db8::1");
  EXPECT_TRUE(SurtKey("http://www.example.com/x").starts_with(SurtHost("WWW.example.com") + ")"));
}

// The rule as it is stated, to check the one-pass version: unescape until nothing changes.
std::string UnescapeSlowly(std::string text) {
  for (;;) {
    std::string next;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto hex = [&](std::size_t at) {
        return at < text.size() && std::isxdigit(static_cast<unsigned char>(text[at])) != 0;
      };
      if (text[i] == '%' && hex(i + 1) && hex(i + 2)) {
        next.push_back(static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)));
        i += 2;
      } else {
        next.push_back(text[i]);
      }
    }
    if (next == text) return text;
    text = next;
  }
}

TEST(Surt, UnescapingInOnePassEqualsUnescapingAgainAndAgain) {
  constexpr std::string_view kAlphabet = "%25341f";
  std::uint32_t seed = 1;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int i = 0; i < 14; ++i) {
      seed = seed * 1664525 + 1013904223;
      text.push_back(kAlphabet[(seed >> 16) % kAlphabet.size()]);
    }
    std::string buffer;
    ASSERT_EQ(surt::UnescapeRepeatedly(text, buffer), UnescapeSlowly(text)) << text;
  }
}

}  // namespace
}  // namespace stele::url
