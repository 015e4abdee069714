#include "formats/crawl_log/line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "util/test_paths.h"

namespace stele::crawl_log {
namespace {

using testing::ElementsAre;

constexpr std::string_view kFull =
    "2017-08-03T21:45:24.496Z   200       2189 https://a/robots.txt P https://a/ text/plain #001 "
    "20170803214523617+365 sha1:PBS2ABCDEFGHIJKLMNOPQRSTUVWXYZ23 https://a/ 3t,duplicate:digest "
    R"({"warcFileOffset":942,"contentSize":2495,"warcFilename":"X.warc.gz"})";

constexpr std::string_view kBare =
    "2017-08-03T21:45:24.496Z    -1          - dns:nosuch.example - - no-type #042 - - - -";

TEST(CrawlLog, D1_ReadsAllThirteenFields) {
  const Result<Line> line = ParseLine(kFull);
  ASSERT_TRUE(line) << line.error().text;
  EXPECT_EQ(line->LoggedAt(), ParseIso("2017-08-03T21:45:24.496Z"));
  EXPECT_EQ(line->StatusCode(), 200);
  EXPECT_EQ(line->SizeBytes(), 2189u);
  EXPECT_EQ(line->uri, "https://a/robots.txt");
  EXPECT_EQ(line->hops, "P");
  EXPECT_EQ(line->via, "https://a/");
  EXPECT_EQ(line->mime_type, "text/plain");
  EXPECT_EQ(line->thread, "#001");
  EXPECT_EQ(line->FetchBegin(), ParseIso("2017-08-03T21:45:23.617Z"));
  EXPECT_EQ(line->FetchMilliseconds(), 365u);
  EXPECT_EQ(line->digest, "sha1:PBS2ABCDEFGHIJKLMNOPQRSTUVWXYZ23");
  EXPECT_EQ(line->source, "https://a/");
  EXPECT_THAT(line->AnnotationList(), ElementsAre("3t", "duplicate:digest"));
  EXPECT_TRUE(line->extra.starts_with("{\"warcFileOffset\""));
}

TEST(CrawlLog, D1_DashIsNothing) {
  const Result<Line> line = ParseLine(kBare);
  ASSERT_TRUE(line) << line.error().text;
  EXPECT_EQ(line->StatusCode(), -1);
  EXPECT_EQ(line->SizeBytes(), std::nullopt);
  EXPECT_EQ(line->hops, "");
  EXPECT_EQ(line->FetchBegin(), std::nullopt);
  EXPECT_EQ(line->FetchMilliseconds(), std::nullopt);
  EXPECT_EQ(line->digest, "");
  EXPECT_THAT(line->AnnotationList(), ElementsAre());
  EXPECT_EQ(line->extra, "");
}

TEST(CrawlLog, D1_WritesBackTheBytesItRead) {
  const std::string_view lines[] = {
      kFull,
      kBare,
      "2017-08-03T21:45:24.496Z -5000 12345678901 http://a/ 12+LLLL http://b/ text/html #1234 "
      "20170803214523617+0 sha1:A - Runtime exceeded 1200 ms,2t",
      "2017-08-03T21:45:24.496Z   200          5 http://a/ - - text/html - 20170803214523617+3 "
      "sha1:A - - {}",
      R"(2017-08-03T21:45:24.496Z   200          5 http://a/ - - text/html #001 20170803214523617+3 A )"
      R"(- Runtime exceeded 9 ms,a:{b} {"a":"} {\"\\","b":{"c":1}})",
      R"(2017-08-03T21:45:24.496Z   200          5 http://a/ - - t/h #001 20170803214523617+3 A - a {b)",
  };
  for (std::string_view text : lines) {
    const Result<Line> line = ParseLine(text);
    ASSERT_TRUE(line) << line.error().text;
    EXPECT_EQ(FormatLine(*line), text);
  }
}

TEST(CrawlLog, D1_AnnotationsWithSpacesSurvive) {
  const Result<Line> line = ParseLine(
      R"(2017-08-03T21:45:24.496Z -5004          - http://a/ - - no-type #001 - - - 2t,Runtime exceeded )"
      R"(1200 ms,dol:3 {"contentSize":0})");
  ASSERT_TRUE(line) << line.error().text;
  EXPECT_THAT(line->AnnotationList(), ElementsAre("2t", "Runtime exceeded 1200 ms", "dol:3"));
  EXPECT_EQ(line->extra, R"({"contentSize":0})");
}

TEST(CrawlLog, D1_CommasBetweenQuotesDoNotDivide) {
  Line line;
  line.annotations = R"(duplicate:"file.arc.gz,1234",equivalentURL:"http://a/,b",,3t)";
  EXPECT_THAT(line.AnnotationList(), ElementsAre(R"(duplicate:"file.arc.gz,1234")",
                                                 R"(equivalentURL:"http://a/,b")", "3t"));
  line.annotations = R"(a:"b,c)";
  EXPECT_THAT(line.AnnotationList(), ElementsAre(R"(a:"b)", "c"));
}

TEST(CrawlLog, D1_AnyPaddingIsRead) {
  const Result<Line> line = ParseLine(
      "  2017-08-03T21:45:24.496Z 200 7 http://a/  L   http://b/ text/html #001 "
      "20170803214523+3 ABC - - ");
  ASSERT_TRUE(line) << line.error().text;
  EXPECT_EQ(line->FetchBegin(), ParseIso("2017-08-03T21:45:23Z"));
  EXPECT_EQ(FormatLine(*line),
            "2017-08-03T21:45:24.496Z   200          7 http://a/ L http://b/ text/html #001 "
            "20170803214523+3 ABC - -");
}

TEST(CrawlLog, D1_CutOffLinesAreErrors) {
  const std::string_view whole = kBare;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Result<Line> line = ParseLine(whole.substr(0, size));
    ASSERT_FALSE(line) << size;
    EXPECT_EQ(line.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_FALSE(ParseLine("a b c d e f g h i j k l"));
  EXPECT_FALSE(ParseLine(std::string(kMaxLineBytes + 1, ' ')));
}

TEST(CrawlLog, D1_NothingCanBreakAWrittenLine) {
  Line line;
  line.logged_at = "2017-08-03T21:45:24.496Z";
  line.status = "200";
  line.uri = "http://a/x y\nz";
  line.annotations = " a\nb ";
  line.extra = "{\"a\":\n1}";
  const std::string text = FormatLine(line);
  EXPECT_EQ(text.find('\n'), text.npos);
  const Result<Line> again = ParseLine(text);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->uri, "http://a/x%20y%0Az");
  EXPECT_EQ(again->annotations, "a%0Ab");
  EXPECT_EQ(again->extra, "{\"a\": 1}");
}

TEST(CrawlLog, D1_FieldsWithAFormOfTheirOwn) {
  EXPECT_EQ(FetchField(*ParseIso("2017-08-03T21:45:23.617Z"), 365), "20170803214523617+365");
  EXPECT_EQ(ThreadField(7), "#007");
  EXPECT_EQ(ThreadField(1234), "#1234");
  EXPECT_EQ(MimeTypeField("text/html; charset=utf-8"), "text/html");
  EXPECT_EQ(MimeTypeField("text/html,text/plain"), "text/html");
  EXPECT_EQ(MimeTypeField(" text/html"), "no-type");
  EXPECT_EQ(MimeTypeField(""), "no-type");
  EXPECT_EQ(HopsField(std::string(50, 'L')), std::string(50, 'L'));
  EXPECT_EQ(HopsField(std::string(12, 'E') + std::string(50, 'L')), "12+" + std::string(50, 'L'));
}

TEST(CrawlLog, D1_ReaderSkipsBlankLinesAndGoesOnAfterBadOnes) {
  const std::string text = "\n" + std::string(kFull) + "\r\nbad\n" + std::string(kBare);
  LineReader reader(text);
  std::optional<Result<Line>> line = reader.Next();
  ASSERT_TRUE(line && *line);
  EXPECT_EQ(reader.line_number(), 2u);
  line = reader.Next();
  ASSERT_TRUE(line);
  EXPECT_FALSE(*line);
  line = reader.Next();
  ASSERT_TRUE(line && *line);
  EXPECT_EQ((*line)->uri, "dns:nosuch.example");
  EXPECT_EQ(reader.Next(), std::nullopt);
  EXPECT_EQ(reader.consumed(), text.size());
}

TEST(CrawlLog, D1_ReaderLeavesAnUnfinishedLineToTheNextPiece) {
  const std::string text = std::string(kBare) + "\n" + std::string(kFull) + "\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    std::string carried = text.substr(0, cut);
    int lines = 0;
    LineReader first(carried, false);
    while (std::optional<Result<Line>> line = first.Next()) lines += line->ok() ? 1 : 100;
    carried = carried.substr(first.consumed()) + text.substr(cut);
    LineReader second(carried);
    while (std::optional<Result<Line>> line = second.Next()) lines += line->ok() ? 1 : 100;
    EXPECT_EQ(lines, 2) << cut;
  }
}

TEST(CrawlLog, D1_TheGoldenFileIsReadAndWrittenByteForByte) {
  std::ifstream file(SourcePath("src/formats/crawl_log/golden/heritrix3.log"));
  int lines = 0;
  for (std::string text; std::getline(file, text); ++lines) {
    Result<Line> line = ParseLine(text);
    ASSERT_TRUE(line) << text;
    EXPECT_EQ(FormatLine(*line), text);
  }
  EXPECT_EQ(lines, 3);
}

}  // namespace
}  // namespace stele::crawl_log
