#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/html/dash_links.h"
#include "formats/html/feed_links.h"
#include "formats/html/hls_links.h"
#include "formats/html/link_testing.h"
#include "formats/html/sitemap_links.h"
#include "formats/html/xml_scanner.h"

namespace stele::html {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(XmlScanner, FindsAttributesAndDecodesReferences) {
  EXPECT_EQ(XmlAttribute(" a='1' x:href = \"b&amp;&#x63;&unknown;\" ", "href"), "b&c&unknown;");
  EXPECT_EQ(XmlAttribute(" hrefx='1'", "href"), std::nullopt);
  EXPECT_EQ(XmlAttribute(" href=", "href"), std::nullopt);
  std::string text;
  AppendDecodedXml("&lt;&#8364;&#xD800;&#99999999;&", text);
  EXPECT_EQ(text, "<€\xEF\xBF\xBD&#99999999;&");
}

TEST(FeedLinks, ReadsRss) {
  EXPECT_THAT(
      LinesOf(
          "<?xml version='1.0'?><?xml-stylesheet href='s.xsl'?><rss><channel>"
          "<link>http://a.example/</link><image><url>logo.png</url></image>"
          "<item><link><![CDATA[ http://a.example/1?x=1&y=2 ]]></link>"
          "<guid isPermaLink='false'>http://a.example/id</guid>"
          "<enclosure url='e.mp3' type='audio/mpeg'/><media:thumbnail url='t.jpg'/>"
          "<description>&lt;p&gt;&lt;img src=\"i.gif\"&gt;&lt;a href='/more?a=1&amp;amp;b=2'&gt;"
          "</description></item></channel></rss>",
          "text/xml"),
      ElementsAre("E http://example.org/dir/s.xsl", "L http://a.example/",
                  "E http://example.org/dir/logo.png", "L http://a.example/1?x=1&y=2",
                  "E http://example.org/dir/e.mp3", "E http://example.org/dir/t.jpg",
                  "E http://example.org/dir/i.gif", "L http://example.org/more?a=1&b=2"));
}

TEST(FeedLinks, ReadsAtomWithXmlBase) {
  EXPECT_THAT(LinesOf("<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://b.example/x/'>"
                      "<link rel='self' href='feed'/><link rel='hub' href='http://hub.example/'/>"
                      "<icon>f.ico</icon><entry xml:base='y/'><link href='1.html'/>"
                      "<content type='xhtml'><div><a href='2.html'>z</a></div></content></entry>"
                      "<entry><link rel='enclosure' href='3.mp3'/></entry></feed>",
                      "application/atom+xml"),
              ElementsAre("L http://b.example/x/feed", "E http://b.example/x/f.ico",
                          "L http://b.example/x/y/1.html", "L http://b.example/x/y/2.html",
                          "E http://b.example/x/3.mp3"));
}

TEST(SitemapLinks, ReadsUrlsetsAndIndexes) {
  EXPECT_THAT(LinesOf("<?xml version='1.0'?><urlset><url><loc> http://a.example/?a=1&amp;b=2\n"
                      "</loc><image:image><image:loc>i.png</image:loc></image:image>"
                      "<xhtml:link rel='alternate' href='http://a.example/de'/></url></urlset>",
                      "text/xml"),
              ElementsAre("L http://a.example/?a=1&b=2", "E http://example.org/dir/i.png",
                          "L http://a.example/de"));
  EXPECT_THAT(LinesOf("<sitemapindex><sitemap><loc>http://a.example/s.xml.gz</loc></sitemap>",
                      "application/xml"),
              ElementsAre("L http://a.example/s.xml.gz"));
}

TEST(DashLinks, ResolvesAgainstNestedBases) {
  EXPECT_THAT(
      LinesOf("<?xml version='1.0'?><MPD><BaseURL>media/</BaseURL><Period><BaseURL>p1/</BaseURL>"
              "<AdaptationSet><SegmentTemplate initialization='init.mp4' media='$Number$.m4s'/>"
              "<Representation><BaseURL>video.mp4</BaseURL><SegmentList>"
              "<Initialization sourceURL='i.mp4'/><SegmentURL media='s1.m4s'/></SegmentList>"
              "</Representation></AdaptationSet></Period><Period><SegmentURL media='s2.m4s'/>"
              "</Period></MPD>",
              "application/dash+xml"),
      ElementsAre(
          "E http://example.org/dir/media/p1/init.mp4",
          "E http://example.org/dir/media/p1/video.mp4", "E http://example.org/dir/media/p1/i.mp4",
          "E http://example.org/dir/media/p1/s1.m4s", "E http://example.org/dir/media/s2.m4s"));
}

TEST(HlsLinks, ReadsLinesAndUriAttributes) {
  EXPECT_THAT(
      LinesOf("#EXTM3U\r\n#EXT-X-KEY:METHOD=AES-128,URI=\"key.bin\",IV=0x1\r\n"
              "#EXT-X-MAP:URI=\"init.mp4\"\r\n#EXTINF:4,title\r\nseg1.ts\r\n# comment.ts\r\n"
              "#EXT-X-MEDIA:TYPE=AUDIO,URI=\"a/audio.m3u8\"\r\nhttp://cdn.example/2.ts",
              "application/vnd.apple.mpegurl"),
      ElementsAre("E http://example.org/dir/key.bin", "E http://example.org/dir/init.mp4",
                  "E http://example.org/dir/seg1.ts", "E http://example.org/dir/a/audio.m3u8",
                  "E http://cdn.example/2.ts"));
}

TEST(XmlLinks, DeepAndBrokenDocumentsAreBounded) {
  for (const std::string_view piece :
       {"<a xml:base='b/'>", "<item>", "<![CDATA[", "<!--", "<a b='", "<link>", "</x>"}) {
    std::string xml;
    while (xml.size() < 3'000'000) xml += piece;
    LinesBy(ExtractFeedLinks, xml);
    LinesBy(ExtractSitemapLinks, xml);
    LinesBy(ExtractDashLinks, xml);
  }
  EXPECT_THAT(LinesBy(ExtractFeedLinks, ""), IsEmpty());
}

}  // namespace
}  // namespace stele::html
