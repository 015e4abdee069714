#include "formats/html/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/html/tokenizer_testing.h"
#include "formats/html/tokenizer_twin.h"

namespace stele::html::testing {
namespace {

using Kind = RecordedToken::Kind;
using ::testing::ElementsAre;

std::vector<RecordedToken> Tokens(std::string_view input, Tokenizer::Options options = {}) {
  return Tokenize({input}, {}, options).tokens();
}

// "<a x=y>" is "start a x=y", text is "text ...", and so on.
std::vector<std::string> Brief(const std::vector<RecordedToken>& tokens) {
  static constexpr const char* kNames[] = {"start ", "end ", "text ", "comment ", "doctype "};
  std::vector<std::string> lines;
  for (const RecordedToken& token : tokens) {
    std::string line = kNames[static_cast<std::size_t>(token.kind)] + token.text;
    for (const RecordedAttribute& a : token.attributes) line += " " + a.name + "=" + a.value;
    if (token.self_closing) line += " /";
    if (token.name) line += *token.name;
    if (token.public_id) line += " public " + *token.public_id;
    if (token.system_id) line += " system " + *token.system_id;
    if (token.force_quirks) line += " quirks";
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> Brief(std::string_view input) { return Brief(Tokens(input)); }

std::string_view Part(std::string_view input, SourceRange at) {
  return input.substr(at.begin, at.end - at.begin);
}

TEST(Tokenizer, NamesAreLowerCaseAndValuesDecoded) {
  EXPECT_THAT(Brief("<A HREF=\"?a&amp;b\" Title='&lt;x' width=3 checked>T &amp; U</A >"),
              ElementsAre("start a href=?a&b title=<x width=3 checked=", "text T & U", "end a"));
  EXPECT_THAT(Brief("<br/><img src=a/><p / x>"),
              ElementsAre("start br /", "start img src=a/", "start p x="));
}

TEST(Tokenizer, BrokenTagsAreReadAsBrowsersDo) {
  EXPECT_THAT(Brief("<a =b c\"d='e'f=>"), ElementsAre("start a =b= c\"d=e f="));
  EXPECT_THAT(Brief("<a b='1'c=\"2\"d>"), ElementsAre("start a b=1 c=2 d="));
  EXPECT_THAT(Brief("1 < 2 <3 </>x<a <b>"), ElementsAre("text 1 < 2 <3 x", "start a <b="));
}

TEST(Tokenizer, RangesPointAtTheSource) {
  const std::string_view input =
      "ab<A  HREF = \"x&amp;y\" ID=z Q>c&lt;\r\n</a><!-- n --><!DOCTYPE h>";
  const std::vector<RecordedToken> tokens = Tokens(input);
  ASSERT_EQ(tokens.size(), 6u);
  EXPECT_EQ(Part(input, tokens[0].at), "ab");
  EXPECT_EQ(Part(input, tokens[1].at), "<A  HREF = \"x&amp;y\" ID=z Q>");
  const std::vector<RecordedAttribute>& attributes = tokens[1].attributes;
  ASSERT_EQ(attributes.size(), 3u);
  EXPECT_EQ(Part(input, attributes[0].name_at), "HREF");
  EXPECT_EQ(Part(input, attributes[0].value_at), "x&amp;y");
  EXPECT_EQ(Part(input, attributes[1].value_at), "z");
  EXPECT_EQ(attributes[2].value_at,
            (SourceRange{attributes[2].name_at.end, attributes[2].name_at.end}));
  EXPECT_EQ(Part(input, tokens[2].at), "c&lt;\r\n");
  EXPECT_EQ(Part(input, tokens[3].at), "</a>");
  EXPECT_EQ(Part(input, tokens[4].at), "<!-- n -->");
  EXPECT_EQ(Part(input, tokens[5].at), "<!DOCTYPE h>");
}

TEST(Tokenizer, EachPieceOfTextIsVerbatimOrOneReplacement) {
  const Recorder recorder = Tokenize({"a&lt;b\r\nc\rd"}, {}, {});
  using Piece = std::pair<std::string, SourceRange>;
  EXPECT_THAT(
      recorder.pieces(),
      ElementsAre(Piece{"a", {0, 1}}, Piece{"<", {1, 5}}, Piece{"b", {5, 6}}, Piece{"\n", {6, 8}},
                  Piece{"c", {8, 9}}, Piece{"\n", {9, 10}}, Piece{"d", {10, 11}}));
}

TEST(Tokenizer, LineEndsBecomeLineFeedsEverywhere) {
  EXPECT_THAT(Brief("<a\r\nb='1\r\n2\r3'\r>\r\n\r<!--\r\n-->"),
              ElementsAre("start a b=1\n2\n3", "text \n\n", "comment \n"));
}

TEST(Tokenizer, NulIsReplacedExceptInOrdinaryText) {
  using std::string_view_literals::operator""sv;
  const std::string fffd = "\xEF\xBF\xBD";
  EXPECT_THAT(Brief("\0<a\0 b\0='\0'><!--\0--><style>\0</style>"sv),
              ElementsAre(std::string("text \0", 6), "start a" + fffd + " b" + fffd + "=" + fffd,
                          "comment " + fffd, "start style", "text " + fffd, "end style"));
}

TEST(Tokenizer, BytesAbove127PassUntouched) {
  EXPECT_THAT(Brief("<p \xE9=\xFF>\xC3\x84\x80</p>"),
              ElementsAre("start p \xE9=\xFF", "text \xC3\x84\x80", "end p"));
}

TEST(Tokenizer, OfAttributesWithOneNameTheFirstCounts) {
  EXPECT_THAT(Brief("<a b=1 B=2 c=3 b=4>"), ElementsAre("start a b=1 c=3"));
  std::string many = "<a";
  std::string expected = "start a";
  for (int i = 0; i < 100; ++i) {
    many += " n" + std::to_string(i % 50) + "=" + std::to_string(i);
    if (i < 50) expected += " n" + std::to_string(i) + "=" + std::to_string(i);
  }
  EXPECT_THAT(Brief(many + ">"), ElementsAre(expected));
}

TEST(Tokenizer, CommentsEndWhereBrowsersEndThem) {
  EXPECT_THAT(Brief("<!-- a - -- b --><!--><!---><!----><!--c--!><!--d--!e-->"),
              ElementsAre("comment  a - -- b ", "comment ", "comment ", "comment ", "comment c",
                          "comment d--!e"));
  EXPECT_THAT(Brief("<?xml x?><!x></ y><![CDATA[z]]>"),
              ElementsAre("comment ?xml x?", "comment x", "comment  y", "comment [CDATA[z]]"));
}

TEST(Tokenizer, DoctypesTellNameAndIdentifiers) {
  EXPECT_THAT(
      Brief("<!doctype HTML><!DOCTYPE html PUBLIC \"p\" 's'><!DOCTYPE html SYSTEM 's'>"),
      ElementsAre("doctype html", "doctype html public p system s", "doctype html system s"));
  EXPECT_THAT(Brief("<!DOCTYPE><!DOCTYPE a PUBLIC><!DOCTYPE a PUBLIC 'x><!DOCTYPE a b>"),
              ElementsAre("doctype  quirks", "doctype a quirks", "doctype a public x quirks",
                          "doctype a quirks"));
}

TEST(Tokenizer, WhatFollowsASystemIdentifierMeansNoQuirks) {
  EXPECT_THAT(Brief("<!DOCTYPE a SYSTEM 's' x><!DOCTYPE a SYSTEM 's' x"),
              ElementsAre("doctype a system s", "doctype a system s"));
}

TEST(Tokenizer, WhatTheInputEndsInIsKeptUnlessItIsATag) {
  EXPECT_THAT(Brief("a<b c='d"), ElementsAre("text a"));
  EXPECT_THAT(Brief("a<"), ElementsAre("text a<"));
  EXPECT_THAT(Brief("a</"), ElementsAre("text a</"));
  EXPECT_THAT(Brief("a<!-"), ElementsAre("text a", "comment -"));
  EXPECT_THAT(Brief("<!--a--"), ElementsAre("comment a"));
  EXPECT_THAT(Brief("<!DOCTYPE a"), ElementsAre("doctype a quirks"));
  EXPECT_THAT(Brief("a&am"), ElementsAre("text a&am"));
  EXPECT_THAT(Brief("a&amp"), ElementsAre("text a&"));
  EXPECT_THAT(Brief("a&#65"), ElementsAre("text aA"));
  EXPECT_THAT(Brief("a\r"), ElementsAre("text a\n"));
  EXPECT_THAT(Brief("<title>a</titl"), ElementsAre("start title", "text a</titl"));
}

TEST(Tokenizer, SwitchesToTheStateThatAnElementNeeds) {
  EXPECT_THAT(Brief("<title><b>&lt;</b></TITLE><p>"),
              ElementsAre("start title", "text <b><</b>", "end title", "start p"));
  EXPECT_THAT(Brief("<style><b>&lt;</style ><p>"),
              ElementsAre("start style", "text <b>&lt;", "end style", "start p"));
  EXPECT_THAT(Brief("<script>if (a<b) '</scripty>'</script><p>"),
              ElementsAre("start script", "text if (a<b) '</scripty>'", "end script", "start p"));
  EXPECT_THAT(Brief("<noscript><b></noscript>"),
              ElementsAre("start noscript", "start b", "end noscript"));
  EXPECT_THAT(Brief("<plaintext></plaintext>&lt;"),
              ElementsAre("start plaintext", "text </plaintext>&lt;"));
}

TEST(Tokenizer, DoesNotSwitchIfToldSo) {
  EXPECT_THAT(Brief(Tokens("<style><b>&lt;</style>", {.switch_states_by_tag = false})),
              ElementsAre("start style", "start b", "text <", "end style"));
}

TEST(Tokenizer, AScriptInsideACommentMayHoldAnEndTag) {
  EXPECT_THAT(
      Brief("<script><!-- <script>a</script> b --> c</script>d"),
      ElementsAre("start script", "text <!-- <script>a</script> b --> c", "end script", "text d"));
  EXPECT_THAT(Brief("<script><!-- a</script>d"),
              ElementsAre("start script", "text <!-- a", "end script", "text d"));
  EXPECT_THAT(Brief("<script><!--><script></script>d"),
              ElementsAre("start script", "text <!--><script>", "end script", "text d"));
}

TEST(Tokenizer, InsideSvgSelfClosingTagsCloseAndCdataIsText) {
  EXPECT_THAT(Brief("<svg><script/><b><![CDATA[<x>]]]></b></svg><style/><c>"),
              ElementsAre("start svg", "start script /", "start b", "text <x>]", "end b", "end svg",
                          "start style /", "text <c>"));
}

TEST(Tokenizer, LongTokensAreCutAtTheLimitWithTheirWholeRange) {
  const Tokenizer::Options options{.token_bytes_max = 16};
  const std::string_view input =
      "<a b=1 c='2' d=34567 e=5><!--0123456789abcdef--><?0123456789abcdef><!DOCTYPE abcdefgh>"
      "<abcdefghijklmnopqrst>x";
  const std::vector<RecordedToken> tokens = Tokens(input, options);
  EXPECT_THAT(Brief(tokens),
              ElementsAre("start a b=1 c=2", "comment 0123456789ab", "comment ?0123456789abcd",
                          "doctype abcdef quirks", "start abcdefghijklmno", "text x"));
  EXPECT_EQ(Part(input, tokens[1].at), "<!--0123456789abcdef-->");
  EXPECT_EQ(Part(input, tokens[4].at), "<abcdefghijklmnopqrst>");
  EXPECT_THAT(Brief(Tokens("<a b='0123456'>", options)), ElementsAre("start a b=0123456"));
}

TEST(Tokenizer, AttributesComeWithTheTagsThatAreAskedFor) {
  Tokenizer::Options options;
  options.has_attributes = [](std::string_view name) { return name == "img"; };
  const std::string input = "<A Href='x&amp;y'><IMG SRC='b&lt;'/><svg a/></A b=c>";
  EXPECT_THAT(Brief(Tokens(input, options)),
              ElementsAre("start a", "start img src=b< /", "start svg /", "end a"));
}

// A tag whose parts need no change costs no copy.
TEST(Tokenizer, ViewsPointIntoTheChunkWhereNothingIsReplaced) {
  class Pointers final : public TokenSink {
   public:
    void OnStartTag(const Tag& tag) override {
      found = {tag.name, tag.attributes[0].name, tag.attributes[0].value, tag.attributes[1].value};
    }
    void OnEndTag(const Tag&) override {}
    void OnText(std::string_view text, SourceRange) override { found.push_back(text); }
    void OnComment(std::string_view text, SourceRange) override { found.push_back(text); }
    void OnDoctype(const Doctype&) override {}
    std::vector<std::string_view> found;
  };
  const std::string input = "<img src=\"a.png\" alt='b'>text<!--note-->";
  Pointers pointers;
  Tokenizer tokenizer(pointers, {});
  tokenizer.Feed(input);
  tokenizer.Finish();
  EXPECT_THAT(pointers.found, ElementsAre("img", "src", "a.png", "b", "text", "note"));
  for (const std::string_view view : pointers.found) {
    EXPECT_EQ(view.data(), input.data() + input.find(view));
  }
}

const std::string_view kTrickyInputs[] = {
    "<!DOCTYPE html PUBLIC \"-//W3C\" \"x\"><A HREF=\"?a=1&amp;b\" b='c' d=e f/>t &not; &#x41;</A "
    ">",
    "\r\n\r<a\r\n b = '\r\n'\r>\r",
    "<!-- a -- b --!> --><!--><!---><!-",
    "<!doc><!DOCTYPEx SYSTEM'",
    "&notit; &notin; &no &#65 &#x &#; &#0000000000000000000000000000000000000000000000000065;x",
    "<title>a&lt;</titl></title/x>b",
    "<script><!-- <script </script> --></script>",
    "<script><!--<script>--></script>--></script>",
    "</></ x><?y?><1>",
    "<svg><![CDATA[a]]]b]]]></svg><![CDATA[c]]>",
    "<style><!--</style>--></style>",
    "<a a=1 A=2 b/c=d/ e=\"&copy=1&copy;\">",
    "<xmp></xm</xmp ></plaintext><plaintext></plaintext>"};

// Text pieces are in order, and verbatim unless they replace something.
bool PiecesFit(std::string_view input, const Recorder& recorder) {
  std::uint64_t end = 0;
  for (const auto& [text, at] : recorder.pieces()) {
    if (at.begin < end || at.end <= at.begin || at.end > input.size()) return false;
    const bool may_be_replaced = input[at.begin] == '&' || input[at.begin] == '\r';
    if (text != Part(input, at) && !may_be_replaced) return false;
    end = at.end;
  }
  return true;
}

TEST(Tokenizer, TokensDoNotDependOnHowTheInputIsCut) {
  for (const std::string_view input : kTrickyInputs) {
    for (const std::size_t bytes_max : {std::size_t{16}, std::size_t{1} << 20}) {
      const Tokenizer::Options options{.token_bytes_max = bytes_max};
      const std::vector<RecordedToken> whole = Tokens(input, options);
      for (std::size_t a = 0; a <= input.size(); ++a) {
        for (std::size_t b = a; b <= input.size(); ++b) {
          const Recorder cut =
              Tokenize({input.substr(0, a), input.substr(a, b - a), input.substr(b)}, {}, options);
          ASSERT_TRUE(cut.tokens() == whole) << input << " cut at " << a << " and " << b;
          ASSERT_TRUE(PiecesFit(input, cut)) << input << " cut at " << a << " and " << b;
        }
      }
    }
  }
}

TEST(Tokenizer, AgreesWithItsSlowTwin) {
  const Start starts[] = {
      {TokenizerState::kData, ""},         {TokenizerState::kRcdata, "title"},
      {TokenizerState::kRawtext, "style"}, {TokenizerState::kScriptData, "script"},
      {TokenizerState::kPlaintext, ""},    {TokenizerState::kCdataSection, ""}};
  for (const std::string_view input : kTrickyInputs) {
    for (const Start& start : starts) {
      const Recorder fast = Tokenize({input}, start, {.switch_states_by_tag = false});
      EXPECT_EQ(Brief(fast.tokens()), Brief(TokenizeSlowly(input, start))) << input;
    }
  }
}

TEST(Tokenizer, HostileInputCostsNoMoreThanOrdinary) {
  const std::size_t n = 1 << 20;
  EXPECT_EQ(Brief(std::string(n, '<')).size(), 1u);
  EXPECT_EQ(Brief("<!--" + std::string(n, '-')).size(), 1u);
  EXPECT_EQ(Brief("<script><!--" + std::string(n, '-')).size(), 2u);
  EXPECT_EQ(Brief("&#" + std::string(n, '0') + "65;"), std::vector<std::string>{"text A"});
  std::string attributes = "<a";
  for (int i = 0; i < 100'000; ++i) attributes += " x" + std::to_string(i);
  EXPECT_EQ(Tokens(attributes + ">").at(0).attributes.size(), 100'000u);

  const std::string digits = "&#" + std::string(n, '0') + "65;";
  std::vector<std::string_view> pieces;
  for (std::size_t at = 0; at < digits.size(); at += 1000) {
    pieces.push_back(std::string_view(digits).substr(at, 1000));
  }
  const Recorder recorder = Tokenize(pieces, {}, {});
  EXPECT_THAT(Brief(recorder.tokens()), ElementsAre("text A"));
  EXPECT_EQ(recorder.tokens()[0].at, (SourceRange{0, digits.size()}));
}

}  // namespace
}  // namespace stele::html::testing
