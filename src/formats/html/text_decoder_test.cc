#include "formats/html/text_decoder.h"

#include <gtest/gtest.h>

#include <string>

#include "formats/html/utf8.h"

namespace stele::html {
namespace {

using namespace std::string_view_literals;

TEST(TextDecoder, DecodesOneOfEachFamily) {
  EXPECT_EQ(DecodeText("caf\xE9 \x80", Encoding::kWindows1252), "café €");
  EXPECT_EQ(DecodeText("\xD4\xC5\xD3\xD4", Encoding::kKoi8R), "тест");
  EXPECT_EQ(DecodeText("\xA4\xDE\xFE", Encoding::kIso8859_16), "€Țț");
  EXPECT_EQ(DecodeText("\x93\xFA\x96{", Encoding::kShiftJis), "日本");
  EXPECT_EQ(DecodeText("\xC6\xFC\xCB\xDC", Encoding::kEucJp), "日本");
  EXPECT_EQ(DecodeText("\x1B$BF|K\\\x1B(B!", Encoding::kIso2022Jp), "日本!");
  EXPECT_EQ(DecodeText("\xD6\xD0\xCE\xC4", Encoding::kGbk), "中文");
  EXPECT_EQ(DecodeText("\xA4\xA4\xA4\xE5", Encoding::kBig5), "中文");
  EXPECT_EQ(DecodeText("\xC7\xD1\xB1\xDB", Encoding::kEucKr), "한글");
  EXPECT_EQ(DecodeText("h\0i\0=\xD8\0\xDE"sv, Encoding::kUtf16Le), "hi😀");
  EXPECT_EQ(DecodeText("\0h\0i"sv, Encoding::kUtf16Be), "hi");
  EXPECT_EQ(DecodeText("a\xFF", Encoding::kUserDefined), "a\xEF\x9F\xBF");
  EXPECT_EQ(DecodeText("anything", Encoding::kReplacement), "\xEF\xBF\xBD");
  EXPECT_EQ(DecodeText("", Encoding::kReplacement), "");
}

TEST(TextDecoder, AsciiIsAsciiInEverySingleByteEncoding) {
  std::string ascii;
  for (int c = 0; c < 0x80; ++c) ascii.push_back(static_cast<char>(c));
  for (int i = 0; i < kEncodingCount; ++i) {
    const auto encoding = static_cast<Encoding>(i);
    if (!IsSingleByte(encoding)) continue;
    EXPECT_EQ(DecodeText(ascii, encoding), ascii) << EncodingName(encoding);
  }
}

TEST(TextDecoder, ReplacesMaximalPartsOfBrokenUtf8) {
  EXPECT_EQ(DecodeText("a\xE2\x82z", Encoding::kUtf8), "a\xEF\xBF\xBDz");
  EXPECT_EQ(DecodeText("\xC0\x80", Encoding::kUtf8), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(DecodeText("\xED\xA0\x80", Encoding::kUtf8), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(DecodeText("\xF0\x9F\x98", Encoding::kUtf8), "\xEF\xBF\xBD");
  EXPECT_EQ(DecodeText("\xF0\x9F\xE2\x82\xAC", Encoding::kUtf8), "\xEF\xBF\xBD€");
}

TEST(TextDecoder, DoesNotDependOnTheCuts) {
  const std::string bytes = "a\xE2\x82\xAC\xF0\x9F\x98\x80\xF0\x9F\xE2\x82\xAC\xC3(\x1B$BF|K\\\xFE";
  for (int i = 0; i < kEncodingCount; ++i) {
    const auto encoding = static_cast<Encoding>(i);
    const std::string whole = DecodeText(bytes, encoding);
    EXPECT_TRUE(IsValidUtf8(whole)) << EncodingName(encoding);
    std::string pieces;
    TextDecoder decoder(encoding);
    for (const char c : bytes) decoder.Decode(std::string_view(&c, 1), pieces);
    decoder.Finish(pieces);
    EXPECT_EQ(pieces, whole) << EncodingName(encoding);
  }
}

TEST(Utf8, MeasuresPrefixes) {
  EXPECT_EQ(AsciiPrefix("abcdefghijk\xC3\xA9"), 11u);
  EXPECT_EQ(ValidUtf8Prefix("abc€\xFF"), 6u);
  EXPECT_TRUE(IsValidUtf8("\xF4\x8F\xBF\xBF"));
  EXPECT_FALSE(IsValidUtf8("\xF4\x90\x80\x80"));
  EXPECT_FALSE(IsValidUtf8("\xE0\x9F\xBF"));
}

}  // namespace
}  // namespace stele::html
