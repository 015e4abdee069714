#include "archive/unresolved.h"

#include <gtest/gtest.h>

#include "archive/revisit_resolver.h"
#include "archive/test_archive.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::PutFile;
using testing::WarcText;

class Unresolved : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(lab_.Create());
    archive_ = std::move(*lab_.Open());
  }
  // The number of its revisits that lack something, counted in both ways.
  std::uint64_t Bring(const WarcText& warc) {
    const std::uint32_t run = *archive_->BeginRun("import", "");
    const std::string name = fmt::format("{}.warc.gz", run);
    PutFile(fs_, name, warc.bytes());
    EXPECT_TRUE(ImportFile(*archive_, run, name, {}));
    EXPECT_TRUE(archive_->EndRun(run));
    return Count(run);
  }
  // In all ways, and as it is found for one revisit after another.
  std::uint64_t Count(std::uint32_t run) {
    const ArchiveView view = archive_->View();
    CaptureQuery query;
    query.where.what = catalog::SelectAll();
    query.runs = {run};
    CaptureResults results(view, query);
    std::uint64_t slowly = 0;
    for (;;) {
      const Result<const catalog::HeldCapture*> held = results.Next();
      EXPECT_TRUE(held);
      if (!held || *held == nullptr) break;
      const bool is_revisit = ((*held)->row.flags & catalog::kRevisit) != 0;
      if (is_revisit && !RevisitResolver(view).Resolve(**held)) ++slowly;
    }
    for (const std::size_t look_ups_max : {std::size_t{0}, std::size_t{10'000}}) {
      for (const std::uint64_t revisits_max : {1u, 1000u}) {
        const Result<UnresolvedRevisits> found =
            FindUnresolved(view, run, {.revisits_max = revisits_max, .look_ups_max = look_ups_max});
        EXPECT_TRUE(found && found->missing.captures == slowly) << slowly;
      }
    }
    return slowly;
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  std::unique_ptr<ArchiveWriter> archive_;
};

TEST_F(Unresolved, D6_ARunWithoutRevisitsLacksNothing) {
  EXPECT_EQ(Bring(WarcText().Response("http://a/", "2004-01-01T00:00:00Z", "<p>one")), 0u);
}

TEST_F(Unresolved, D6_OriginalsAreInTheRunOrInAnEarlierOne) {
  EXPECT_EQ(Bring(WarcText().Response("http://a/1", "2004-01-01T00:00:00Z", "<p>one")), 0u);
  EXPECT_EQ(Bring(WarcText()
                      .Revisit("http://a/1", "2004-02-01T00:00:00Z", "<p>one")
                      .Revisit("http://a/2", "2004-02-01T00:00:00Z", "<p>two")
                      .Response("http://a/2", "2004-01-01T00:00:00Z", "<p>two")),
            0u);
}

TEST_F(Unresolved, D6_WhatIsNowhereIsCounted) {
  EXPECT_EQ(Bring(WarcText().Response("http://a/1", "2004-01-01T00:00:00Z", "<p>one")), 0u);
  EXPECT_EQ(Bring(WarcText()
                      .Revisit("http://a/1", "2004-02-01T00:00:00Z", "<p>one")
                      .Revisit("http://a/1", "2004-02-02T00:00:00Z", "<p>elsewhere")
                      .Revisit("http://a/3", "2004-02-03T00:00:00Z", "<p>elsewhere")),
            2u);
}

// Heritrix gives "not modified" the digest of its empty body.
TEST_F(Unresolved, D6_WhatWasNotModifiedRepeatsItsUrl) {
  EXPECT_EQ(Bring(WarcText().Response("http://a/1", "2004-01-01T00:00:00Z", "<p>one")), 0u);
  EXPECT_EQ(Bring(WarcText()
                      .NotModified("http://a/1", "2004-02-01T00:00:00Z")
                      .NotModified("http://a/2", "2004-02-01T00:00:00Z")),
            1u);
}

TEST_F(Unresolved, D6_RecordIdsAreFoundInTheRunAndElsewhereAlongChains) {
  WarcText first;
  first.Response("http://a/1", "2004-01-01T00:00:00Z", "<p>one");
  const std::string one = first.last_capture();
  EXPECT_EQ(Bring(first), 0u);
  WarcText second(record::Compression::kGzip, 8);
  second.Revisit("http://b/", "2004-02-01T00:00:00Z", "", "", "", one);
  for (const char* url : {"http://c/", "http://d/"}) {
    second.Revisit(url, "2004-02-01T00:00:00Z", "", "", "", std::string(second.last_capture()));
  }
  EXPECT_EQ(Bring(second), 0u);
  EXPECT_EQ(
      Bring(WarcText(record::Compression::kGzip, 9)
                .Revisit("http://e/", "2004-02-01T00:00:00Z", "", "", "", "<urn:x:none>")
                .Revisit("http://f/", "2004-02-01T00:00:00Z", "", "", "", second.last_capture())),
      1u);
}

// Of a body in chunks some compute the digest as it was sent.
TEST_F(Unresolved, D6_WhatIsNamedByUriAndDateIsFoundWhateverTheDigest) {
  EXPECT_EQ(Bring(WarcText()
                      .Response("http://a/1", "2004-01-01T00:00:00Z", "<p>one")
                      .Revisit("http://a/1", "2004-02-01T00:00:00Z", "5\r\n<p>one\r\n0\r\n\r\n",
                               "http://a/1", "2004-01-01T00:00:00Z")
                      .Revisit("http://a/1", "2004-02-01T00:00:00Z", "<p>two", "http://a/1",
                               "2004-01-01T00:00:01Z")),
            1u);
}

TEST_F(Unresolved, D6_ByUriAndDateTheSamePayloadComesFirst) {
  Bring(WarcText()
            .Response("http://a/1", "2004-01-01T00:00:00Z", "<p>one")
            .Response("http://a/1", "2003-01-01T00:00:00Z", "<p>two")
            .Revisit("http://a/1", "2004-02-01T00:00:00Z", "<p>two", "http://a/1",
                     "2004-01-01T00:00:00Z"));
  const ArchiveView view = archive_->View();
  const auto original = RevisitResolver(view).Resolve(*view.catalog().Get({200402, 0}));
  ASSERT_TRUE(original);
  EXPECT_EQ(original->row.id, (catalog::CaptureId{200301, 0}));
}

}  // namespace
}  // namespace stele::archive
