#include "formats/cdx/cdx.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "util/test_paths.h"

namespace stele::cdx {
namespace {

TEST(Cdx, ElevenAndNineFieldsRoundTrip) {
  const std::string eleven =
      "org,iana)/ 20140126200624 http://www.iana.org/ text/html 200 OSSAPWJ2 - - 2258 334 "
      "iana.warc.gz";
  Result<Capture> capture = ParseCdxLine(eleven, Legend::Eleven());
  ASSERT_TRUE(capture);
  EXPECT_EQ(capture->key, "org,iana)/");
  EXPECT_EQ(capture->redirect, "");
  EXPECT_EQ(capture->length, "2258");
  EXPECT_EQ(FormatCdxLine(*capture, Legend::Eleven()), eleven);
  const std::string nine =
      "org,iana)/ 20140126200624 http://www.iana.org/ text/html 200 OSSAPWJ2 - 334 iana.warc.gz";
  EXPECT_EQ(FormatCdxLine(*capture, Legend::Nine()), nine);
  EXPECT_EQ(FormatCdxLine(*ParseCdxLine(nine, Legend::Nine()), Legend::Nine()), nine);
}

TEST(Cdx, AnyLegendIsUnderstoodAndUnknownLettersAreCarriedAlong) {
  Result<Legend> legend = Legend::Parse("|CDX|a|b|x|g");
  ASSERT_TRUE(legend);
  EXPECT_EQ(legend->Format(), "|CDX|a|b|x|g");
  const std::string line = "http://a/b c|2014|what|file name.warc";
  Result<Capture> capture = ParseCdxLine(line, *legend);
  ASSERT_TRUE(capture);
  EXPECT_EQ(capture->url, "http://a/b c");
  EXPECT_EQ(capture->filename, "file name.warc");
  EXPECT_EQ(FormatCdxLine(*capture, *legend), line);
  for (const char* wrong : {"", " CDX", "CDX N b a", " CDX NN b", "org,iana)/ 2014 {}"}) {
    EXPECT_EQ(Legend::Parse(wrong).error().code, ErrorCode::kInvalid) << wrong;
  }
}

TEST(Cdx, DamagedLinesAreRefused) {
  for (const char* wrong : {"", "org,iana)/", "a b c d e f g h i j k l"}) {
    EXPECT_EQ(ParseCdxLine(wrong, Legend::Eleven()).error().code, ErrorCode::kCorrupt) << wrong;
  }
}

TEST(Cdx, ASpaceInAValueCannotShiftTheOthers) {
  Capture capture;
  capture.url = "http://a/b c\n";
  capture.filename = "f";
  const std::string line = FormatCdxLine(capture, Legend::Eleven());
  EXPECT_EQ(line, "- - http://a/b%20c%0A - - - - - - - f");
}

TEST(Cdxj, RoundTripsAndTakesNumbersAsValues) {
  const std::string line =
      R"(org,iana)/ 20140126200624 {"url": "http://www.iana.org/", "mime": "text/html", )"
      R"("status": "200", "digest": "OSSA", "length": "2258", "offset": "334", )"
      R"("filename": "iana.warc.gz", "languages": ["en","de"]})";
  Result<Capture> capture = ParseCdxjLine(line);
  ASSERT_TRUE(capture);
  EXPECT_EQ(capture->offset, "334");
  EXPECT_EQ(FormatCdxjLine(*capture), line);
  Result<Capture> numbers = ParseCdxjLine(
      R"(org,iana)/ 20140126200624 {"url":"http://www.iana.org/","mime":"text/html",)"
      R"("status":200,"digest":"OSSA","length":2258,"offset":334,"filename":"iana.warc.gz",)"
      R"("languages":["en","de"]})");
  ASSERT_TRUE(numbers);
  EXPECT_EQ(*numbers, *capture);
}

TEST(Cdxj, DamagedLinesAreRefused) {
  for (const char* wrong : {"", "a", "a b", "a b c", "a b {", "a b []", "a b {\"url\": }"}) {
    EXPECT_EQ(ParseCdxjLine(wrong).error().code, ErrorCode::kCorrupt) << wrong;
  }
}

TEST(Cdx, CapturesSortByKeyTimeAndPlace) {
  Capture a, b;
  a.key = b.key = "org,iana)/";
  a.timestamp = b.timestamp = "2014";
  a.offset = "99";
  b.offset = "100";
  EXPECT_LT(a, b);
  b.timestamp = "2013";
  EXPECT_LT(b, a);
}

// The lines of a checked-in file; a change of them is a change of the format.
std::vector<std::string> GoldenLines(const std::string& name) {
  std::ifstream file(SourcePath("src/formats/cdx/golden/" + name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(Cdx, TheGoldenFilesAreReadAndWrittenByteForByte) {
  for (const char* name : {"eleven.cdx", "nine.cdx"}) {
    const std::vector<std::string> lines = GoldenLines(name);
    ASSERT_GE(lines.size(), 2u) << name;
    Result<Legend> legend = Legend::Parse(lines[0]);
    ASSERT_TRUE(legend);
    EXPECT_EQ(legend->Format(), lines[0]);
    for (std::size_t i = 1; i < lines.size(); ++i) {
      EXPECT_EQ(FormatCdxLine(*ParseCdxLine(lines[i], *legend), *legend), lines[i]);
    }
  }
}

TEST(Cdxj, TheGoldenFileIsReadAndWrittenByteForByte) {
  const std::vector<std::string> lines = GoldenLines("captures.cdxj");
  ASSERT_EQ(lines.size(), 2u);
  for (const std::string& line : lines) EXPECT_EQ(FormatCdxjLine(*ParseCdxjLine(line)), line);
}

// Real index files of several tools: each line that we read, we write again byte for byte.
TEST(Cdx, ForeignIndexFilesRoundTrip) {
  const std::filesystem::path data = SamplePath("warc-samples");
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no foreign sample data at " << data;
  int lines = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (entry.path().extension() != ".cdx") continue;
    std::ifstream file(entry.path());
    std::string line;
    ASSERT_TRUE(std::getline(file, line));
    Result<Legend> legend = Legend::Parse(line);
    ASSERT_TRUE(legend) << entry.path();
    EXPECT_EQ(legend->Format(), line);
    while (std::getline(file, line)) {
      Result<Capture> capture = ParseCdxLine(line, *legend);
      ASSERT_TRUE(capture) << entry.path() << ": " << line;
      EXPECT_EQ(FormatCdxLine(*capture, *legend), line);
      ++lines;
    }
  }
  EXPECT_GT(lines, 100);
}

}  // namespace
}  // namespace stele::cdx
