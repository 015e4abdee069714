#include "archive/capture_query.h"

#include <gtest/gtest.h>

#include "archive/test_archive.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::Lines;
using testing::PutFile;
using testing::WarcText;

class Asking : public ::testing::Test {
 protected:
  void SetUp() override {
    PutFile(fs_, "x.warc.gz",
            WarcText()
                .Response("http://a.example/", "2001-01-01T00:00:00Z", "1")
                .Response("http://a.example/", "2003-01-01T00:00:00Z", "2", "text/html", 404)
                .Response("http://a.example/", "2005-01-01T00:00:00Z", "3")
                .Response("http://b.example/", "2002-01-01T00:00:00Z", "4", "image/png")
                .bytes());
    ASSERT_TRUE(lab_.Create());
    archive_ = *lab_.Open();
    ASSERT_TRUE(archive_->BeginRun("import", ""));
    ASSERT_TRUE(ImportFile(*archive_, 1, "x.warc.gz", {}));
  }

  // The years of what it finds, "a2001 b2002".
  std::string Ask(CaptureQuery query) {
    std::string years;
    for (const std::string& line : Lines(archive_->View(), query)) {
      if (!years.empty()) years += ' ';
      years += line.substr(line.find("//") + 2, 1) + line.substr(line.rfind(' ') + 1, 4);
    }
    return years;
  }
  static CaptureQuery Between(const char* from, const char* to) {
    CaptureQuery query;
    query.where.from = *ParseDigits(from);
    query.where.to = *ParseDigits(to);
    return query;
  }
  static CaptureQuery Pick(catalog::LocationQuery::Pick pick, const char* moment) {
    CaptureQuery query;
    query.where.pick = pick;
    query.where.from = *ParseDigits(moment);
    return query;
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  std::unique_ptr<ArchiveWriter> archive_;
};

TEST_F(Asking, P2_AcquiredInASpanOrAliveInIt) {
  EXPECT_EQ(Ask(Between("2002", "2004")), "a2003 b2002");
  CaptureQuery alive = Between("2002", "2004");
  alive.alive = true;
  EXPECT_EQ(Ask(alive), "a2001 a2003 b2002");
  alive = Between("2004", "2004");
  alive.alive = true;
  EXPECT_EQ(Ask(alive), "a2003 b2002");
}

TEST_F(Asking, P2_TheStateAtAMoment) {
  using enum catalog::LocationQuery::Pick;
  EXPECT_EQ(Ask(Pick(kBefore, "2000")), "");
  EXPECT_EQ(Ask(Pick(kBefore, "20010101")), "a2001");
  EXPECT_EQ(Ask(Pick(kBefore, "2004")), "a2003 b2002");
  EXPECT_EQ(Ask(Pick(kAfter, "2002")), "a2003 b2002");
  EXPECT_EQ(Ask(Pick(kNearest, "2009")), "a2005 b2002");
}

TEST_F(Asking, P2_PicksAmongWhatMatches) {
  using enum catalog::LocationQuery::Pick;
  CaptureQuery query = Pick(kBefore, "2004");
  query.statuses = {"2xx"};
  EXPECT_EQ(Ask(query), "a2001 b2002");
  query = Pick(kNearest, "2004");
  query.statuses = {"200"};
  EXPECT_EQ(Ask(query), "a2005 b2002");
  query.types = {"text/*"};
  EXPECT_EQ(Ask(query), "a2005");
  query = Pick(kAfter, "2002");
  query.statuses = {"2xx"};
  EXPECT_EQ(Ask(query), "a2005 b2002");
}

TEST_F(Asking, GoesOnBehindAnAnswer) {
  for (const bool alive : {false, true}) {
    CaptureQuery query = Between("2000", "2009");
    query.where.what = catalog::SelectAll();
    query.alive = alive;
    std::size_t count = 0;
    for (;; ++count) {
      const ArchiveView view = archive_->View();
      CaptureResults results(view.catalog(), query);
      const Result<const catalog::HeldCapture*> held = results.Next();
      ASSERT_TRUE(held) << held.error().text;
      if (*held == nullptr) break;
      query.where.resume = results.Resume();
    }
    EXPECT_EQ(count, 4u);
  }
}

}  // namespace
}  // namespace stele::archive
