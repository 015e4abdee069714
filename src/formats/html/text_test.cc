#include "formats/html/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/html/copy_words.h"

namespace stele::html {
namespace {

PageText Text(std::string_view html) { return ExtractText(html, Encoding::kUtf8); }

TEST(Text, CollapsesSpaceAndBreaksAtBlocks) {
  EXPECT_EQ(Text(" <p>  one\n two<b>three</b> <i> four</i></p><p>five<br>six</p> ").text,
            "one twothree four\nfive\nsix");
  EXPECT_EQ(Text("<table><tr><td>a<td>b<tr><td>c</table>").text, "a b\nc");
  EXPECT_EQ(Text("a&nbsp;&amp;&eacute;\r\nb").text, "a\xC2\xA0&é b");
}

TEST(Text, SkipsWhatIsNotText) {
  EXPECT_EQ(Text("a<script>x</script><style>y</style><template>z<b>z</b></template>b<!-- c -->"
                 "<iframe>d</iframe><noframes>e</noframes><noscript>f</noscript>")
                .text,
            "abf");
  EXPECT_EQ(Text("a<template><template>x</template>y</template>b").text, "ab");
}

TEST(Text, RunsCoverTheTextWithoutGaps) {
  const PageText page = Text(
      "<html lang=de-AT><title> The  Title </title><meta name=description content='In short'>"
      "<h1>Head <a href=/x>link</a></h1><p>body <img alt='a picture'> more</p>");
  EXPECT_EQ(page.text, "The Title\nIn short\nHead link\nbody a picture more");
  EXPECT_EQ(page.language, "de-AT");
  std::uint32_t end = 0;
  for (const TextRun& run : page.runs) {
    EXPECT_EQ(run.begin, end);
    EXPECT_LT(run.begin, run.end);
    end = run.end;
  }
  EXPECT_EQ(end, page.text.size());
  EXPECT_EQ(page.TextOf(kTitleText), "The Title");
  EXPECT_EQ(page.TextOf(kDescriptionText), "In short");
  EXPECT_EQ(page.TextOf(kHeadingText), "Head link");
  EXPECT_EQ(page.TextOf(kAnchorText), "link");
  EXPECT_EQ(page.TextOf(kAltText), "a picture");
  EXPECT_EQ(page.TextOf(kBodyText), "body\nmore");
}

TEST(Text, AnchorsKnowTheirText) {
  const PageText page = Text(
      "x <a href='/a?b&amp;c'> one <b>two</b> </a> <a href=d></a><a name=e>z"
      "</a><a href=f>g<a href=h><img alt=i></a>");
  ASSERT_EQ(page.anchors.size(), 3u);
  const auto text = [&](std::size_t i) {
    return page.text.substr(page.anchors[i].begin, page.anchors[i].end - page.anchors[i].begin);
  };
  EXPECT_EQ(page.anchors[0].href, "/a?b&c");
  EXPECT_EQ(text(0), "one two");
  EXPECT_EQ(page.anchors[1].href, "f");
  EXPECT_EQ(text(1), "g");
  EXPECT_EQ(text(2), "i");
}

TEST(Text, OnlyTheFirstTitleIsTheTitle) {
  const PageText page = Text("<title>a</title><title>b</title><svg><title>c</title></svg>");
  EXPECT_EQ(page.TextOf(kTitleText), "a");
  EXPECT_EQ(page.text, "a\nc");
}

TEST(Text, DecodesFromThePagesEncoding) {
  EXPECT_EQ(ExtractText("<p>caf\xE9&euro;", Encoding::kWindows1252).text, "café€");
  EXPECT_EQ(ExtractPlainText("<p> caf\xE9\n\n x ", Encoding::kWindows1252).text, "<p> café x");
}

TEST(Text, StopsAtItsLimitOnWholeCharacters) {
  std::string page;
  for (int i = 0; i < 1000; ++i) page += "ééé&eacute; ";
  TextLimits limits;
  limits.text_bytes_max = 100;
  const PageText cut = ExtractText(page, Encoding::kUtf8, limits);
  EXPECT_TRUE(cut.truncated);
  EXPECT_LE(cut.text.size(), 100u);
  EXPECT_GE(cut.text.size(), 80u);
}

TEST(Text, NothingComesBehindWhatPassedTheLimit) {
  TextLimits limits;
  limits.text_bytes_max = 10;
  const PageText cut = ExtractText("<p>a<p>muchtoolong<p>b", Encoding::kUtf8, limits);
  EXPECT_TRUE(cut.truncated);
  EXPECT_EQ(cut.text, "a");
}

TEST(Text, LeavesNullCharactersOut) {
  using namespace std::string_view_literals;
  EXPECT_EQ(ExtractText("<p>a\0b \0 c"sv, Encoding::kUtf8).text, "ab c");
  EXPECT_EQ(ExtractPlainText("a\0b\0"sv, Encoding::kWindows1252).text, "ab");
}

TEST(Text, NormalisedTextIgnoresMarkupCaseAndPunctuation) {
  const std::string a = NormalisedText(Text("<h1>Über “Straße”</h1><p>Ｆull, width: ﬁne!</p>"));
  const std::string b =
      NormalisedText(Text("<div>ÜBER <b>Str</b>asse - full width fine<img alt='picture'></div>"));
  EXPECT_EQ(a, "über strasse full width fine");
  EXPECT_EQ(a, b);
  EXPECT_NE(a, NormalisedText(Text("über strasse full width")));
  EXPECT_EQ(NormalisedText(Text("日本語、テスト")), "日本語 テスト");
  EXPECT_EQ(NormalisedText(Text("")), "");
}

// As far as the words go, anchors are nothing: digests of texts do not depend on them.
TEST(Text, WithoutAnchorsTheTextIsTheSame) {
  for (const char* html :
       {"a<a href=x>b</a>c <img alt='picture'><a>d</a>",
        "<meta name=description content=what><html lang=en><a href=1>half</a>way",
        "<title>t</title><p><a href=''>x<h1>y</a>z</h1><area alt=w>"}) {
    const PageText with = Text(html);
    const PageText without = ExtractText(html, Encoding::kUtf8, {.anchors_max = 0});
    EXPECT_EQ(without.text, with.text);
    EXPECT_EQ(without.language, with.language);
    EXPECT_TRUE(without.anchors.empty());
    EXPECT_EQ(without.TextOf(kAnchorText), "");
    EXPECT_EQ(NormalisedText(without), NormalisedText(with));
  }
}

TEST(Text, AMillionNestedTagsAreNothing) {
  std::string page;
  for (int i = 0; i < 1'000'000; ++i) page += "<div><a href=x>";
  EXPECT_EQ(Text(page + "end").text, "end");
}

// The fast way over many bytes copies what the slow one over single bytes does.
TEST(Text, CopyWordsCopiesByGroupsAsByBytes) {
  std::uint64_t dice = 1;
  const auto next = [&] { return dice = dice * 6364136223846793005u + 1442695040888963407u; };
  const std::string_view alphabet = " \t\n\v\f\r  aZ09@[`{/:\x7f\x01.";
  const auto expect_same = [](const std::string& text, auto fold) {
    for (const bool after_space : {false, true}) {
      std::string by_bytes;
      bool after = after_space;
      for (const char c : text) {
        const char folded = fold(c);
        if (folded != ' ' || !after) by_bytes += folded;
        after = folded == ' ';
      }
      std::string by_groups(text.size(), '#');
      const char* end = CopyWords(text, after_space, by_groups.data(), fold);
      by_groups.resize(static_cast<std::size_t>(end - by_groups.data()));
      ASSERT_EQ(by_groups, by_bytes);
    }
  };
  for (int round = 0; round < 2000; ++round) {
    std::string text(next() >> 33 & 63, ' ');
    for (char& c : text) c = alphabet[(next() >> 33) % alphabet.size()];
    expect_same(text, FoldAsciiWord());
    for (char& c : text) {
      if ((next() >> 33) % 4 == 0) c = static_cast<char>(next() >> 40);
    }
    expect_same(text, FoldSpace());
  }
}

}  // namespace
}  // namespace stele::html
