#include "archive/purge.h"

#include <gtest/gtest.h>

#include "archive/removal.h"
#include "archive/revisit_resolver.h"
#include "archive/test_archive.h"
#include "archive/verify.h"
#include "codec/gzip_codec.h"
#include "io/fault_file_system.h"
#include "util/checksum.h"
#include "util/test_stride.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::Lines;
using testing::PutFile;
using testing::WarcText;

constexpr const char* kSecret = "a secret that must go";

CaptureQuery Of(const std::string& url) {
  CaptureQuery query;
  query.where.what = catalog::SelectUrl(url);
  return query;
}

CaptureQuery Everything() {
  CaptureQuery query;
  query.where.what = catalog::SelectAll();
  return query;
}

// Plain, so that one can look for bytes in it.
std::string Sample() {
  return WarcText(record::Compression::kNone)
      .Response("http://a.example/", "2004-01-01T00:00:00Z", "first")
      .Request("http://a.example/", "2004-01-01T00:00:00Z", "GET /a HTTP/1.1")
      .Response("http://s.example/", "2004-01-01T00:00:00Z", kSecret)
      .Request("http://s.example/", "2004-01-01T00:00:00Z", "GET /?q=hidden HTTP/1.1")
      .Revisit("http://r.example/", "2004-02-01T00:00:00Z", "first", "http://a.example/",
               "2004-01-01T00:00:00Z")
      .Response("http://z.example/", "2004-01-01T00:00:00Z", "last")
      .bytes();
}

Status Fill(ArchiveLab& lab, bool in_place = false) {
  auto archive = lab.Open();
  if (!archive) return archive.error();
  const auto run = (*archive)->BeginRun("import", "");
  if (!run) return run.error();
  ImportOptions options;
  options.in_place = in_place;
  const auto outcome = ImportFile(**archive, *run, "x.warc", options);
  if (!outcome) return outcome.error();
  return (*archive)->EndRun(*run);
}

Status TakeDown(ArchiveWriter& archive, const std::string& url) {
  io::ManualClock clock(testing::kNow);
  io::SeededRandom random(3);
  const auto plan = PlanRemoval(archive.View(), Of(url));
  if (!plan) return plan.error();
  const auto removal = CarryOut(archive, *plan, {"because", ""}, clock, random);
  return removal ? Status() : removal.error();
}

// All bytes of all containers, one after another.
std::string AllBytes(io::FileSystem& fs, const ArchiveView& view) {
  std::string all;
  for (const auto& [number, container] : view.holdings().containers()) {
    all += *io::ReadFile(fs, *view.PathOf(number));
  }
  return all;
}

// The paths of all files below a directory.
std::vector<std::string> FilesBelow(io::FileSystem& fs, const std::string& directory) {
  std::vector<std::string> paths;
  const std::vector<std::string> names = *fs.List(directory);
  for (const std::string& name : names) {
    const std::string path = directory + '/' + name;
    if (!fs.List(path)) {
      paths.push_back(path);
      continue;
    }
    for (const std::string& below : FilesBelow(fs, path)) paths.push_back(below);
  }
  return paths;
}

// No file has it, nor what index files have in compressed pages.
void ExpectNowhere(io::FileSystem& fs, const ArchiveView& view, const std::string& url,
                   const std::string& surt) {
  for (const std::string& path : FilesBelow(fs, "a")) {
    const std::string bytes = *io::ReadFile(fs, path);
    EXPECT_EQ(bytes.find(url), std::string::npos) << path;
    EXPECT_EQ(bytes.find(surt), std::string::npos) << path;
  }
  const catalog::CatalogFiles& files = view.catalog().files();
  auto runs = files.runs;
  runs.insert(runs.end(), files.loose.begin(), files.loose.end());
  for (const auto& run : runs) {
    const auto cursor = run->NewCursor(catalog::LocationRun::Reading::kOnce);
    auto entry = cursor->Seek(catalog::FirstOf(""));
    for (; entry && *entry != nullptr; entry = cursor->Next()) EXPECT_NE((*entry)->key, surt);
  }
  for (const auto& segment : files.segments) {
    catalog::CaptureSegmentCursor cursor(*segment, catalog::kTimeBegin, catalog::kTimeEnd);
    Status read = cursor.Seek(0);
    for (; read && cursor.valid(); read = cursor.Next()) EXPECT_NE(cursor.row().url, url);
  }
  for (const auto& segment : files.pisa) {
    EXPECT_TRUE(segment->Validate([](const Error& error) { ADD_FAILURE() << error.text; }));
  }
  CaptureQuery query = Everything();
  query.with_removed = true;
  for (const std::string& line : Lines(view, query)) {
    EXPECT_EQ(line.find(url), std::string::npos) << line;
  }
}

void ExpectSecretNowhere(io::FileSystem& fs, const ArchiveView& view) {
  ExpectNowhere(fs, view, "http://s.example/", "example,s)/");
}

// Compares what the ledger says of batches with the rows.
void ExpectRightCounts(const ArchiveView& view) {
  std::map<std::uint32_t, Holdings::BatchCount> counts;
  catalog::CaptureScan scan = view.catalog().Scan({});
  for (;;) {
    const Result<const catalog::Capture*> row = scan.Next();
    ASSERT_TRUE(row);
    if (*row == nullptr) break;
    if (view.holdings().IsPurged((*row)->place.container)) continue;
    Holdings::BatchCount& count = counts[(*row)->id.batch];
    ++((*row)->flags & catalog::kRemoved ? count.removed : count.captures);
  }
  EXPECT_EQ(view.holdings().CountByBatch(), counts);
}

void ExpectNoDefects(const ArchiveView& view) {
  ExpectRightCounts(view);

  const auto outcome = Verify(view, {}, [](const std::string& defect) { ADD_FAILURE() << defect; });
  ASSERT_TRUE(outcome) << outcome.error().text;
}

const std::vector<std::string> kLeft = {"200401/0 http://a.example/ 20040101000000000",
                                        "200402/0 http://r.example/ 20040201000000000",
                                        "200401/2 http://z.example/ 20040101000000000"};

class Purging : public ::testing::Test {
 protected:
  void SetUp() override {
    PutFile(fs_, "x.warc", Sample());
    ASSERT_TRUE(lab_.Create());
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
};

TEST_F(Purging, DeletesTheBytesAndNothingElse) {
  ASSERT_TRUE(Fill(lab_));
  {
    auto archive = lab_.Open();
    ASSERT_TRUE(archive);
    ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
    ExpectRightCounts((*archive)->View());
    EXPECT_NE(AllBytes(fs_, (*archive)->View()).find(kSecret), std::string::npos);
    const auto purged = PurgeRemoved(**archive);
    ASSERT_TRUE(purged) << purged.error().text;
    EXPECT_EQ(purged->captures, 1u);
    EXPECT_EQ(purged->containers, 1u);
    const ArchiveView view = (*archive)->View();
    const std::string left = AllBytes(fs_, view);
    EXPECT_EQ(left.find(kSecret), std::string::npos);
    EXPECT_EQ(left.find("hidden"), std::string::npos);
    EXPECT_NE(left.find("GET /a"), std::string::npos);
    EXPECT_EQ(left.size() + purged->bytes, Sample().size());
    EXPECT_FALSE(*fs_.Exists("a/volumes/main/00000001"));
    EXPECT_EQ(Lines(view), kLeft);
    CaptureQuery of_the_first_run;
    of_the_first_run.runs = {1};
    EXPECT_EQ(Lines(view, of_the_first_run), kLeft);
    EXPECT_EQ(view.holdings().CaptureCount(), 3u);
    ExpectNoDefects(view);
    ExpectSecretNowhere(fs_, view);
    // Twice is as good as once.
    EXPECT_EQ(PurgeRemoved(**archive)->captures, 0u);
  }
  for (const auto rebuild :
       {ArchiveWriter::Rebuild::kCatalog, ArchiveWriter::Rebuild::kCatalogAndRows}) {
    auto archive = lab_.Open(rebuild);
    ASSERT_TRUE(archive) << archive.error().text;
    EXPECT_EQ(Lines((*archive)->View()), kLeft);
    ExpectNoDefects((*archive)->View());
  }
}

// With logs that are full and files that were merged, of several batches, and PISA segments.
TEST_F(Purging, W15_TheCatalogForgetsWhatWasPurged) {
  ArchiveLab lab(fs_,
                 {.log_bytes = 2000, .fan_in = 2, .segment_fan_in = 2, .pisa_captures_min = 20});
  for (int file = 0; file < 8; ++file) {
    WarcText text(record::Compression::kNone, static_cast<std::uint64_t>(file));
    for (int i = 0; i < 10; ++i) {
      text.Response(fmt::format("http://{}.example/", i == 5 ? "s" : fmt::format("p{}", i)),
                    fmt::format("2004-0{}-{:02}T00:00:00Z", file % 3 + 1, i + 1), "body");
    }
    PutFile(fs_, "x.warc", text.bytes());
    ASSERT_TRUE(Fill(lab));
  }
  auto archive = lab.Open();
  ASSERT_TRUE(archive) << archive.error().text;
  ASSERT_FALSE((*archive)->View().catalog().files().pisa.empty());
  const std::vector<std::string> before = Lines((*archive)->View());
  ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
  const std::vector<std::string> left = Lines((*archive)->View());
  ASSERT_EQ(left.size() + 8, before.size());
  ASSERT_TRUE(PurgeRemoved(**archive));
  ExpectSecretNowhere(fs_, (*archive)->View());
  EXPECT_EQ(Lines((*archive)->View()), left);
  EXPECT_FALSE((*archive)->View().catalog().files().pisa.empty());
  ExpectNoDefects((*archive)->View());
  archive->reset();
  archive = lab.Open();
  ASSERT_TRUE(archive) << archive.error().text;
  EXPECT_EQ(Lines((*archive)->View()), left);
  ExpectSecretNowhere(fs_, (*archive)->View());
}

// By all that a revisit may say of its original.
TEST_F(Purging, D6_ARevisitOfWhatWasPurgedSaysThatItWasTakenDown) {
  WarcText original(record::Compression::kNone, 5);
  original.Response("http://s.example/", "2004-01-01T00:00:00Z", kSecret);
  PutFile(fs_, "x.warc", original.bytes());
  ASSERT_TRUE(Fill(lab_));
  {
    auto archive = lab_.Open();
    ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
  }
  PutFile(
      fs_, "x.warc",
      WarcText(record::Compression::kNone, 6)
          .Revisit("http://a.example/", "2005-01-01T00:00:00Z", "", "http://s.example/",
                   "2004-01-01T00:00:00Z")
          .Revisit("http://b.example/", "2005-01-01T00:00:00Z", kSecret)
          .Revisit("http://c.example/", "2005-01-01T00:00:00Z", "", "", "", original.last_capture())
          .NotModified("http://s.example/", "2005-01-01T00:00:00Z")
          .Revisit("http://other.example/", "2005-01-01T00:00:00Z", "other", "http://s.example/",
                   "2004-01-01T00:00:01Z")
          .NotModified("http://other.example/", "2005-01-02T00:00:00Z")
          .bytes());
  ASSERT_TRUE(Fill(lab_));
  for (const auto& [purges, rebuild] :
       {std::pair(false, ArchiveWriter::Rebuild::kNothing),
        std::pair(true, ArchiveWriter::Rebuild::kNothing),
        std::pair(false, ArchiveWriter::Rebuild::kCatalog),
        std::pair(false, ArchiveWriter::Rebuild::kCatalogAndRows)}) {
    auto archive = lab_.Open(rebuild);
    ASSERT_TRUE(archive) << archive.error().text;
    if (purges) {
      ASSERT_TRUE(PurgeRemoved(**archive));
    }
    const ArchiveView view = (*archive)->View();
    CaptureResults results(view, Everything());
    int revisits = 0;
    for (;; ++revisits) {
      const auto held = results.Next();
      ASSERT_TRUE(held);
      if (*held == nullptr) break;
      const auto resolved = RevisitResolver(view).Resolve(**held);
      ASSERT_FALSE(resolved);
      EXPECT_EQ(resolved.error().code, ErrorCode::kNotFound);
      const bool is_other = (*held)->row.url == "http://other.example/";
      EXPECT_TRUE(
          resolved.error().text.ends_with(is_other ? "is not in this archive" : "was taken down"))
          << resolved.error().text;
    }
    EXPECT_EQ(revisits, 6);
  }
}

TEST_F(Purging, D6_EachOfALongChainInherits) {
  constexpr int kRevisits = 40;
  WarcText chain(record::Compression::kNone);
  chain.Response("http://o.example/", "2004-01-01T00:00:00Z", "first");
  for (int i = 0; i < kRevisits; ++i) {
    chain.Revisit(fmt::format("http://r.example/{}", i), "2004-02-01T00:00:00Z", "", "", "",
                  chain.last_capture());
  }
  PutFile(fs_, "x.warc", chain.bytes());
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  ASSERT_TRUE(archive);
  ASSERT_TRUE(TakeDown(**archive, "http://o.example/"));
  ASSERT_TRUE(PurgeRemoved(**archive));
  const ArchiveView view = (*archive)->View();
  CaptureResults results(view, Everything());
  for (int i = 0; i < kRevisits; ++i) {
    const auto held = results.Next();
    ASSERT_TRUE(held && *held != nullptr) << i;
    const auto original = catalog::IsRevisit((*held)->row) ? RevisitResolver(view).Resolve(**held)
                                                           : Result<catalog::HeldCapture>(**held);
    ASSERT_TRUE(original) << original.error().text;
    EXPECT_EQ(original->row.length, 5u);
  }
  ExpectNoDefects(view);
}

TEST_F(Purging, I7_WhatComesBackInAnotherFileIsNamed) {
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  ASSERT_TRUE(archive);
  ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
  ASSERT_TRUE(PurgeRemoved(**archive));
  const auto bring = [&](const std::string& url, const std::string& date) {
    PutFile(fs_, "y.warc",
            WarcText(record::Compression::kNone, 9)
                .Response("http://new.example/", "2006-01-01T00:00:00Z", url)
                .Response(url, date, kSecret)
                .bytes());
    return ImportFile(**archive, 1, "y.warc", {});
  };
  const auto other = bring("http://s.example/", "2005-01-01T00:00:00Z");
  ASSERT_TRUE(other) << other.error().text;
  EXPECT_TRUE(other->complaints.empty());
  const auto same = bring("http://s.example/", "2004-01-01T00:00:00Z");
  ASSERT_TRUE(same) << same.error().text;
  ASSERT_EQ(same->complaints.size(), 1u);
  EXPECT_TRUE(same->complaints[0].find("purged: 1; stele rm") != std::string::npos)
      << same->complaints[0];
}

TEST_F(Purging, WhatWasInheritedStays) {
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  ASSERT_TRUE(archive);
  ASSERT_TRUE(TakeDown(**archive, "http://a.example/"));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  const ArchiveView view = (*archive)->View();
  EXPECT_EQ(Lines(view).size(), 3u);
  ExpectNoDefects(view);
  CaptureResults results(view, Of("http://r.example/"));
  const catalog::HeldCapture* heir = *results.Next();
  ASSERT_NE(heir, nullptr);
  EXPECT_EQ(heir->row.flags & catalog::kRevisit, 0u);
  EXPECT_EQ(heir->row.length, 5u);
}

// As when a file that grows is brought twice: what is left of the second is the first.
TEST_F(Purging, WhatIsLeftMayBeAnotherFile) {
  WarcText grows(record::Compression::kNone);
  grows.Response("http://a.example/", "2004-01-01T00:00:00Z", "first");
  const std::string begin = grows.bytes();
  grows.Response("http://s.example/", "2004-01-01T00:00:00Z", kSecret);
  for (const std::string& bytes : {begin, grows.bytes()}) {
    PutFile(fs_, "x.warc", bytes);
    ASSERT_TRUE(Fill(lab_));
  }
  auto archive = lab_.Open();
  ASSERT_TRUE(archive);
  ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  const ArchiveView view = (*archive)->View();
  EXPECT_EQ(AllBytes(fs_, view), begin + begin);
  EXPECT_EQ(Lines(view),
            std::vector<std::string>({"200401/0 http://a.example/ 20040101000000000",
                                      "200401/1 http://a.example/ 20040101000000000"}));
  ExpectNoDefects(view);
}

TEST_F(Purging, AContainerOfWhichNothingStaysGoes) {
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  ASSERT_TRUE(archive);
  for (const char* url :
       {"http://r.example/", "http://a.example/", "http://s.example/", "http://z.example/"}) {
    ASSERT_TRUE(TakeDown(**archive, url)) << url;
  }
  ASSERT_TRUE(PurgeRemoved(**archive));
  EXPECT_TRUE((*archive)->View().holdings().containers().empty());
  EXPECT_TRUE(fs_.List("a/volumes/main")->empty());
  ExpectNoDefects((*archive)->View());
}

TEST_F(Purging, I7_WhatNoIndexHasStays) {
  WarcText text(record::Compression::kNone);
  text.Response("http://s.example/", "2004-01-01T00:00:00Z", kSecret)
      .Request("http://s.example/", "2004-01-01T00:00:00Z", "GET /?q=hidden HTTP/1.1");
  const std::string goes = text.bytes();
  std::string undated = WarcText(record::Compression::kNone, 9)
                            .Response("http://b.example/", "2004-01-01T00:00:00Z", "undated")
                            .bytes();
  undated.replace(undated.find("2004-01-01T00:00:00Z"), 20, "someday of that year");
  PutFile(fs_, "x.warc", goes + undated);
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  EXPECT_EQ(purged->captures, 1u);
  EXPECT_EQ(AllBytes(fs_, (*archive)->View()), undated);
  EXPECT_EQ(PurgeRemoved(**archive)->captures, 0u);
  ExpectNoDefects((*archive)->View());
  // The file that was purged does not come again by itself.
  const auto run = (*archive)->BeginRun("import", "");
  EXPECT_FALSE(ImportFile(**archive, *run, "x.warc", {}));
}

TEST_F(Purging, I7_AFileThatCannotBeReadKeepsNoOtherFromIt) {
  ASSERT_TRUE(Fill(lab_));
  const std::string path = "a/volumes/main/00000001/x.warc";
  const std::string rows = "a/volumes/main/00000001.rows";
  for (const std::string& away : {path, rows}) {
    SCOPED_TRACE(away);
    PutFile(fs_, "y.warc",
            WarcText(record::Compression::kNone)
                .Response("http://s.example/", "2005-01-01T00:00:00Z", kSecret + away)
                .bytes());
    auto archive = lab_.Open();
    const auto run = (*archive)->BeginRun("import", "");
    ASSERT_TRUE(ImportFile(**archive, *run, "y.warc", {}));
    ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
    ASSERT_TRUE(fs_.Rename(away, "away"));
    const auto purged = PurgeRemoved(**archive);
    ASSERT_TRUE(purged) << purged.error().text;
    EXPECT_EQ(purged->captures, 1u);
    ASSERT_EQ(purged->failures.size(), 1u);
    EXPECT_EQ(purged->failures[0].name, "x.warc (container 1 in volume main)");
    ASSERT_TRUE(fs_.Rename("away", away));
  }
  auto archive = lab_.Open();
  const auto later = PurgeRemoved(**archive);
  ASSERT_TRUE(later) << later.error().text;
  EXPECT_EQ(later->captures, 1u);
  EXPECT_TRUE(later->failures.empty());
  EXPECT_EQ(AllBytes(fs_, (*archive)->View()).find(kSecret), std::string::npos);
  EXPECT_EQ(Lines((*archive)->View()), kLeft);
}

// An heir's record is in two files.
TEST_F(Purging, I7_CountsEachCaptureOnce) {
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  ASSERT_TRUE(TakeDown(**archive, "http://a.example/"));
  ASSERT_TRUE(TakeDown(**archive, "http://r.example/"));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  EXPECT_EQ(purged->captures, 2u);
}

TEST_F(Purging, I7_NamesFilesThatAreNotOursAndPurgesAllOthers) {
  ASSERT_TRUE(Fill(lab_, true));
  auto archive = lab_.Open();
  ASSERT_TRUE(archive);
  const std::string other = WarcText(record::Compression::kNone)
                                .Response("http://s.example/", "2005-01-01T00:00:00Z", kSecret)
                                .Response("http://t.example/", "2005-01-01T00:00:00Z", "stays")
                                .bytes();
  PutFile(fs_, "y.warc", other);
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  ASSERT_TRUE(ImportFile(**archive, 2, "y.warc", {}));
  ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  EXPECT_EQ(purged->not_ours, std::vector<std::string>{"x.warc"});
  EXPECT_EQ(*io::ReadFile(fs_, "x.warc"), Sample());
  EXPECT_EQ(purged->captures, 1u);
  EXPECT_EQ(io::ReadFile(fs_, *(*archive)->View().PathOf(3))->find(kSecret), std::string::npos);
  ExpectNoDefects((*archive)->View());
}

TEST_F(Purging, I7_WhatWasTakenDownAndIsHeldStaysUntilTheHoldEnds) {
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  ASSERT_TRUE(archive);
  ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
  ASSERT_TRUE(TakeDown(**archive, "http://z.example/"));
  Hold hold;
  hold.what = catalog::SelectHost("s.example");
  hold.from = catalog::kTimeBegin;
  hold.to = catalog::kTimeEnd;
  ASSERT_TRUE((*archive)->AddHold(hold));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  EXPECT_EQ(purged->captures, 1u);
  EXPECT_EQ(purged->held, 1u);
  EXPECT_NE(AllBytes(fs_, (*archive)->View()).find(kSecret), std::string::npos);
  EXPECT_EQ(AllBytes(fs_, (*archive)->View()).find("last"), std::string::npos);
  // It is still taken down, also where indexes are made anew.
  const std::vector<std::string> left(kLeft.begin(), kLeft.end() - 1);
  for (const auto rebuild :
       {ArchiveWriter::Rebuild::kNothing, ArchiveWriter::Rebuild::kCatalogAndRows}) {
    archive->reset();
    archive = lab_.Open(rebuild);
    ASSERT_TRUE(archive) << archive.error().text;
    EXPECT_EQ(Lines((*archive)->View()), left);
    ExpectNoDefects((*archive)->View());
  }
  ASSERT_TRUE((*archive)->EndHold(1));
  ASSERT_TRUE(PurgeRemoved(**archive));
  EXPECT_EQ(AllBytes(fs_, (*archive)->View()).find(kSecret), std::string::npos);
  EXPECT_EQ(Lines((*archive)->View()), left);
  ExpectNoDefects((*archive)->View());
}

TEST_F(Purging, I7_AFileThatComesAgainDoesNotUndoIt) {
  ASSERT_TRUE(Fill(lab_));
  for (const bool all : {false, true}) {
    SCOPED_TRACE(all);
    {
      auto archive = lab_.Open();
      ASSERT_TRUE(archive);
      for (const char* url :
           {"http://s.example/", "http://z.example/", "http://r.example/", "http://a.example/"}) {
        if (all == (std::string_view(url) == "http://s.example/")) continue;
        ASSERT_TRUE(TakeDown(**archive, url));
        if (!all) break;
      }
      ASSERT_TRUE(PurgeRemoved(**archive));
    }
    auto archive = lab_.Open();
    ASSERT_TRUE(archive);
    const std::vector<std::string> before = Lines((*archive)->View());
    EXPECT_EQ(before.size(), all ? 0u : 3u);
    const auto run = (*archive)->BeginRun("import", "");
    const auto again = ImportFile(**archive, *run, "x.warc", {});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(Lines((*archive)->View()), before);
  }
  auto archive = lab_.Open();
  const auto run = (*archive)->BeginRun("import", "");
  ImportOptions options;
  options.again = true;
  ASSERT_TRUE(ImportFile(**archive, *run, "x.warc", options));
  EXPECT_EQ(Lines((*archive)->View()).size(), 4u);
  const auto twice = ImportFile(**archive, *run, "x.warc", {});
  ASSERT_TRUE(twice);
  EXPECT_FALSE(twice->is_new);
}

TEST_F(Purging, I7_AFileThatWasMadeFromAnotherComesAgainOnlyWhenAsked) {
  const std::string origin(64, 'a');
  ImportOptions options;
  options.origin_sha256 = origin;
  auto archive = lab_.Open();
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  ASSERT_TRUE(ImportFile(**archive, 1, "x.warc", options));
  EXPECT_TRUE((*archive)->FindBySha256(origin));
  ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
  ASSERT_TRUE(PurgeRemoved(**archive));
  EXPECT_FALSE((*archive)->FindBySha256(origin));
  EXPECT_TRUE((*archive)->WasPurged(origin));
  // Made anew, it has other bytes.
  PutFile(fs_, "x.warc", Sample() + Sample());
  ASSERT_FALSE(ImportFile(**archive, 1, "x.warc", options));
  options.again = true;
  const auto again = ImportFile(**archive, 1, "x.warc", options);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_TRUE(again->is_new);
  EXPECT_TRUE((*archive)->FindBySha256(origin));
}

// All of a file in one gzip member, as some programs write.
std::string InOneMember(const std::string& bytes) { return *codec::GzipCodec().Compress(bytes, 6); }
std::string Unzipped(const std::string& bytes) {
  return *codec::GzipCodec().Decompress(bytes, 1 << 20);
}

TEST_F(Purging, W15_RecordsThatShareAMemberStayAsTheyAre) {
  std::string plain;
  {
    ASSERT_TRUE(Fill(lab_));
    auto archive = lab_.Open();
    ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
    ASSERT_TRUE(PurgeRemoved(**archive));
    plain = AllBytes(fs_, (*archive)->View());
  }
  io::MemoryFileSystem fs;
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  PutFile(fs, "x.warc", InOneMember(Sample()));
  ASSERT_TRUE(Fill(lab));
  for (const auto rebuild :
       {ArchiveWriter::Rebuild::kNothing, ArchiveWriter::Rebuild::kCatalogAndRows}) {
    auto archive = lab.Open(rebuild);
    ASSERT_TRUE(archive) << archive.error().text;
    if (rebuild == ArchiveWriter::Rebuild::kNothing) {
      ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
      const auto purged = PurgeRemoved(**archive);
      ASSERT_TRUE(purged) << purged.error().text;
    }
    const ArchiveView view = (*archive)->View();
    EXPECT_EQ(Unzipped(AllBytes(fs, view)), plain);
    EXPECT_EQ(Lines(view), kLeft);
    ExpectNoDefects(view);
    CaptureResults results(view, Of("http://r.example/"));
    const catalog::HeldCapture* revisit = *results.Next();
    ASSERT_NE(revisit, nullptr);
    EXPECT_TRUE(RevisitResolver(view).Resolve(*revisit));
  }
}

TEST_F(Purging, W15_OtherMembersStayByteForByte) {
  const std::string head =
      InOneMember(WarcText(record::Compression::kNone, 1)
                      .Response("http://a.example/", "2004-01-01T00:00:00Z", "first")
                      .Request("http://a.example/", "2004-01-01T00:00:00Z", "GET /a HTTP/1.1")
                      .bytes());
  const std::string middle =
      InOneMember(WarcText(record::Compression::kNone, 2)
                      .Response("http://s.example/", "2004-01-01T00:00:00Z", kSecret)
                      .Response("http://b.example/", "2004-01-01T00:00:00Z", "second")
                      .Request("http://b.example/", "2004-01-01T00:00:00Z", "GET /b HTTP/1.1")
                      .bytes());
  const std::string tail =
      InOneMember(WarcText(record::Compression::kNone, 3)
                      .Response("http://z.example/", "2004-01-01T00:00:00Z", "last")
                      .bytes());
  PutFile(fs_, "x.warc", head + middle + tail);
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  const std::string left = AllBytes(fs_, (*archive)->View());
  EXPECT_TRUE(left.starts_with(head));
  EXPECT_TRUE(left.ends_with(tail));
  const std::string plain = Unzipped(left);
  EXPECT_EQ(plain.find(kSecret), std::string::npos);
  EXPECT_NE(plain.find("GET /b"), std::string::npos);
  EXPECT_EQ(Lines((*archive)->View()).size(), 3u);
  ExpectNoDefects((*archive)->View());
}

TEST_F(Purging, W15_OfCapturesWithOneIdTheRequestBehindItGoes) {
  std::string both;
  for (const char* word : {"open", "hidden"}) {
    both += WarcText(record::Compression::kNone)
                .Response(fmt::format("http://{}.example/", word), "2004-01-01T00:00:00Z", word)
                .Request("http://x.example/", "2004-01-01T00:00:00Z",
                         fmt::format("GET /?q={} HTTP/1.1", word))
                .bytes();
  }
  PutFile(fs_, "x.warc", both);
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  ASSERT_TRUE(TakeDown(**archive, "http://hidden.example/"));
  ASSERT_TRUE(PurgeRemoved(**archive));
  const std::string left = AllBytes(fs_, (*archive)->View());
  EXPECT_EQ(left.find("hidden"), std::string::npos);
  EXPECT_NE(left.find("?q=open"), std::string::npos);
}

TEST_F(Purging, W15_OfCapturesWithOneIdTheRequestOfTheSameUriGoes) {
  // Requests first; each file below has the same ids.
  const auto pair = [](const std::string& word) {
    const std::string url = fmt::format("http://{}.example/", word);
    WarcText text(record::Compression::kNone);
    const std::string response = text.Response(url, "2004-01-01T00:00:00Z", word).bytes();
    const std::string both =
        text.Request(url, "2004-01-01T00:00:00Z", fmt::format("GET /?q={} HTTP/1.1", word)).bytes();
    return both.substr(response.size()) + response;
  };
  PutFile(fs_, "x.warc", pair("hidden") + pair("open"));
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  ASSERT_TRUE(TakeDown(**archive, "http://hidden.example/"));
  ASSERT_TRUE(PurgeRemoved(**archive));
  const std::string left = AllBytes(fs_, (*archive)->View());
  EXPECT_EQ(left.find("hidden"), std::string::npos);
  EXPECT_NE(left.find("?q=open"), std::string::npos);
}

// Captures of one URL in one member, of which some go, and requests that name none of them.
TEST_F(Purging, W15_RequestsGoWithTheCaptureBesideThem) {
  std::string text;
  for (int i = 0; i < 6; ++i) {
    const std::string date = fmt::format("2004-01-0{}T00:00:00Z", i + 1);
    text += WarcText(record::Compression::kNone, static_cast<std::uint64_t>(i))
                .Response("http://a.example/", date, fmt::format("body {}", i))
                .bytes();
    // Another writer's, so that the name in it is that of no capture here.
    text += WarcText(record::Compression::kNone, static_cast<std::uint64_t>(i) + 100)
                .Request("http://a.example/", date, fmt::format("GET /?{} HTTP/1.1", i))
                .bytes();
  }
  PutFile(fs_, "x.warc", InOneMember(text));
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  ASSERT_TRUE((*archive)->Remove({{200401, 1}, {200401, 4}}, "because", ""));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  const std::string left = Unzipped(AllBytes(fs_, (*archive)->View()));
  for (int i = 0; i < 6; ++i) {
    SCOPED_TRACE(i);
    const bool stays = i != 1 && i != 4;
    EXPECT_EQ(left.find(fmt::format("body {}", i)) != std::string::npos, stays);
    EXPECT_EQ(left.find(fmt::format("GET /?{} ", i)) != std::string::npos, stays);
  }
  ExpectNoDefects((*archive)->View());
}

std::string Segment(std::string_view type, std::string_view fields, std::string_view block) {
  return fmt::format(
      "WARC/1.1\r\nWARC-Type: {}\r\nWARC-Target-URI: http://s.example/\r\nWARC-Date: "
      "2004-01-01T00:00:00Z\r\n{}Content-Length: {}\r\n\r\n{}\r\n\r\n",
      type, fields, block.size(), block);
}

// The segments of a record, each in a file of its own.
TEST_F(Purging, I7_WhatContinuesARecordInOtherFilesGoesWithIt) {
  const std::string stays = WarcText(record::Compression::kNone, 11)
                                .Response("http://z.example/", "2004-01-01T00:00:00Z", "last")
                                .bytes();
  const std::string first = Segment(
      "response",
      "WARC-Record-ID: <urn:s:1>\r\nWARC-Segment-Number: 1\r\nContent-Type: application/http\r\n",
      "HTTP/1.1 200 OK\r\n\r\nhidden");
  const std::string second =
      Segment("continuation",
              "WARC-Record-ID: <urn:s:2>\r\nWARC-Segment-Origin-ID: <urn:s:1>\r\n"
              "WARC-Segment-Number: 2\r\n",
              "hidden, too") +
      stays;
  const std::string third =
      Segment("continuation",
              "WARC-Record-ID: <urn:s:3>\r\nWARC-Segment-Origin-ID: <urn:s:1>\r\n"
              "WARC-Segment-Number: 3\r\nWARC-Segment-Total-Length: 34\r\n",
              "hidden");
  const std::string foreign =
      Segment("continuation",
              "WARC-Record-ID: <urn:s:9>\r\nWARC-Segment-Origin-ID: <urn:s:8>\r\n"
              "WARC-Segment-Number: 3\r\nWARC-Segment-Total-Length: 34\r\n",
              "another record's");
  for (const std::string& bytes : {first, second, third, foreign}) {
    PutFile(fs_, "x.warc", bytes);
    ASSERT_TRUE(Fill(lab_));
  }
  auto archive = lab_.Open();
  ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
  // As long as one is away, the record stays: it says which they are.
  const std::string path = "a/volumes/main/00000003/x.warc";
  ASSERT_TRUE(fs_.Rename(path, "away"));
  const auto refused = PurgeRemoved(**archive);
  ASSERT_TRUE(refused) << refused.error().text;
  EXPECT_EQ(refused->captures, 0u);
  EXPECT_EQ(refused->failures.size(), 2u);
  ASSERT_TRUE(fs_.Rename("away", path));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  EXPECT_TRUE(purged->failures.empty());
  EXPECT_EQ(purged->captures, 1u);
  EXPECT_EQ(AllBytes(fs_, (*archive)->View()), foreign + stays);
  EXPECT_EQ(Lines((*archive)->View()).size(), 1u);
  ExpectNoDefects((*archive)->View());
}

// Room for more is kept free so that something can be deleted.
TEST_F(Purging, I7_WorksWhereThereIsNoRoomForMore) {
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  fs_.SetFreeBytes(1 << 20);
  const auto refused = (*archive)->Reserve(1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kFull);
  ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  EXPECT_TRUE(purged->failures.empty());
  EXPECT_EQ(purged->captures, 1u);
  EXPECT_EQ(AllBytes(fs_, (*archive)->View()).find(kSecret), std::string::npos);
}

// Damage in what stays, and in what goes.
class DamagedPurging : public Purging {
 protected:
  // Changes a byte of `what` in the container.
  void Damage(const std::string& what) {
    const std::string path = "a/volumes/main/00000001/x.warc";
    std::string bytes = *io::ReadFile(fs_, path);
    const std::size_t at = bytes.find(what);
    ASSERT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    PutFile(fs_, path, bytes);
  }
  // A file of gzip members, one for each capture with its request.
  static std::string Member(const std::string& name, const std::string& body) {
    const std::string url = fmt::format("http://{}.example/", name);
    const std::uint64_t seed = ChecksumOf(name);
    return InOneMember(WarcText(record::Compression::kNone, seed)
                           .Response(url, "2004-01-01T00:00:00Z", body)
                           .bytes()) +
           InOneMember(WarcText(record::Compression::kNone, seed + 1)
                           .Request(url, "2004-01-01T00:00:00Z", "GET /?" + name)
                           .bytes());
  }
};

TEST_F(DamagedPurging, I7_WhatStaysAndIsDamagedIsNamed) {
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
  // No checksum of the file knows of this: the payload is not what it was.
  Damage("last");
  const auto refused = PurgeRemoved(**archive);
  ASSERT_TRUE(refused) << refused.error().text;
  EXPECT_EQ(refused->captures, 0u);
  ASSERT_EQ(refused->failures.size(), 1u);
  const std::string& text = refused->failures[0].error.text;
  EXPECT_NE(text.find("http://z.example/"), std::string::npos) << text;
  EXPECT_NE(text.find("restore the file from a backup"), std::string::npos) << text;
  EXPECT_TRUE(*fs_.Exists("a/volumes/main/00000001/x.warc"));
  EXPECT_FALSE(*fs_.Exists("a/volumes/main/00000002"));
  // As the error says.
  ASSERT_TRUE(TakeDown(**archive, "http://z.example/"));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  EXPECT_TRUE(purged->failures.empty());
  EXPECT_EQ(purged->captures, 2u);
  EXPECT_EQ(AllBytes(fs_, (*archive)->View()).find(kSecret), std::string::npos);
  EXPECT_EQ(Lines((*archive)->View()).size(), 2u);
  ExpectNoDefects((*archive)->View());
}

TEST_F(DamagedPurging, I7_WhatGoesMayBeDamagedAnywhere) {
  WarcText text(record::Compression::kNone);
  const std::string first =
      text.Response("http://a.example/", "2004-01-01T00:00:00Z", "first").bytes();
  const std::string with_secret =
      text.Response("http://s.example/", "2004-01-01T00:00:00Z", kSecret).bytes();
  const std::string whole =
      text.Response("http://z.example/", "2004-01-01T00:00:00Z", "last").bytes();
  const std::string left = first + whole.substr(with_secret.size());
  for (std::size_t at = first.size(); at < with_secret.size() - 4; at += 3) {
    SCOPED_TRACE(at);
    io::MemoryFileSystem fs;
    ArchiveLab lab(fs);
    ASSERT_TRUE(lab.Create());
    PutFile(fs, "x.warc", whole);
    ASSERT_TRUE(Fill(lab));
    auto archive = lab.Open();
    ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x15);
    PutFile(fs, "a/volumes/main/00000001/x.warc", damaged);
    const auto purged = PurgeRemoved(**archive);
    ASSERT_TRUE(purged) << purged.error().text;
    ASSERT_TRUE(purged->failures.empty()) << purged->failures[0].error.text;
    EXPECT_EQ(AllBytes(fs, (*archive)->View()), left);
    EXPECT_EQ(Lines((*archive)->View()).size(), 2u);
    ExpectNoDefects((*archive)->View());
  }
}

TEST_F(DamagedPurging, I7_DamagedPlacesThatDoNotGoStayByteForByte) {
  const std::string first = Member("a", "first");
  const std::string secret = Member("s", kSecret);
  const std::string last = Member("z", "last");
  std::string noise = InOneMember("this was a record once");
  noise[noise.size() / 2] ^= 1;
  PutFile(fs_, "x.warc", first + noise + secret + last);
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  ASSERT_TRUE(purged->failures.empty()) << purged->failures[0].error.text;
  EXPECT_EQ(AllBytes(fs_, (*archive)->View()), first + noise + last);
}

// Its request cannot be read, but the rows know where it lies.
TEST_F(DamagedPurging, I7_ADamagedRequestGoesWithItsCapture) {
  const std::string first = Member("a", "first");
  const std::string secret = Member("s", kSecret);
  const std::string last = Member("z", "last");
  PutFile(fs_, "x.warc", first + secret + last);
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
  std::string damaged = first + secret + last;
  damaged[first.size() + secret.size() - 12] ^= 1;
  PutFile(fs_, "a/volumes/main/00000001/x.warc", damaged);
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  ASSERT_TRUE(purged->failures.empty()) << purged->failures[0].error.text;
  EXPECT_EQ(AllBytes(fs_, (*archive)->View()), first + last);
  ExpectNoDefects((*archive)->View());
}

TEST_F(DamagedPurging, I7_WhatCannotBeToldApartInAMemberIsLeftAsItIs) {
  PutFile(fs_, "x.warc", InOneMember(Sample()));
  ASSERT_TRUE(Fill(lab_));
  auto archive = lab_.Open();
  ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
  const std::string path = "a/volumes/main/00000001/x.warc";
  const std::string whole = *io::ReadFile(fs_, path);
  std::string bytes = whole;
  bytes[bytes.size() / 2] ^= 1;
  PutFile(fs_, path, bytes);
  const auto refused = PurgeRemoved(**archive);
  ASSERT_TRUE(refused) << refused.error().text;
  EXPECT_EQ(refused->failures.size(), 1u);
  EXPECT_EQ(*io::ReadFile(fs_, path), bytes);
  PutFile(fs_, path, whole);
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  EXPECT_EQ(purged->captures, 1u);
  EXPECT_EQ(Lines((*archive)->View()), kLeft);
}

class PurgingCrash : public ::testing::TestWithParam<bool> {};

TEST_P(PurgingCrash, LosesNothingElseWhereverTheDiskFails) {
  for (int fail_at = 1;; fail_at += kTestStride) {
    SCOPED_TRACE(fail_at);
    io::MemoryFileSystem disk;
    PutFile(disk, "x.warc", GetParam() ? InOneMember(Sample()) : Sample());
    ArchiveLab lab(disk);
    ASSERT_TRUE(lab.Create());
    ASSERT_TRUE(Fill(lab));
    {
      auto archive = lab.Open();
      ASSERT_TRUE(archive);
      ASSERT_TRUE(TakeDown(**archive, "http://s.example/"));
    }
    bool acknowledged = false;
    {
      io::FaultFileSystem fs(disk, fail_at);
      ArchiveLab failing(fs);
      if (auto archive = failing.Open()) {
        const auto purged = PurgeRemoved(**archive);
        acknowledged = purged && purged->failures.empty();
      }
    }
    io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
    disk.Crash(dice);
    auto archive = lab.Open();
    ASSERT_TRUE(archive) << archive.error().text;
    EXPECT_EQ(Lines((*archive)->View()), kLeft);
    ExpectNoDefects((*archive)->View());
    // What the ledger called purged is gone, whatever was interrupted behind it.
    const bool is_purged = (*archive)->View().holdings().IsPurged(1);
    EXPECT_TRUE(is_purged || !acknowledged);
    if (is_purged) ExpectSecretNowhere(disk, (*archive)->View());
    const auto purged = PurgeRemoved(**archive);  // goes on where it was
    ASSERT_TRUE(purged) << purged.error().text;
    EXPECT_TRUE(!acknowledged || purged->captures == 0);
    const ArchiveView view = (*archive)->View();
    const std::string left = AllBytes(disk, view);
    EXPECT_EQ((GetParam() ? Unzipped(left) : left).find(kSecret), std::string::npos);
    ExpectSecretNowhere(disk, view);
    EXPECT_EQ(Lines(view), kLeft);
    ExpectNoDefects(view);
    EXPECT_EQ(disk.List("a/volumes/main")->size(), 2u);
    if (acknowledged || HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(PlainAndInOneMember, PurgingCrash, ::testing::Bool());

}  // namespace
}  // namespace stele::archive
