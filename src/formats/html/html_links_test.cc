#include "formats/html/html_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/html/link_testing.h"

namespace stele::html {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Html(std::string_view html) { return LinesOf(html, "text/html"); }

TEST(HtmlLinks, NavigationComesFromAnchorsFormsAndCitations) {
  EXPECT_THAT(Html("<a href=a>x</a><area href=' b '><form action=c><button formaction=d></form>"
                   "<blockquote cite=e><img longdesc=f usemap='#m'><head profile='g'>"
                   "<svg><a xlink:href=h /></svg>"),
              ElementsAre("L http://example.org/dir/a", "L http://example.org/dir/b",
                          "L http://example.org/dir/c", "L http://example.org/dir/d",
                          "L http://example.org/dir/e", "L http://example.org/dir/f",
                          "L http://example.org/dir/g", "L http://example.org/dir/h"));
}

TEST(HtmlLinks, PostFormsAreNotFollowed) {
  EXPECT_THAT(Html("<form method=post action=a><input formaction=b><input formaction=c "
                   "formmethod=get></form><input formaction=d>"),
              ElementsAre("L http://example.org/dir/c", "L http://example.org/dir/d"));
}

TEST(HtmlLinks, EmbedsComeFromEverythingThatShowsThePage) {
  EXPECT_THAT(
      Html("<html manifest=a><body background=b><img src=c lowsrc=d dynsrc=e srcset='f 1x, g 2x'>"
           "<script src=h></script><iframe src=i></iframe><frame src=j><video poster=k>"
           "<source src=l><track src=m></video><embed src=n><input type=image src=o>"
           "<svg><use href='p#x'/><image xlink:href=q /></svg>"),
      ElementsAre(
          "E http://example.org/dir/a", "E http://example.org/dir/b", "E http://example.org/dir/c",
          "E http://example.org/dir/f", "E http://example.org/dir/g", "E http://example.org/dir/d",
          "E http://example.org/dir/e", "E http://example.org/dir/h", "E http://example.org/dir/i",
          "E http://example.org/dir/j", "E http://example.org/dir/k", "E http://example.org/dir/l",
          "E http://example.org/dir/m", "E http://example.org/dir/n", "E http://example.org/dir/o",
          "E http://example.org/dir/p", "E http://example.org/dir/q"));
}

TEST(HtmlLinks, LinkElementsGoByRelation) {
  EXPECT_THAT(Html("<link rel=stylesheet href=a><link rel='shortcut icon' href=b><link rel=next "
                   "href=c><link rel=dns-prefetch href=//d><link rel=preload imagesrcset='e 1x' "
                   "href=f><link rel=canonical href=g>"),
              ElementsAre("E http://example.org/dir/a", "E http://example.org/dir/b",
                          "L http://example.org/dir/c", "E http://example.org/dir/f",
                          "E http://example.org/dir/e", "L http://example.org/dir/g"));
}

TEST(HtmlLinks, ObjectsAndAppletsUseTheirCodebase) {
  EXPECT_THAT(Html("<object codebase=cb/ data=a.swf classid='clsid:1-2' archive='b.jar c.jar'>"
                   "<param name=movie value=d.swf><param name=x value=e.swf></object>"
                   "<applet codebase=/java code=org.x.F.class archive='g.jar, h.jar'></applet>"),
              ElementsAre("E http://example.org/dir/cb/a.swf", "E http://example.org/dir/cb/b.jar",
                          "E http://example.org/dir/cb/c.jar", "E http://example.org/dir/d.swf",
                          "E http://example.org/g.jar", "E http://example.org/h.jar",
                          "E http://example.org/org/x/F.class"));
}

TEST(HtmlLinks, MetaGivesRefreshAndMedia) {
  EXPECT_THAT(Html("<noscript><meta http-equiv=Refresh content='0;URL=&#39;a?b=1&amp;c=2&#39;'>"
                   "</noscript><meta property=og:image content=b.png><meta property=og:image:width "
                   "content=100><meta name='twitter:image:src' content=c.png>"),
              ElementsAre("R http://example.org/dir/a?b=1&c=2", "E http://example.org/dir/b.png",
                          "E http://example.org/dir/c.png"));
}

TEST(HtmlLinks, LazyLoadingAttributesAreEmbeds) {
  EXPECT_THAT(Html("<img data-src=a data-srcset='b 1x, c 2x' data-original=d data-foo=e "
                   "data-lazy-src='{{f}}'><div data-bg=\"url('g')\" data-background=h "
                   "data-href=i.html></div>"),
              ElementsAre("E http://example.org/dir/a", "E http://example.org/dir/b",
                          "E http://example.org/dir/c", "E http://example.org/dir/d",
                          "E http://example.org/dir/g", "E http://example.org/dir/h",
                          "X http://example.org/dir/i.html"));
}

TEST(HtmlLinks, FirstBaseHoldsForAllLinksAlsoThoseBefore) {
  EXPECT_THAT(Html("<a href=a><base target=x><base href='/sub/&#x64;eep/'><base href='/no/'><a "
                   "href=b><div style='background:url(c)'><a href='//h.example/d'><a href=''>"),
              ElementsAre("L http://example.org/sub/deep/a", "L http://example.org/sub/deep/b",
                          "E http://example.org/sub/deep/c", "L http://h.example/d"));
  EXPECT_THAT(Html("<base href='data:text/plain,x'><a href=a>"),
              ElementsAre("L http://example.org/dir/a"));
}

TEST(HtmlLinks, StylesScriptsAndJsonAreRead) {
  EXPECT_THAT(Html("<style>@import 'a.css';</style><p style='background:url(&quot;b.png&quot;)'>"
                   "<script>var x = 'c.js', y = '</scr' + 'ipt>';</script>"
                   "<script type=application/ld+json>{\"image\":\"/d.png\"}</script>"
                   "<script type=text/template><img src=e></script>"
                   "<a onclick=\"location.href='f.html'\" href=\"javascript:go('g.html')\">"),
              ElementsAre("E http://example.org/dir/a.css", "E http://example.org/dir/b.png",
                          "X http://example.org/dir/c.js", "E http://example.org/d.png",
                          "X http://example.org/dir/f.html", "X http://example.org/dir/g.html"));
}

TEST(HtmlLinks, NestedDocumentsHaveTheirOwnBase) {
  EXPECT_THAT(Html("<iframe srcdoc=\"<base href='/in/'><img src=a><iframe srcdoc='&lt;img "
                   "src=b&gt;'>\"></iframe><img src=c><template><img src=d></template>"
                   "<noframes><a href=e></noframes><!--[if IE]><img src=f><![endif]-->"
                   "<!-- <img src=g> -->"),
              ElementsAre("E http://example.org/in/a", "E http://example.org/in/b",
                          "E http://example.org/dir/c", "E http://example.org/dir/d",
                          "L http://example.org/dir/e", "E http://example.org/dir/f"));
}

TEST(HtmlLinks, SkipsWhatNoCrawlerFetches) {
  EXPECT_THAT(Html("<a href='javascript:void(0)'><a href='JavaScript:x()'><a href=mailto:a@b>"
                   "<a href=tel:1><img src=data:image/gif;base64,A><a href='#top'><a href=' '>"
                   "<a href=about:blank><a href=blob:x><a href='java\nscript:x'><a ping=p>"
                   "<a href='http://[bad'>"),
              IsEmpty());
}

TEST(HtmlLinks, DuplicatesComeOncePerHop) {
  EXPECT_THAT(Html("<a href=a><a href=a#x><a href='./a'><a href='http://example.org/dir/a'>"
                   "<img src=a><img src='a '>"),
              ElementsAre("L http://example.org/dir/a", "E http://example.org/dir/a"));
}

TEST(HtmlLinks, ReferencesAreDecodedInAttributesAsBrowsersDo) {
  EXPECT_THAT(Html("<a href='?a=1&amp;b=2&copy=3&lt;'>"),
              ElementsAre("L http://example.org/dir/page.html?a=1&b=2&copy=3%3C"));
}

TEST(HtmlLinks, PathsAreUtf8AndQueriesInThePagesEncoding) {
  EXPECT_THAT(LinesOf("<a href='/\xD6\xD0?q=\xCE\xC4'>", "text/html; charset=gb2312"),
              ElementsAre("L http://example.org/%E4%B8%AD?q=%CE%C4"));
  EXPECT_THAT(LinesOf("<a href='/caf\xE9&eacute;?q=\xE9'>", "text/html; charset=latin1"),
              ElementsAre("L http://example.org/caf%C3%A9%C3%A9?q=%E9"));
  EXPECT_THAT(LinesOf("<a href='/caf\xC3\xA9?q=\xC3\xA9'>", "text/html; charset=utf-8"),
              ElementsAre("L http://example.org/caf%C3%A9?q=%C3%A9"));
}

TEST(HtmlLinks, ReadsUtf16) {
  std::string wide = "\xFF\xFE";
  for (const char c : std::string_view("<a href=x>")) wide += {c, '\0'};
  EXPECT_THAT(Html(wide), ElementsAre("L http://example.org/dir/x"));
}

TEST(HtmlLinks, SaysWhatMayNotBeFollowed) {
  std::vector<bool> nofollow;
  const auto take = [&](Link&& link) { nofollow.push_back(link.nofollow); };
  LinkSummary summary = ExtractLinks({.url = kTestUrl,
                                      .content = "<a href=a rel=nofollow><a href=b><a href=c "
                                                 "rel=ugc><a href=c>",
                                      .content_type = "text/html"},
                                     take);
  EXPECT_THAT(nofollow, ElementsAre(true, false, false));
  EXPECT_FALSE(summary.nofollow);
  nofollow.clear();
  summary = ExtractLinks({.url = kTestUrl,
                          .content = "<a href=a><meta name=ROBOTS content='NoIndex, nofollow'>",
                          .content_type = "text/html"},
                         take);
  EXPECT_THAT(nofollow, ElementsAre(true));
  EXPECT_TRUE(summary.nofollow);
  EXPECT_TRUE(summary.noindex);
}

TEST(HtmlLinks, ReportsContextAndOffset) {
  const std::string_view page = "<p><a href='x'>y</a><style>b{c:url(d.png)}</style>";
  std::vector<Link> links;
  ExtractLinks({.url = kTestUrl, .content = page, .content_type = "text/html"},
               [&](Link&& link) { links.push_back(std::move(link)); });
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].context, "a/@href");
  EXPECT_EQ(page.substr(links[0].offset, 1), "x");
  EXPECT_EQ(links[1].context, "css");
  EXPECT_EQ(page.substr(links[1].offset, 5), "d.png");
}

TEST(HtmlLinks, OffsetsOfNestedDocumentsAreThoseOfTheWhole) {
  const std::string_view page =
      "<p><!--[if IE]><noframes><a href=deep></noframes><![endif]--><noembed><img src=one>";
  std::vector<Link> links;
  ExtractLinks({.url = kTestUrl, .content = page, .content_type = "text/html"},
               [&](Link&& link) { links.push_back(std::move(link)); });
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(page.substr(links[0].offset, 4), "deep");
  EXPECT_EQ(page.substr(links[1].offset, 3), "one");
}

TEST(HtmlLinks, LimitsAreKeptAndReported) {
  std::string page;
  for (int i = 0; i < 100; ++i)
    page += "<a href=" + std::to_string(i) + "><script>'" + std::to_string(i) + ".js'</script>";
  page += "<a href=" + std::string(5000, 'x') + ">";
  LinkLimits limits;
  limits.links_max = 50;
  limits.speculative_links_max = 10;
  std::size_t taken = 0;
  const LinkSummary summary = ExtractLinks(
      {.url = kTestUrl, .content = page, .content_type = "text/html"}, [&](Link&&) { ++taken; },
      limits);
  EXPECT_EQ(taken, 50u);
  EXPECT_EQ(summary.links, 50u);
  EXPECT_EQ(summary.left_out, 150u);
  EXPECT_EQ(summary.too_long, 1u);
}

TEST(HtmlLinks, HostilePagesAreBounded) {
  for (const std::string_view piece :
       {"<div>", "<a href=x", "<iframe srcdoc='", "<a b='c' ", "&lt;", "<object codebase=a>",
        "<!--[if", "<svg>", "<p style='url("}) {
    std::string page;
    while (page.size() < 5'000'000) page += piece;
    Html(page);
  }
  Html("<img srcset='" + std::string(1'000'000, ',') + "'>");
  Html("<a href='" + std::string(10'000'000, 'a') + "'><a href=b>");
}

}  // namespace
}  // namespace stele::html
