#include "archive/changes.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "archive/test_archive.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::PutFile;
using testing::WarcText;

// An archive in memory, each WARC file one run.
class ChangesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(lab_.Create());
    archive_ = std::move(*lab_.Open());
  }
  void Bring(const WarcText& warc) {
    const std::uint32_t run = *archive_->BeginRun("import", "");
    const std::string name = fmt::format("{}.warc.gz", run);
    PutFile(fs_, name, warc.bytes());
    const Result<ImportOutcome> outcome = ImportFile(*archive_, run, name, {});
    ASSERT_TRUE(outcome) << outcome.error().text;
    ASSERT_TRUE(archive_->EndRun(run));
  }
  static CaptureQuery InRun(std::uint32_t run) {
    CaptureQuery query;
    query.where.what = catalog::SelectAll();
    query.runs = {run};
    return query;
  }
  static CaptureQuery At(const std::string& digits) {
    CaptureQuery query;
    query.where.what = catalog::SelectAll();
    query.where.pick = catalog::LocationQuery::Pick::kBefore;
    query.where.from = *ParseDigits(digits);
    return query;
  }
  // "text http://a/" for each.
  std::vector<std::string> Between(const CaptureQuery& before, const CaptureQuery& after) {
    const ArchiveView view = archive_->View();
    Changes changes(view, before, after);
    std::vector<std::string> lines;
    for (;;) {
      const Result<const Change*> change = changes.Next();
      if (!change) {
        ADD_FAILURE() << change.error().text;
        return lines;
      }
      if (*change == nullptr) return lines;
      lines.push_back(fmt::format("{} {}{}", NameOf((*change)->state), (*change)->url(),
                                  (*change)->is_page ? " page" : ""));
    }
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  std::unique_ptr<ArchiveWriter> archive_;
};

using Expected = std::vector<std::string>;

TEST_F(ChangesTest, TellsTheFiveStatesBetweenTwoRuns) {
  Bring(WarcText()
            .Response("http://a/gone", "2004-01-01T00:00:00Z", "<p>gone")
            .Response("http://a/identical", "2004-01-01T00:00:00Z", "<p>same")
            .Response("http://a/markup", "2004-01-01T00:00:00Z", "<p>Two words")
            .Response("http://a/picture", "2004-01-01T00:00:00Z", "one", "image/png")
            .Response("http://a/text", "2004-01-01T00:00:00Z", "<p>old"));
  Bring(WarcText()
            .Response("http://a/identical", "2005-01-01T00:00:00Z", "<p>same")
            .Response("http://a/markup", "2005-01-01T00:00:00Z", "<div>two <b>words</b>!</div>")
            .Response("http://a/new", "2005-01-01T00:00:00Z", "<p>new")
            .Response("http://a/picture", "2005-01-01T00:00:00Z", "two", "image/png")
            .Response("http://a/text", "2005-01-01T00:00:00Z", "<p>young"));
  EXPECT_EQ(Between(InRun(1), InRun(2)),
            (Expected{"gone http://a/gone page", "identical http://a/identical page",
                      "same-text http://a/markup page", "new http://a/new page",
                      "text http://a/picture", "text http://a/text page"}));
  EXPECT_EQ(Between(InRun(1), InRun(1)).size(), 5u);
}

TEST_F(ChangesTest, D6_RedirectsToOtherPlacesAreNotIdentical) {
  const auto redirects = [](const std::string& date, const std::string& to, const std::string& body,
                            std::uint64_t seed) {
    const auto block = [&](const std::string& target) {
      return fmt::format("HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Type: text/html\r\n\r\n{}",
                         target, body);
    };
    WarcText warc(record::Compression::kGzip, seed);
    warc.Block("http://a/elsewhere", date, block(to)).Block("http://a/same", date, block("/b"));
    return warc;
  };
  Bring(redirects("2004-01-01T00:00:00Z", "http://a/b", "", 1));
  Bring(redirects("2005-01-01T00:00:00Z", "http://evil/", "", 2));
  // Relative, at https, and with other markup.
  WarcText third(record::Compression::kGzip, 3);
  third
      .Block("http://a/elsewhere", "2006-01-01T00:00:00Z",
             "HTTP/1.1 302 Found\r\nLocation: http://evil\r\n\r\n")
      .Block("https://a/same", "2006-01-01T00:00:00Z",
             "HTTP/1.1 302 Found\r\nLocation: https://a/b\r\n\r\n");
  Bring(third);
  EXPECT_EQ(Between(InRun(1), InRun(2)),
            (Expected{"text http://a/elsewhere", "identical http://a/same"}));
  EXPECT_EQ(Between(InRun(2), InRun(3)),
            (Expected{"identical http://a/elsewhere", "identical https://a/same"}));
  Bring(redirects("2007-01-01T00:00:00Z", "http://a/b", "<p>it moved", 4));
  Bring(redirects("2008-01-01T00:00:00Z", "http://evil/", "<div>it moved", 5));
  EXPECT_EQ(Between(InRun(4), InRun(5)),
            (Expected{"text http://a/elsewhere", "same-text http://a/same"}));
  // What cannot be read is judged by what is known of it.
  ASSERT_TRUE(fs_.Rename("a/volumes/main/00000001/1.warc.gz", "away"));
  archive_.reset();
  archive_ = std::move(*lab_.Open());
  EXPECT_EQ(Between(InRun(1), InRun(2)),
            (Expected{"identical http://a/elsewhere", "identical http://a/same"}));
}

TEST_F(ChangesTest, TheLastCaptureOfARunCounts) {
  Bring(WarcText()
            .Response("http://a/", "2004-01-01T00:00:00Z", "<p>one")
            .Response("http://a/", "2004-01-01T00:00:01Z", "<p>two"));
  Bring(WarcText()
            .Response("http://a/", "2005-01-01T00:00:00Z", "<p>one")
            .Response("http://a/", "2005-01-01T00:00:01Z", "<p>two"));
  EXPECT_EQ(Between(InRun(1), InRun(2)), Expected{"identical http://a/ page"});
}

TEST_F(ChangesTest, D6_WhatWasNotModifiedCountsAsWhatItRepeats) {
  Bring(WarcText().Response("http://a/", "2003-01-01T00:00:00Z", "<p>one"));
  Bring(WarcText(record::Compression::kGzip, 8).NotModified("http://a/", "2004-01-01T00:00:00Z"));
  Bring(WarcText(record::Compression::kGzip, 9)
            .Response("http://a/", "2005-01-01T00:00:00Z", "<p>two"));
  Bring(WarcText(record::Compression::kGzip, 10).NotModified("http://a/", "2006-01-01T00:00:00Z"));
  const Expected states = Between(At("2004"), At("2006"));
  ASSERT_EQ(states.size(), 1u);
  EXPECT_TRUE(states.front().starts_with("text ")) << states.front();
}

TEST_F(ChangesTest, D6_ARevisitCountsAsWhatItRepeats) {
  Bring(WarcText()
            .Response("http://a/back", "2003-01-01T00:00:00Z", "<p>Back.")
            .Response("http://a/same", "2003-01-01T00:00:00Z", "<p>same"));
  Bring(WarcText()
            .Response("http://a/back", "2004-01-01T00:00:00Z", "<i>back</i>")
            .Revisit("http://a/same", "2004-01-01T00:00:00Z", "<p>same"));
  Bring(WarcText()
            .Revisit("http://a/back", "2005-01-01T00:00:00Z", "<p>Back.", "http://a/back",
                     "2003-01-01T00:00:00Z")
            .Revisit("http://a/lost", "2005-01-01T00:00:00Z", "<p>not here")
            .Revisit("http://a/same", "2005-01-01T00:00:00Z", "<p>same"));
  EXPECT_EQ(Between(InRun(1), InRun(2)),
            (Expected{"same-text http://a/back page", "identical http://a/same page"}));
  EXPECT_EQ(Between(InRun(2), InRun(3)),
            (Expected{"same-text http://a/back page", "new http://a/lost page",
                      "identical http://a/same page"}));
  EXPECT_EQ(Between(InRun(1), InRun(3)).front(), "identical http://a/back page");
}

TEST_F(ChangesTest, ErrorsOfTheServerMeanThatNothingIsThere) {
  Bring(WarcText()
            .Response("http://a/never", "2004-01-01T00:00:00Z", "no", "text/html", 404)
            .Response("http://a/until", "2004-01-01T00:00:00Z", "<p>yes")
            .Response("http://a/since", "2004-01-01T00:00:00Z", "no", "text/html", 503));
  Bring(WarcText()
            .Response("http://a/never", "2005-01-01T00:00:00Z", "no", "text/html", 404)
            .Response("http://a/until", "2005-01-01T00:00:00Z", "no", "text/html", 410)
            .Response("http://a/since", "2005-01-01T00:00:00Z", "<p>yes"));
  EXPECT_EQ(Between(InRun(1), InRun(2)),
            (Expected{"new http://a/since page", "gone http://a/until page"}));
}

TEST_F(ChangesTest, ComparesEachUrlAsItWasAtTwoMoments) {
  Bring(WarcText()
            .Response("http://a/", "2004-01-01T00:00:00Z", "<p>one")
            .Response("http://a/quiet", "2004-01-01T00:00:00Z", "<p>quiet")
            .Response("http://a/", "2006-01-01T00:00:00Z", "<p>two")
            .Response("http://a/late", "2006-01-01T00:00:00Z", "<p>late")
            .Response("http://a/late", "2008-01-01T00:00:00Z", "no", "text/html", 404));
  EXPECT_EQ(
      Between(At("2005"), At("2007")),
      (Expected{"text http://a/ page", "new http://a/late page", "identical http://a/quiet page"}));
  EXPECT_EQ(Between(At("2007"), At("2009")),
            (Expected{"identical http://a/ page", "gone http://a/late page",
                      "identical http://a/quiet page"}));
  EXPECT_EQ(Between(At("2003"), At("2003")), Expected());
}

TEST_F(ChangesTest, FindsWhereAUrlChangedLast) {
  Bring(WarcText()
            .Response("http://a/bytes", "2001-01-01T00:00:00Z", "<p>one")
            .Response("http://a/bytes", "2002-01-01T00:00:00Z", "<b>One</b>")
            .Response("http://a/error", "2001-01-01T00:00:00Z", "no", "text/html", 404)
            .Response("http://a/never", "2001-01-01T00:00:00Z", "<p>one")
            .Response("http://a/never", "2002-01-01T00:00:00Z", "<p>one")
            .Response("http://a/text", "2001-01-01T00:00:00Z", "<p>one")
            .Response("http://a/text", "2002-01-01T00:00:00Z", "<p>two")
            .Response("http://a/text", "2003-01-01T00:00:00Z", "<p>two!")
            .Response("http://a/text", "2004-01-01T00:00:00Z", "<p>two!")
            .Response("http://a/text", "2005-01-01T00:00:00Z", "no", "text/html", 404));
  const ArchiveView view = archive_->View();
  const auto find = [&](const std::string& url) -> std::string {
    const Result<CapturePair> pair = FindLastChange(view, catalog::SelectUrl(url));
    if (!pair) return pair.error().text;
    return fmt::format("{} {:.4} {:.4}", NameOf(pair->state), FormatIso(pair->before.row.time),
                       FormatIso(pair->after.row.time));
  };
  EXPECT_EQ(find("http://a/text"), "text 2001 2002");
  EXPECT_EQ(find("http://a/bytes"), "same-text 2001 2002");
  EXPECT_EQ(find("http://a/never"), "identical 2002 2002");
  EXPECT_EQ(find("http://a/error"), "there is no capture of it");
}

TEST_F(ChangesTest, EqualsADirectComparisonOfRandomRuns) {
  std::mt19937 dice(11);
  std::map<std::string, std::string> runs[2];
  for (auto& run : runs) {
    WarcText warc;
    for (int i = 0; i < 300; ++i) {
      const std::string url = fmt::format("http://a/{:03}", dice() % 300);
      const std::string body = fmt::format("<p>{}", dice() % 3);
      warc.Response(url, fmt::format("2004-01-01T00:{:02}:{:02}Z", i / 60, i % 60), body);
      run[url] = body;
    }
    Bring(warc);
  }
  std::map<std::string, std::string> lines;
  for (const auto& [url, body] : runs[0]) lines[url] = "gone";
  for (const auto& [url, body] : runs[1]) {
    const auto before = runs[0].find(url);
    lines[url] = before == runs[0].end() ? "new" : before->second == body ? "identical" : "text";
  }
  Expected expected;
  for (const auto& [url, state] : lines) expected.push_back(fmt::format("{} {} page", state, url));
  EXPECT_EQ(Between(InRun(1), InRun(2)), expected);
}

}  // namespace
}  // namespace stele::archive
