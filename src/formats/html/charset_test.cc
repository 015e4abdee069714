#include "formats/html/charset.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "formats/html/text_decoder.h"
#include "util/ascii.h"
#include "util/test_paths.h"

namespace stele::html {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

TEST(Encoding, KnowsEveryLabelInAnyCaseWithSpace) {
  EXPECT_EQ(EncodingForLabel(" Latin1\n"), Encoding::kWindows1252);
  EXPECT_EQ(EncodingForLabel("ISO-8859-1"), Encoding::kWindows1252);
  EXPECT_EQ(EncodingForLabel("us-ascii"), Encoding::kWindows1252);
  EXPECT_EQ(EncodingForLabel("UTF8"), Encoding::kUtf8);
  EXPECT_EQ(EncodingForLabel("gb2312"), Encoding::kGbk);
  EXPECT_EQ(EncodingForLabel("x-sjis"), Encoding::kShiftJis);
  EXPECT_EQ(EncodingForLabel("iso-8859-9"), Encoding::kWindows1254);
  EXPECT_EQ(EncodingForLabel("hz-gb-2312"), Encoding::kReplacement);
  EXPECT_EQ(EncodingForLabel("utf-7"), std::nullopt);
  EXPECT_EQ(EncodingForLabel(""), std::nullopt);
}

TEST(Encoding, CanonicalNamesAreLabelsOfThemselves) {
  for (int i = 0; i < kEncodingCount; ++i) {
    const auto encoding = static_cast<Encoding>(i);
    EXPECT_EQ(EncodingForLabel(EncodingName(encoding)), encoding) << EncodingName(encoding);
  }
}

TEST(Charset, ByteOrderMarkBeatsHeaderBeatsMetaBeatsDetection) {
  const std::string meta = "<meta charset=koi8-r>";
  const EncodingChoice marked = ChooseEncoding("\xEF\xBB\xBF" + meta, "big5");
  EXPECT_EQ(marked.encoding, Encoding::kUtf8);
  EXPECT_EQ(marked.source, EncodingSource::kByteOrderMark);
  EXPECT_EQ(marked.bom_size, 3u);
  EXPECT_EQ(ChooseEncoding(meta, "big5").encoding, Encoding::kBig5);
  EXPECT_EQ(ChooseEncoding(meta, "no-such-thing").encoding, Encoding::kKoi8R);
  EXPECT_EQ(ChooseEncoding(meta, "").source, EncodingSource::kDocument);
  EXPECT_EQ(ChooseEncoding("plain", "").encoding, Encoding::kWindows1252);
  EXPECT_EQ(ChooseEncoding("plain", "").source, EncodingSource::kDefault);
}

TEST(Charset, ReadsXmlDeclarationsAndCssCharset) {
  EXPECT_EQ(DeclaredEncoding("<?xml version='1.0' encoding='Shift_JIS'?><rss/>", "")->encoding,
            Encoding::kShiftJis);
  EXPECT_EQ(DeclaredEncoding("@charset \"euc-kr\";a{}", "")->encoding, Encoding::kEucKr);
  EXPECT_EQ(DeclaredEncoding("<\0?\0x\0m\0"sv, "")->encoding, Encoding::kUtf16Le);
  EXPECT_FALSE(DeclaredEncoding("<?xml version='1.0'?><rss/>", "").has_value());
}

TEST(Charset, MetaUtf16MeansUtf8) {
  EXPECT_EQ(PrescanMeta("<meta charset=utf-16>"), Encoding::kUtf8);
  EXPECT_EQ(PrescanMeta("<meta charset=x-user-defined>"), Encoding::kWindows1252);
}

TEST(Charset, PrescanSkipsCommentsAndStopsAtItsWindow) {
  EXPECT_EQ(PrescanMeta("<!-- <meta charset=koi8-r> --><meta charset=big5>"), Encoding::kBig5);
  EXPECT_EQ(PrescanMeta("<!--><meta charset=big5>"), Encoding::kBig5);
  EXPECT_EQ(PrescanMeta("<p title='<meta charset=koi8-r>'><meta charset=big5>"), Encoding::kBig5);
  EXPECT_EQ(PrescanMeta(std::string(1010, ' ') + "<meta charset=big5>"), Encoding::kBig5);
  EXPECT_EQ(PrescanMeta("<!--" + std::string(2000, ' ') + "--><meta charset=big5>"),
            Encoding::kBig5);
  EXPECT_EQ(PrescanMeta(std::string(kLatePrescanSize - 5, ' ') + "<meta charset=big5>"),
            std::nullopt);
}

TEST(Charset, DetectsUtf8EvenWhenTheWindowCutsACharacter) {
  std::string text;
  while (text.size() < 100'000) text += "h\xC3\xA9t\xC3\xA9rog\xC3\xA8ne ";
  EXPECT_EQ(DetectEncoding(text).encoding, Encoding::kUtf8);
  EXPECT_EQ(DetectEncoding("x" + text).encoding, Encoding::kUtf8);
  EXPECT_EQ(DetectEncoding("<\0h\0t\0m\0l\0>\0"sv).encoding, Encoding::kUtf16Le);
}

struct Sample {
  Encoding encoding;
  std::string_view bytes;
};

// One sentence each, written in its encoding.
const Sample kSamples[] = {
    {Encoding::kWindows1251,
     "\xCF\xEE \xE2\xE5\xF7\xE5\xF0\xE0\xEC \xEC\xFB \xF7\xE0\xF1\xF2\xEE \xE3\xF3\xEB\xFF\xEB\xE8 "
     "\xE2\xE4\xEE\xEB\xFC \xF0\xE5\xEA\xE8 \xE8 \xF0\xE0\xE7\xE3\xEE\xE2\xE0\xF0\xE8\xE2\xE0\xEB"
     "\xE8 \xEE \xEF\xEE\xE3\xEE\xE4\xE5"},
    {Encoding::kKoi8R,
     "\xF0\xCF \xD7\xC5\xDE\xC5\xD2\xC1\xCD \xCD\xD9 \xDE\xC1\xD3\xD4\xCF \xC7\xD5\xCC\xD1\xCC\xC9 "
     "\xD7\xC4\xCF\xCC\xD8 \xD2\xC5\xCB\xC9 \xC9 \xD2\xC1\xDA\xC7\xCF\xD7\xC1\xD2\xC9\xD7\xC1\xCC"
     "\xC9 \xCF \xD0\xCF\xC7\xCF\xC4\xC5"},
    {Encoding::kShiftJis,
     "\x82\xB1\x82\xCC\x83y\x81[\x83W\x82\xCD\x93\xFA\x96{\x8C\xEA\x82\xC5\x8F\x91\x82\xA9\x82\xEA"
     "\x82\xC4\x82\xA2\x82\xDC\x82\xB7\x81"
     "B"},
};

TEST(Charset, DetectsWhatNobodyDeclared) {
  for (const Sample& sample : kSamples) {
    const std::string page = "<html><body><p class=a>" + std::string(sample.bytes) + "</p></body>";
    const EncodingChoice choice = ChooseEncoding(page, "");
    EXPECT_EQ(EncodingName(choice.encoding), EncodingName(sample.encoding));
    EXPECT_EQ(choice.source, EncodingSource::kDetected);
  }
}

// Tests of html5lib: "#data", lines, "#encoding", a label, an empty line.
struct Html5libCase {
  std::string data, encoding;
};

std::vector<Html5libCase> ReadHtml5lib(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<Html5libCase> cases;
  std::string* into = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line == "#data") {
      cases.emplace_back();
      into = &cases.back().data;
    } else if (line == "#encoding") {
      into = &cases.back().encoding;
    } else if (into != nullptr) {
      *into += line + "\n";
    }
  }
  return cases;
}

TEST(Charset, AgreesWithHtml5libTests) {
  std::size_t count = 0;
  for (const std::string_view name : {"tests1.dat", "tests2.dat", "test-yahoo-jp.dat"}) {
    for (const Html5libCase& one :
         ReadHtml5lib(SamplePath("html5lib/encoding/" + std::string(name)))) {
      const Encoding got = DeclaredEncoding(one.data, "").value_or(EncodingChoice{}).encoding;
      const std::optional<Encoding> want = EncodingForLabel(one.encoding);
      ASSERT_TRUE(want.has_value()) << one.encoding;
      EXPECT_EQ(EncodingName(got), EncodingName(*want)) << name << ":\n" << one.data.substr(0, 500);
      ++count;
    }
  }
  if (count == 0) GTEST_SKIP() << "no foreign sample data at " << SamplePath("html5lib");
  EXPECT_EQ(count, 82u);
}

}  // namespace
}  // namespace stele::html
