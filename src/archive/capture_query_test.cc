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

TEST_F(Asking, P2_OfTwoOfOneMomentTheOtherWasAliveWhereOneIsHidden) {
  PutFile(fs_, "y.warc.gz",
          WarcText(record::Compression::kGzip, 8)
              .Response("http://c.example/", "2003-01-01T00:00:00Z", "5")
              .Response("http://c.example/", "2003-01-01T00:00:00Z", "6")
              .bytes());
  ASSERT_TRUE(ImportFile(*archive_, 1, "y.warc.gz", {}));
  CaptureQuery alive = Between("2002", "2004");
  alive.alive = true;
  alive.where.what = catalog::SelectUrl("http://c.example/");
  EXPECT_EQ(Ask(alive), "c2003");
  for (const std::uint32_t hidden : {1, 2}) {
    alive.shows = [&](std::string_view, const catalog::Capture& row) {
      return row.id.serial != hidden;
    };
    EXPECT_EQ(Ask(alive), "c2003") << hidden;
  }
  alive.shows = [](std::string_view, const catalog::Capture&) { return false; };
  EXPECT_EQ(Ask(alive), "");
}

TEST_F(Asking, P2_AcquiredInASpanOrAliveInIt) {
  EXPECT_EQ(Ask(Between("2002", "2004")), "a2003 b2002");
  CaptureQuery alive = Between("2002", "2004");
  alive.alive = true;
  EXPECT_EQ(Ask(alive), "a2001 a2003 b2002");
  alive = Between("2004", "2004");
  alive.alive = true;
  EXPECT_EQ(Ask(alive), "a2003 b2002");
}

// Taken down, or hidden from the one who asks: what was there before is what is there.
TEST_F(Asking, P2_AliveInASpanIsWhatWasLastVisibleBefore) {
  CaptureQuery alive = Between("2004", "2006");
  alive.alive = true;
  alive.shows = [](std::string_view, const catalog::Capture& row) {
    return row.time != *ParseDigits("2003");
  };
  EXPECT_EQ(Ask(alive), "a2001 a2005 b2002");
  alive.where.from = *ParseDigits("2003");
  EXPECT_EQ(Ask(alive), "a2001 a2005 b2002");
  alive.statuses = {"4xx"};
  EXPECT_EQ(Ask(alive), "");
  alive.statuses = {};
  alive.shows = nullptr;
  ASSERT_TRUE(archive_->EndRun(1));
  ASSERT_TRUE(archive_->Remove({{200301, 0}}, "a reason", ""));
  EXPECT_EQ(Ask(alive), "a2001 a2005 b2002");
  alive.with_removed = true;
  EXPECT_EQ(Ask(alive), "a2003 a2005 b2002");
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
      CaptureResults results(view, query);
      const Result<const catalog::HeldCapture*> held = results.Next();
      ASSERT_TRUE(held) << held.error().text;
      if (*held == nullptr) break;
      query.where.resume = results.Resume();
    }
    EXPECT_EQ(count, 4u);
  }
}

// Five runs whose captures have the same URLs; each has some in months that others have, too.
class AskingForRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(lab_.Create());
    archive_ = *lab_.Open();
    for (std::uint32_t run = 1; run <= 5; ++run) {
      ASSERT_EQ(*archive_->BeginRun("import", ""), run);
      for (std::uint32_t file = 0; file < 3; ++file) {
        WarcText warc(record::Compression::kGzip, run * 10 + file);
        // The third run is as large as all others together.
        for (std::uint32_t i = 0; i < (run == 3 ? 16u : 4u); ++i) {
          warc.Response(fmt::format("http://{}.example/{}", i % 3, i % 5),
                        fmt::format("2004-{:02}-{:02}T0{}:00:00Z", 1 + (run + i) % 4, run, i % 10),
                        fmt::format("{} {} {}", run, file, i));
        }
        const std::string name = fmt::format("{}-{}.warc.gz", run, file);
        PutFile(fs_, name, warc.bytes());
        ASSERT_TRUE(ImportFile(*archive_, run, name, {}));
      }
      ASSERT_TRUE(archive_->EndRun(run));
    }
  }

  // What is found by looking at every row.
  std::vector<std::string> Twin(std::uint32_t run, CaptureQuery query = {}) {
    query.shows = [run](std::string_view, const catalog::Capture& row) { return row.run == run; };
    return Lines(archive_->View(), query);
  }
  std::vector<std::string> InRun(std::uint32_t run, CaptureQuery query = {}) {
    query.runs = {run};
    return Lines(archive_->View(), query);
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  std::unique_ptr<ArchiveWriter> archive_;
};

TEST_F(AskingForRuns, I7_CapturesOfSeveralRunsOrBatchesAreTheirUnion) {
  for (const std::vector<std::uint32_t>& runs :
       std::vector<std::vector<std::uint32_t>>{{1, 2}, {5, 1}, {2, 2}, {4, 3, 1}}) {
    CaptureQuery query;
    query.runs = runs;
    CaptureQuery twin;
    twin.shows = [&](std::string_view, const catalog::Capture& row) {
      return std::find(runs.begin(), runs.end(), row.run) != runs.end();
    };
    EXPECT_EQ(Lines(archive_->View(), query), Lines(archive_->View(), twin));
    query.batches = {200404, 200402};
    twin.shows = [&, in_runs = twin.shows](std::string_view key, const catalog::Capture& row) {
      return in_runs(key, row) && (row.id.batch == 200402 || row.id.batch == 200404);
    };
    EXPECT_EQ(Lines(archive_->View(), query), Lines(archive_->View(), twin));
    EXPECT_FALSE(Lines(archive_->View(), query).empty());
  }
}

TEST_F(AskingForRuns, I7_CapturesOfARunAreThoseWhoseRowsSaySo) {
  for (std::uint32_t run = 0; run <= 6; ++run) {
    SCOPED_TRACE(run);
    EXPECT_EQ(InRun(run), Twin(run));
    EXPECT_EQ(InRun(run).empty(), run == 0 || run == 6);
    CaptureQuery host;
    host.where.what = catalog::SelectHost("1.example");
    EXPECT_EQ(InRun(run, host), Twin(run, host));
    CaptureQuery spring;
    spring.where.from = *ParseDigits("200402");
    spring.where.to = *ParseDigits("20040303");
    EXPECT_EQ(InRun(run, spring), Twin(run, spring));
    CaptureQuery nearest;
    nearest.where.pick = catalog::LocationQuery::Pick::kNearest;
    nearest.where.from = *ParseDigits("20040301");
    EXPECT_EQ(InRun(run, nearest), Twin(run, nearest));
  }
}

TEST_F(AskingForRuns, I7_RowsOfOtherRunsAreNotRead) {
  // Two runs with months of their own: a small one, and one that is most of the archive.
  for (const std::uint32_t run : {6u, 7u}) {
    WarcText warc(record::Compression::kGzip, run * 10);
    for (int i = 0; i < (run == 6 ? 100 : 1000); ++i) {
      warc.Response(fmt::format("http://0.example/{}", i),
                    fmt::format("{}-01-01T00:00:00Z", 2000 + run), std::to_string(i));
    }
    PutFile(fs_, "more.warc.gz", warc.bytes());
    ASSERT_EQ(*archive_->BeginRun("import", ""), run);
    ASSERT_TRUE(ImportFile(*archive_, run, "more.warc.gz", {}));
    ASSERT_TRUE(archive_->EndRun(run));
  }
  archive_ = nullptr;
  archive_ = *lab_.Open();  // all is in files now
  const std::vector<std::string> small = InRun(6);
  const std::vector<std::string> large = InRun(7);
  ASSERT_EQ(small.size(), 100u);
  ASSERT_EQ(large.size(), 1000u);
  archive_ = nullptr;
  for (const char* batch : {"a/catalog/captures/200401", "a/catalog/captures/200402"}) {
    const std::vector<std::string> names = *fs_.List(batch);
    ASSERT_FALSE(names.empty());
    for (const std::string& name : names) {
      const std::string path = fmt::format("{}/{}", batch, name);
      std::string bytes = *io::ReadFile(fs_, path);
      bytes[50] = static_cast<char>(bytes[50] ^ 1);
      PutFile(fs_, path, bytes);
    }
  }
  archive_ = *lab_.Open();
  EXPECT_EQ(InRun(6), small);
  EXPECT_EQ(InRun(7), large);
  CaptureQuery everything;
  everything.where.what = catalog::SelectAll();
  const ArchiveView view = archive_->View();
  CaptureResults results(view, everything);
  Result<const catalog::HeldCapture*> held = results.Next();
  while (held && *held != nullptr) held = results.Next();
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace stele::archive
