#include "formats/html/script_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/html/json_links.h"
#include "formats/html/link_testing.h"

namespace stele::html {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Script(std::string_view script) {
  return LinesBy(ExtractScriptLinks, script);
}

TEST(ScriptLinks, TakesStringsThatLookLikeUrls) {
  EXPECT_THAT(Script("var a='http://a.example/x', b=\"img/b.png\"; c = `//cdn.example/c`; "
                     "location = '/d.php?e=1'; w('www.f.example/g')"),
              ElementsAre("X http://a.example/x", "X http://example.org/dir/img/b.png",
                          "X http://cdn.example/c", "X http://example.org/d.php?e=1",
                          "X http://www.f.example/g"));
}

TEST(ScriptLinks, I1_ThoseOfAScriptOfItsOwnAreRelativeToItsPageOrToIt) {
  EXPECT_THAT(LinesOf({.url = "http://cdn.example/js/a.js",
                       .page_url = kTestUrl,
                       .content = "'img/a.png' 'http://b.example/x' '/c.png'",
                       .content_type = "text/javascript"}),
              ElementsAre("X http://cdn.example/js/img/a.png", "X http://example.org/dir/img/a.png",
                          "X http://b.example/x", "X http://cdn.example/c.png",
                          "X http://example.org/c.png"));
}

TEST(ScriptLinks, UndoesEscapesAndNestedQuotes) {
  EXPECT_THAT(Script(R"(x="{\"u\":\"http:\/\/a.example\/b\"}"; y='\x2fc\u002fd.js';)"),
              ElementsAre("X http://a.example/b", "X http://example.org/c/d.js"));
  EXPECT_THAT(Script("r='http%3A%2F%2Fa.example%2Fz'"), ElementsAre("X http://a.example/z"));
  EXPECT_THAT(Script("document.write('<img src=\"pix/i.gif\">')"),
              ElementsAre("X http://example.org/dir/pix/i.gif"));
}

TEST(ScriptLinks, RejectsWhatCodeIsMadeOf) {
  EXPECT_THAT(Script("'text/javascript' 'application/json' '1.5/2' 'a.b.c' '/' './' 'foo/bar' "
                     "'a.png+' '.js' 'http://' 'http://localhost/' '${a}/b.png' 'x y.png' "
                     "'jQuery.fn.extend' 'a//b.png' 'yyyy/mm/dd' 'http://a' '*.html' '//' 'M.D.Y'"),
              IsEmpty());
}

TEST(ScriptLinks, QuotesInCommentsDoNotHideWhatFollows) {
  EXPECT_THAT(Script("// don't do this\nload('a.js');"),
              ElementsAre("X http://example.org/dir/a.js"));
}

TEST(JsonLinks, KeysDecideInLinkedData) {
  EXPECT_THAT(
      LinesBy(ExtractJsonLdLinks,
              R"({"@context":"https://schema.org","@type":"Article","url":"https://a.example/1",
                 "image":["https://a.example/i.jpg",{"@type":"ImageObject","url":"\/j.jpg",
                 "author":{"url":"https://a.example/who"}}],"headline":"http is fun",
                 "sameAs":["https:\/\/b.example\/"],"other":"https://c.example/x"})"),
      ElementsAre("L https://a.example/1", "E https://a.example/i.jpg",
                  "E http://example.org/j.jpg", "L https://a.example/who", "L https://b.example/",
                  "X https://c.example/x"));
}

TEST(JsonLinks, OtherJsonIsSpeculation) {
  EXPECT_THAT(LinesOf(R"({"a":"http://a.example/\u00e9","b":"img/x.png","c":"words","d":"a/b"})",
                      "application/json; charset=utf-8"),
              ElementsAre("X http://a.example/%C3%A9", "X http://example.org/dir/img/x.png"));
}

TEST(JsonLinks, DepthAndBrokenSyntaxDoNotMatter) {
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "{\"image\":[";
  deep += "\"https://a.example/i.png\"";
  EXPECT_THAT(LinesBy(ExtractJsonLdLinks, deep), ElementsAre("E https://a.example/i.png"));
  LinesBy(ExtractJsonLdLinks, "]]}}\"\\");
}

}  // namespace
}  // namespace stele::html
