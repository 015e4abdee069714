#include "formats/html/css_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/html/link_testing.h"

namespace stele::html {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Css(std::string_view css) { return LinesBy(ExtractCssLinks, css); }

TEST(CssLinks, TakesUrlsQuotedOrNot) {
  EXPECT_THAT(Css("a{background:url(a.png)} b{background:URL( 'b.png' )} c{src:url(\"c.ttf\")}"),
              ElementsAre("E http://example.org/dir/a.png", "E http://example.org/dir/b.png",
                          "E http://example.org/dir/c.ttf"));
}

TEST(CssLinks, TakesImportsWithAndWithoutUrl) {
  EXPECT_THAT(Css("@import 'a.css'; @IMPORT url(b.css) screen; @import/**/\"c.css\";"),
              ElementsAre("E http://example.org/dir/a.css", "E http://example.org/dir/b.css",
                          "E http://example.org/dir/c.css"));
}

TEST(CssLinks, UndoesEscapes) {
  EXPECT_THAT(Css("a{b:url(x\\(1\\).png)} c{d:url('\\2f e\\66 g')} e{f:url(a\\\nb)}"),
              ElementsAre("E http://example.org/dir/x(1).png", "E http://example.org/efg",
                          "E http://example.org/dir/ab"));
  EXPECT_THAT(Css("a{b:url(\\2f esc.png)} c{d:url( \\00002Fx\\66 )} e{f:url(a b)} g{h:url(\\2f"),
              ElementsAre("E http://example.org/esc.png", "E http://example.org/xf",
                          "E http://example.org/"));
}

TEST(CssLinks, TakesImageSetsAndAlphaImageLoader) {
  EXPECT_THAT(Css("a{b:image-set('a.avif' type('image/avif') 1x, url(b.png) 2x, url('c.png'), "
                  "'d.png' 3x)} e{content:'not.png'}"),
              ElementsAre("E http://example.org/dir/a.avif", "E http://example.org/dir/b.png",
                          "E http://example.org/dir/c.png", "E http://example.org/dir/d.png"));
  EXPECT_THAT(Css("a{filter:progid:DXImageTransform.Microsoft.AlphaImageLoader(src='x.png', "
                  "sizingMethod='scale')}"),
              ElementsAre("E http://example.org/dir/x.png"));
}

TEST(CssLinks, LeavesOutCommentsStringsNamespacesAndData) {
  EXPECT_THAT(Css("/* url(a.png) */ a{content:'url(b.png)'} @namespace url(http://www.w3.org/); "
                  "@charset 'x.png'; b{c:url(data:image/png;base64,AAAA)} d{e:myurl(f.png)} "
                  "g{h:url(bad url.png)} i{j:url()}"),
              IsEmpty());
}

TEST(CssLinks, ClosesWhatTheEndLeavesOpen) {
  EXPECT_THAT(Css("a{b:url(x.png"), ElementsAre("E http://example.org/dir/x.png"));
  EXPECT_THAT(Css("a{b:url('y.png"), ElementsAre("E http://example.org/dir/y.png"));
  EXPECT_THAT(Css("/* url(z.png)"), IsEmpty());
  EXPECT_THAT(Css("a{b:url(x\\"), ElementsAre("E http://example.org/dir/x"));
}

TEST(CssLinks, HostileSheetsTakeLinearTime) {
  for (const std::string_view piece :
       {"url(", "url('", "/*", "'\\", "@import ", "image-set(", "("}) {
    std::string css;
    while (css.size() < 4'000'000) css += piece;
    Css(css);
  }
}

}  // namespace
}  // namespace stele::html
