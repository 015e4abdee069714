#include "formats/sitemap/sitemap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/registry.h"

namespace stele::sitemap {
namespace {

using testing::ElementsAre;

struct Outcome {
  std::vector<std::string> links;  // "page http://… 2020-01-01T00:00:00Z"
  DocumentKind kind = DocumentKind::kUnknown;
  bool cut = false;

  bool operator==(const Outcome&) const = default;
};

Outcome ReadIn(std::string_view text, std::size_t piece, SitemapLimits limits) {
  constexpr std::array<const char*, 4> kNames{"page ", "sitemap ", "item ", "media "};
  Outcome outcome;
  SitemapReader reader(
      [&](const Link& link) {
        std::string line = kNames[static_cast<std::size_t>(link.kind)] + link.url;
        if (link.last_modified) line += " " + FormatIso(*link.last_modified);
        outcome.links.push_back(line);
      },
      limits);
  while (!text.empty()) {
    reader.Feed(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
  }
  reader.Finish();
  outcome.kind = reader.kind();
  outcome.cut = reader.cut();
  EXPECT_EQ(reader.links(), outcome.links.size());
  return outcome;
}

Outcome Read(std::string_view text, SitemapLimits limits = {}) {
  const Outcome whole = ReadIn(text, text.size() + 1, limits);
  for (const std::size_t piece : {1, 2, 7, 1000}) EXPECT_EQ(ReadIn(text, piece, limits), whole);
  return whole;
}

constexpr std::string_view kSitemap = R"(<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
        xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <!-- <url><loc>http://commented.example/</loc></url> -->
  <url>
    <loc> http://www.example.com/?a=1&amp;b=%20&#x26;c </loc>
    <lastmod>2005-01-01</lastmod>
    <image:image><image:loc>http://img.example/1.png</image:loc></image:image>
    <xhtml:link rel="alternate" hreflang="de" href="http://www.example.com/de?x&amp;y"/>
  </url>
  <url><loc><![CDATA[http://www.example.com/a&b]]></loc>
    <priority>0.5</priority></url>
</urlset>)";

TEST(Sitemap, PagesImagesAndTranslations) {
  const Outcome outcome = Read(kSitemap);
  EXPECT_EQ(outcome.kind, DocumentKind::kSitemap);
  EXPECT_THAT(outcome.links,
              ElementsAre("page http://www.example.com/?a=1&b=%20&c 2005-01-01T00:00:00Z",
                          "media http://img.example/1.png 2005-01-01T00:00:00Z",
                          "page http://www.example.com/de?x&y 2005-01-01T00:00:00Z",
                          "page http://www.example.com/a&b"));
}

TEST(Sitemap, AnIndexNamesSitemaps) {
  const Outcome outcome = Read(
      "\xef\xbb\xbf\n<sitemapindex><sitemap><loc>http://e.example/1.xml.gz</loc>"
      "<lastmod>2004-10-01T18:23:17+00:00</lastmod></sitemap>"
      "<sm:sitemap xmlns:sm='x'><sm:loc>http://e.example/2.xml</sm:loc></sm:sitemap>");
  EXPECT_EQ(outcome.kind, DocumentKind::kSitemapIndex);
  EXPECT_THAT(outcome.links, ElementsAre("sitemap http://e.example/1.xml.gz 2004-10-01T18:23:17Z",
                                         "sitemap http://e.example/2.xml"));
}

TEST(Sitemap, TextHasALineForEachPage) {
  const Outcome outcome =
      Read("http://a.example/1\r\n  https://a.example/2  \n\nnot a url\nHTTP://a.example/3");
  EXPECT_EQ(outcome.kind, DocumentKind::kText);
  EXPECT_THAT(outcome.links, ElementsAre("page http://a.example/1", "page https://a.example/2",
                                         "page HTTP://a.example/3"));
}

TEST(Sitemap, GzipIsTakenOff) {
  const std::string packed = codec::StandardRegistry().Find("gzip")->Compress(kSitemap, 6).value();
  EXPECT_EQ(Read(packed), Read(kSitemap));
  EXPECT_EQ(Read(packed.substr(0, packed.size() / 2)).kind, DocumentKind::kSitemap);
}

TEST(Sitemap, Rss) {
  const Outcome outcome = Read(R"(<rss version="2.0"><channel>
    <link>http://a.example/</link><atom:link href="http://a.example/feed" rel="self"/>
    <item><title>x</title><link>http://a.example/1</link><guid>http://a.example/g1</guid>
      <pubDate>Sun, 26 Jan 2014 20:06:24 GMT</pubDate>
      <enclosure url="http://a.example/1.mp3" length="1" type="audio/mpeg"/>
      <media:content url='http://a.example/1.jpg'/></item>
    <item><guid isPermaLink="false">http://a.example/id</guid><link>http://a.example/2</link></item>
    </channel></rss>)");
  EXPECT_EQ(outcome.kind, DocumentKind::kRss);
  EXPECT_THAT(
      outcome.links,
      ElementsAre("item http://a.example/", "item http://a.example/1 2014-01-26T20:06:24Z",
                  "item http://a.example/g1 2014-01-26T20:06:24Z",
                  "media http://a.example/1.mp3 2014-01-26T20:06:24Z",
                  "media http://a.example/1.jpg 2014-01-26T20:06:24Z", "item http://a.example/2"));
}

TEST(Sitemap, RssOfOldHasItsItemsBesideTheChannel) {
  const Outcome outcome = Read(
      "<rdf:RDF><channel><link>http://a.example/</link></channel><item rdf:about='x'>"
      "<link>http://a.example/1</link><dc:date>2003-02-01</dc:date></item></rdf:RDF>");
  EXPECT_EQ(outcome.kind, DocumentKind::kRss);
  EXPECT_THAT(outcome.links, ElementsAre("item http://a.example/",
                                         "item http://a.example/1 2003-02-01T00:00:00Z"));
}

TEST(Sitemap, Atom) {
  const Outcome outcome = Read(R"(<feed xmlns="http://www.w3.org/2005/Atom">
    <link rel="self" href="http://a.example/feed"/><link rel="next" href="?page=2"/>
    <entry><link href="http://a.example/1"/><link rel="enclosure" href="http://a.example/1.ogg"/>
      <link rel="edit" href="http://a.example/edit"/>
      <published>2005-07-31T12:29:29Z</published><updated>2005-08-01T12:29:29Z</updated></entry>
    <entry><content src="http://a.example/c.html"/></entry></feed>)");
  EXPECT_EQ(outcome.kind, DocumentKind::kAtom);
  EXPECT_THAT(outcome.links,
              ElementsAre("item ?page=2", "item http://a.example/1 2005-08-01T12:29:29Z",
                          "media http://a.example/1.ogg 2005-08-01T12:29:29Z",
                          "item http://a.example/c.html"));
}

TEST(Sitemap, EntitiesAreNotExpanded) {
  std::string bomb = "<?xml version='1.0'?><!DOCTYPE urlset [<!ENTITY a 'http://a.example/'>";
  for (int i = 0; i < 20; ++i) bomb += "<!ENTITY b" + std::to_string(i) + " '&a;&a;&a;>'>";
  bomb += "<!ENTITY x SYSTEM 'file:///etc/passwd'> <![ x [ > ]]> ]>";
  bomb += "<urlset><url><loc>http://a.example/&a;&x;&#0;&#xD800;&#65;&;</loc></url></urlset>";
  EXPECT_THAT(Read(bomb).links, ElementsAre("page http://a.example/&a;&x;&#0;&#xD800;A&;"));
}

TEST(Sitemap, BrokenXmlGivesWhatItHas) {
  EXPECT_THAT(Read("<urlset><url><loc>http://a.example/1</loc><url><loc>http://a.example/2</loc>"
                   "</wrong></url><url><loc>http://a.example/3")
                  .links,
              ElementsAre("page http://a.example/1", "page http://a.example/2"));
  EXPECT_THAT(Read("<urlset><url><b a='>'><loc>http://a.example/1</loc>").links,
              ElementsAre());  // the loc is in b
  EXPECT_EQ(Read("<html><a href='http://a.example/'>x</a></html>").kind, DocumentKind::kUnknown);
  EXPECT_THAT(Read("").links, ElementsAre());
  EXPECT_THAT(Read("<").links, ElementsAre());
  EXPECT_THAT(Read("\x1f\x8b").links, ElementsAre());
}

TEST(Sitemap, LimitsHold) {
  std::string text = "<urlset>";
  for (int i = 0; i < 100; ++i) {
    text += "<url><loc>http://a.example/" + std::to_string(i) + "</loc></url>";
  }
  text += "<url><loc>http://a.example/" + std::string(10'000, 'x') + "</loc></url></urlset>";
  EXPECT_EQ(Read(text).links.size(), 100U);
  SitemapLimits limits;
  limits.links_max = 10;
  EXPECT_EQ(Read(text, limits).links.size(), 10U);
  EXPECT_TRUE(Read(text, limits).cut);
  limits = {};
  limits.bytes_max = 1000;
  EXPECT_LT(Read(text, limits).links.size(), 30U);
  EXPECT_TRUE(Read(text, limits).cut);
  // Nesting, tags and gzip bombs without end.
  std::string deep = "<urlset>";
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  EXPECT_EQ(ReadIn(deep + "<url><loc>http://a.example/</loc></url>", 1 << 20, {}).links.size(), 0U);
  const std::string bomb = codec::StandardRegistry()
                               .Find("gzip")
                               ->Compress("<urlset>" + std::string(30'000'000, ' '), 6)
                               .value();
  limits = {};
  limits.bytes_max = 1'000'000;
  EXPECT_TRUE(ReadIn(bomb, 1 << 20, limits).cut);
}

}  // namespace
}  // namespace stele::sitemap
