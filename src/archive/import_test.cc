#include "archive/import.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "archive/durable_file.h"
#include "archive/revisit_resolver.h"
#include "archive/test_archive.h"
#include "archive/unresolved.h"
#include "archive/verify.h"
#include "codec/gzip_codec.h"
#include "io/fault_file_system.h"
#include "util/test_stride.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::Lines;
using testing::PutFile;
using testing::WarcText;

std::string TwoMonths() {
  return WarcText()
      .Response("http://a.example/", "2004-05-30T01:02:03Z", "<p>one")
      .Response("http://b.example/x", "2004-06-01T00:00:00Z", "two", "text/plain")
      .Response("http://a.example/", "2004-06-02T00:00:00.250Z", "<p>three")
      .bytes();
}

const std::vector<std::string> kTwoMonths = {"200405/0 http://a.example/ 20040530010203000",
                                             "200406/1 http://a.example/ 20040602000000250",
                                             "200406/0 http://b.example/x 20040601000000000"};

// "two.warc.gz" and "more.warc.gz".
void PutTwoFiles(io::MemoryFileSystem& fs) {
  PutFile(fs, "two.warc.gz", TwoMonths());
  PutFile(fs, "more.warc.gz",
          WarcText().Response("http://c.example/", "2004-05-01T00:00:00Z", "more").bytes());
}

std::string Bytes(io::FileSystem& fs, const std::string& path) {
  const Result<std::string> bytes = io::ReadFile(fs, path);
  return bytes ? *bytes : bytes.error().text;
}

TEST(Import, I6_GivesEachCaptureItsBatchAndSerial) {
  io::MemoryFileSystem fs;
  PutFile(fs, "two.warc.gz", TwoMonths());
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE(archive) << archive.error().text;
  ASSERT_EQ(*(*archive)->BeginRun("import", "two.warc.gz"), 1u);
  const Result<ImportOutcome> outcome = ImportFile(**archive, 1, "two.warc.gz", {});
  ASSERT_TRUE(outcome) << outcome.error().text;
  EXPECT_TRUE(outcome->is_new);
  EXPECT_EQ(outcome->container.captures, 3u);
  ASSERT_TRUE((*archive)->EndRun(1));
  EXPECT_EQ(Lines((*archive)->View()), kTwoMonths);
  // The file is there bit for bit, under its own name.
  EXPECT_EQ(Bytes(fs, "a/volumes/main/00000001/two.warc.gz"), TwoMonths());

  auto reader = ArchiveReader::Open(fs, "a");
  ASSERT_TRUE(reader) << reader.error().text;
  EXPECT_EQ(Lines((*reader)->View()), kTwoMonths);
  const archive::Run run = (*reader)->View().holdings().runs().at(1);
  EXPECT_EQ(run.captures, 3u);
  EXPECT_TRUE(run.end.has_value());
}

TEST(Import, TakesTheSameBytesOnce) {
  io::MemoryFileSystem fs;
  PutFile(fs, "two.warc.gz", TwoMonths());
  PutFile(fs, "other-name.warc.gz", TwoMonths());
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE(archive);
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  ASSERT_TRUE(ImportFile(**archive, 1, "two.warc.gz", {}));
  for (const char* name : {"two.warc.gz", "other-name.warc.gz"}) {
    const Result<ImportOutcome> again = ImportFile(**archive, 1, name, {});
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_FALSE(again->is_new);
    EXPECT_EQ(again->container.number, 1u);
  }
  EXPECT_EQ(Lines((*archive)->View()), kTwoMonths);
  EXPECT_EQ(*fs.List("a/volumes/main"), (std::vector<std::string>{"00000001", "00000001.rows"}));
}

TEST(Import, I6_ARunThatBringsNothingLeavesNoTrace) {
  io::MemoryFileSystem fs;
  PutFile(fs, "x.warc.gz",
          WarcText().Response("http://a.example/", "2004-01-01T00:00:00Z", "one").bytes());
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  for (const bool is_first : {true, false}) {
    auto archive = lab.Open();
    ASSERT_TRUE(archive);
    const std::uint32_t run = (*archive)->PlanRun("import", "x");
    EXPECT_EQ(run, is_first ? 1u : 2u);
    const auto outcome = ImportFile(**archive, run, "x.warc.gz", {});
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->is_new, is_first);
    ASSERT_TRUE((*archive)->EndRun(run));
    const ArchiveView view = (*archive)->View();
    const auto& runs = view.holdings().runs();
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_TRUE(runs.at(1).end);
    // The number is free for the next.
    EXPECT_EQ((*archive)->PlanRun("import", ""), 2u);
  }
}

TEST(Import, I6_ARunBeginsWhenItIsPlanned) {
  io::MemoryFileSystem fs;
  PutFile(fs, "two.warc.gz", TwoMonths());
  ASSERT_TRUE(ArchiveLab(fs).Create());
  io::ManualClock clock(testing::kNow);
  io::SeededRandom random(1);
  auto archive = ArchiveWriter::Open({fs, clock, random, "a test"}, "a");
  ASSERT_TRUE(archive);
  const std::uint32_t run = (*archive)->PlanRun("import", "");
  clock.Set({testing::kNow.milliseconds + 1000});
  ASSERT_TRUE(ImportFile(**archive, run, "two.warc.gz", {}));
  EXPECT_EQ((*archive)->View().holdings().runs().at(run).begin, testing::kNow);
}

TEST(Import, I6_ARepeatedImportGoesOnWithTheRunThatWasInterrupted) {
  io::MemoryFileSystem fs;
  PutFile(fs, "two.warc.gz", TwoMonths());
  PutFile(fs, "more.warc.gz",
          WarcText(record::Compression::kGzip, 9)
              .Response("http://c.example/", "2004-07-01T00:00:00Z", "more")
              .bytes());
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  {
    auto archive = lab.Open();
    ASSERT_EQ((*archive)->PlanRun("import", "crawls/"), 1u);
    ASSERT_TRUE(ImportFile(**archive, 1, "two.warc.gz", {}));
  }
  auto archive = lab.Open();
  EXPECT_FALSE(
      (*archive)->View().holdings().IsComparable((*archive)->View().holdings().runs().at(1)));
  const std::uint32_t run = (*archive)->PlanRun("import", "crawls/");
  EXPECT_EQ(run, 1u);
  ASSERT_FALSE(ImportFile(**archive, run, "two.warc.gz", {})->is_new);
  ASSERT_TRUE(ImportFile(**archive, run, "more.warc.gz", {})->is_new);
  ASSERT_TRUE((*archive)->EndRun(run));
  const ArchiveView view = (*archive)->View();
  ASSERT_EQ(view.holdings().runs().size(), 1u);
  EXPECT_EQ(view.holdings().runs().at(1).captures, 4u);
  EXPECT_TRUE(view.holdings().IsComparable(view.holdings().runs().at(1)));
  CaptureQuery of_the_run;
  of_the_run.runs = {1};
  EXPECT_EQ(Lines(view, of_the_run).size(), 4u);
  // It ended: the same words mean another run.
  EXPECT_EQ((*archive)->PlanRun("import", "crawls/"), 2u);
}

TEST(Import, I6_WhatWasInterruptedIsNotGoneOnWithByOtherWords) {
  io::MemoryFileSystem fs;
  PutFile(fs, "two.warc.gz", TwoMonths());
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  {
    auto archive = lab.Open();
    ASSERT_EQ((*archive)->PlanRun("import", "crawls/"), 1u);
    ASSERT_TRUE(ImportFile(**archive, 1, "two.warc.gz", {}));
  }
  auto archive = lab.Open();
  EXPECT_EQ((*archive)->PlanRun("import", "other/"), 2u);
}

TEST(Import, LeavesAFileInPlaceWhenAsked) {
  io::MemoryFileSystem fs;
  PutFile(fs, "two.warc.gz", TwoMonths());
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE(archive);
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  ImportOptions options;
  options.in_place = true;
  ASSERT_TRUE(ImportFile(**archive, 1, "two.warc.gz", options));
  EXPECT_EQ(*fs.List("a/volumes/main"), (std::vector<std::string>{"00000001.rows"}));
  EXPECT_EQ(*(*archive)->View().PathOf(1), "two.warc.gz");
  EXPECT_EQ(Lines((*archive)->View()), kTwoMonths);
}

TEST(Import, LeavesNothingOfAFileThatIsNoArchiveFile) {
  io::MemoryFileSystem fs;
  PutFile(fs, "notes.txt", "Dear diary, nothing happened today.");
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE(archive);
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  const Result<ImportOutcome> outcome = ImportFile(**archive, 1, "notes.txt", {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(outcome.error().text.starts_with("notes.txt is no WARC")) << outcome.error().text;
  EXPECT_TRUE(fs.List("a/volumes/main")->empty());
}

TEST(Import, I5_LeavesNothingOfAnEmptyFile) {
  io::MemoryFileSystem fs;
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE(archive);
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  const std::string nothing = *codec::GzipCodec().Compress("", 6);
  const std::pair<std::string, std::string> files[] = {{"none.warc.gz", ""},
                                                       {"none.warc", ""},
                                                       {"none", ""},
                                                       {"inside.warc.gz", nothing},
                                                       {"twice.warc.gz", nothing + nothing}};
  for (const auto& [name, bytes] : files) {
    PutFile(fs, name, bytes);
    const Result<ImportOutcome> outcome = ImportFile(**archive, 1, name, {});
    ASSERT_FALSE(outcome) << name;
    EXPECT_EQ(outcome.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(outcome.error().text,
              name + " is empty: there is no record in it; fetch it again, or leave it out");
  }
  EXPECT_TRUE(fs.List("a/volumes/main")->empty());
}

// A script that writes WARC files looks a little like one.
TEST(Import, LeavesNothingOfAFileInWhichNoRecordCanBeRead) {
  io::MemoryFileSystem fs;
  PutFile(fs, "make.py", "print(x)\nWARC/1.1\r\nWARC-Type: response\r\n\n");
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE(archive);
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  const Result<ImportOutcome> outcome = ImportFile(**archive, 1, "make.py", {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(fs.List("a/volumes/main")->empty());
}

TEST(Import, NamesWhoWritesWhenTheArchiveIsLocked) {
  io::MemoryFileSystem fs;
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE(archive);
  const auto second = lab.Open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  EXPECT_EQ(second.error().text,
            "a is being written by a test, since 2023-11-14T22:13:20Z; wait for it to end");
}

TEST(Import, W15_OfManyThatMakeAnArchiveOneDoes) {
  for (int round = 0; round < 50; ++round) {
    io::MemoryFileSystem fs;
    ArchiveConfig config;
    config.title = "test";
    config.volumes = {{.name = "main", .path = ""}};
    std::atomic<int> made = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        const Result<bool> is_mine = ArchiveWriter::Create(fs, "a", config);
        if (is_mine && *is_mine) ++made;
        if (is_mine) return;
        EXPECT_EQ(is_mine.error().code, ErrorCode::kBusy);
        EXPECT_EQ(is_mine.error().text,
                  "a is being written by another process; wait for it to end");
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(made, 1);
    ArchiveLab lab(fs);
    EXPECT_TRUE(lab.Open());
  }
}

TEST(Import, I5_WhatIsHereNeedsNoRoom) {
  io::MemoryFileSystem fs;
  PutTwoFiles(fs);
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE(archive);
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  ASSERT_TRUE(ImportFile(**archive, 1, "two.warc.gz", {}));
  fs.SetFreeBytes(1 << 20);
  const Result<ImportOutcome> again = ImportFile(**archive, 1, "two.warc.gz", {});
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_FALSE(again->is_new);
  EXPECT_EQ(again->container.number, 1u);
  const Result<ImportOutcome> more = ImportFile(**archive, 1, "more.warc.gz", {});
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::kFull);
}

TEST(Import, ManyThreadsBringEachFileOnce) {
  io::MemoryFileSystem fs;
  constexpr int kFiles = 24;
  for (int i = 0; i < kFiles; ++i) {
    PutFile(fs, fmt::format("{}.warc.gz", i),
            WarcText()
                .Response(fmt::format("http://a.example/{:02}", i), "2004-05-30T01:02:03Z", "x")
                .Response("http://a.example/same", "2004-05-30T01:02:03Z", std::to_string(i))
                .bytes());
  }
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE(archive);
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  std::vector<std::thread> threads;
  std::atomic<int> brought = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      // Each file is given to two threads.
      for (int i = t / 2; i < kFiles; i += 2) {
        const auto outcome = ImportFile(**archive, 1, fmt::format("{}.warc.gz", i), {});
        ASSERT_TRUE(outcome) << outcome.error().text;
        if (outcome->is_new) ++brought;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(brought, kFiles);
  const std::vector<std::string> lines = Lines((*archive)->View());
  EXPECT_EQ(lines.size(), 2u * kFiles);
  std::set<std::string> ids;
  for (const std::string& line : lines) ids.insert(line.substr(0, line.find(' ')));
  EXPECT_EQ(ids.size(), lines.size());
}

TEST(Import, W15_ReadersSeeWhatIsAddedAndAreUnharmedByAWriterThatDies) {
  io::MemoryFileSystem fs;
  PutTwoFiles(fs);
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE(archive);
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  auto reader = ArchiveReader::Open(fs, "a");
  ASSERT_TRUE(reader) << reader.error().text;
  EXPECT_TRUE(Lines((*reader)->View()).empty());
  ASSERT_TRUE(ImportFile(**archive, 1, "two.warc.gz", {}));
  const ArchiveView before = (*reader)->View();
  ASSERT_TRUE((*reader)->Refresh());
  EXPECT_EQ(Lines((*reader)->View()), kTwoMonths);
  EXPECT_TRUE(Lines(before).empty());  // a view stays what it is
  ASSERT_TRUE(ImportFile(**archive, 1, "more.warc.gz", {}));
  archive = Error{ErrorCode::kIo, "dead"};  // without ending its run
  ASSERT_TRUE((*reader)->Refresh());
  EXPECT_EQ(Lines((*reader)->View()).size(), 4u);
  EXPECT_FALSE((*reader)->View().holdings().runs().at(1).end.has_value());
}

TEST(Import, W15_ACatalogThatWasDeletedIsMadeAgainTheSame) {
  io::MemoryFileSystem fs;
  PutFile(fs, "two.warc.gz", TwoMonths());
  PutFile(fs, "more.warc.gz",
          WarcText().Response("http://a.example/", "2004-05-01T00:00:00Z", "early").bytes());
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  std::vector<std::string> before;
  {
    auto archive = lab.Open();
    ASSERT_TRUE(archive);
    ASSERT_TRUE((*archive)->BeginRun("import", ""));
    ASSERT_TRUE(ImportFile(**archive, 1, "two.warc.gz", {}));
    ASSERT_TRUE(ImportFile(**archive, 1, "more.warc.gz", {}));
    ASSERT_TRUE((*archive)->EndRun(1));
    before = Lines((*archive)->View());
  }
  ASSERT_EQ(before.size(), 4u);
  // With the rows beside the containers, and without them.
  for (const bool with_rows : {true, false}) {
    if (!with_rows) {
      ASSERT_TRUE(fs.Remove("a/volumes/main/00000001.rows"));
      PutFile(fs, "a/volumes/main/00000002.rows", "no rows");
    }
    auto archive = lab.Open(ArchiveWriter::Rebuild::kCatalog);
    ASSERT_TRUE(archive) << archive.error().text;
    EXPECT_EQ(Lines((*archive)->View()), before);
  }
}

TEST(Import, W15_ADamagedMarkOfWhatTheCatalogHasIsNotBelieved) {
  io::MemoryFileSystem fs;
  PutFile(fs, "two.warc.gz", TwoMonths());
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  std::vector<std::string> before;
  {
    auto archive = lab.Open();
    ASSERT_TRUE(archive);
    ASSERT_TRUE((*archive)->BeginRun("import", ""));
    ASSERT_TRUE(ImportFile(**archive, 1, "two.warc.gz", {}));
    ASSERT_TRUE((*archive)->EndRun(1));
    before = Lines((*archive)->View());
  }
  const std::string mark = *io::ReadFile(fs, "a/catalog/applied");
  for (std::size_t i = 0; i < mark.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_TRUE(RemoveTree(fs, "a/catalog"));
    ASSERT_TRUE(fs.MakeDirectory("a/catalog"));
    std::string damaged = mark;
    damaged[i] ^= 1;
    PutFile(fs, "a/catalog/applied", damaged);
    auto archive = lab.Open();
    ASSERT_TRUE(archive) << archive.error().text;
    EXPECT_EQ(Lines((*archive)->View()), before);
  }
}

// Imports two files, and says how many were acknowledged.
int ImportTwo(io::FileSystem& fs) {
  ArchiveLab lab(fs);
  if (!lab.Create()) return 0;
  auto archive = lab.Open();
  if (!archive || !(*archive)->BeginRun("import", "")) return 0;
  int acknowledged = 0;
  for (const char* name : {"two.warc.gz", "more.warc.gz"}) {
    if (!ImportFile(**archive, 1, name, {})) return acknowledged;
    ++acknowledged;
  }
  return (*archive)->EndRun(1) ? acknowledged + 1 : acknowledged;
}

class ImportCrash : public ::testing::TestWithParam<bool> {
 protected:
  // With their ids: what so many acknowledged files brought is there.
  static void ExpectAcknowledged(const ArchiveView& view, int files) {
    std::vector<std::string> expected;
    if (files > 0) expected = kTwoMonths;
    if (files > 1) expected.push_back("200405/1 http://c.example/ 20040501000000000");
    const std::vector<std::string> lines = Lines(view);
    for (const std::string& line : expected) {
      EXPECT_EQ(std::count(lines.begin(), lines.end(), line), 1) << line;
    }
  }
  static void ExpectNoDefects(const ArchiveView& view, const VerifyOptions& options = {}) {
    const auto outcome =
        Verify(view, options, [](const std::string& defect) { ADD_FAILURE() << defect; });
    EXPECT_TRUE(outcome) << outcome.error().text;
  }
  // Before any writer has finished what was interrupted.
  static void ExpectReadable(io::FileSystem& disk) {
    const auto reader = ArchiveReader::Open(disk, "a");
    ASSERT_TRUE(reader) << reader.error().text;
    VerifyOptions options;
    options.applied = (*reader)->applied().ledger_end;
    ExpectNoDefects((*reader)->View(), options);
  }
};

TEST_P(ImportCrash, LosesNothingAcknowledgedWhereverTheDiskFails) {
  const std::string more =
      WarcText().Response("http://c.example/", "2004-05-01T00:00:00Z", "more").bytes();
  for (int fail_at = 1;; fail_at += kTestStride) {
    SCOPED_TRACE(fail_at);
    io::MemoryFileSystem disk;
    PutFile(disk, "two.warc.gz", TwoMonths());
    PutFile(disk, "more.warc.gz", more);
    disk.SyncAll();
    int acknowledged = 0;
    {
      io::FaultFileSystem fs(disk, fail_at);
      acknowledged = ImportTwo(fs);
    }
    io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
    if (GetParam()) disk.Crash(dice);
    if (acknowledged > 0) ExpectReadable(disk);

    ArchiveLab lab(disk);
    const Result<bool> made = IsArchive(disk, "a");
    ASSERT_TRUE(made);
    if (!*made) {
      ASSERT_EQ(acknowledged, 0);
      ASSERT_TRUE(lab.Create());
    }
    auto archive = lab.Open();
    ASSERT_TRUE(archive) << archive.error().text;
    EXPECT_TRUE((*archive)->ledger_failures().empty());
    ExpectAcknowledged((*archive)->View(), acknowledged);
    ExpectNoDefects((*archive)->View());
    // Started again, it brings what is missing, and each capture is there once.
    Result<std::uint32_t> run = (*archive)->BeginRun("import", "again");
    ASSERT_TRUE(run) << run.error().text;
    for (const char* name : {"two.warc.gz", "more.warc.gz"}) {
      const auto outcome = ImportFile(**archive, *run, name, {});
      ASSERT_TRUE(outcome) << outcome.error().text;
    }
    std::multiset<std::string> found;
    for (const std::string& line : Lines((*archive)->View())) {
      found.insert(line.substr(line.find(' ') + 1));
    }
    EXPECT_EQ(found,
              (std::multiset<std::string>{
                  "http://a.example/ 20040530010203000", "http://a.example/ 20040602000000250",
                  "http://b.example/x 20040601000000000", "http://c.example/ 20040501000000000"}));
    for (const auto& [number, container] : (*archive)->View().holdings().containers()) {
      EXPECT_EQ(Bytes(disk, *(*archive)->View().PathOf(number)),
                container.name == "two.warc.gz" ? TwoMonths() : more);
    }
    // Nothing is left of what was interrupted.
    EXPECT_EQ(disk.List("a/volumes/main")->size(), 4u);
    ExpectAcknowledged((*archive)->View(), acknowledged);
    ExpectNoDefects((*archive)->View());
    // Rebuilt from containers and ledger alone, all ids are the same.
    const std::vector<std::string> lines = Lines((*archive)->View());
    archive->reset();
    archive = lab.Open(ArchiveWriter::Rebuild::kCatalogAndRows);
    ASSERT_TRUE(archive) << archive.error().text;
    EXPECT_EQ(Lines((*archive)->View()), lines);
    ExpectNoDefects((*archive)->View());
    if (HasFailure() || acknowledged == 3) break;
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutPowerCut, ImportCrash, ::testing::Bool());

class Revisits : public ::testing::Test {
 protected:
  // Imports the originals and then one revisit, and resolves it.
  Result<catalog::HeldCapture> Resolve(const WarcText& originals, const WarcText& revisit) {
    PutFile(fs_, "1.warc.gz", originals.bytes());
    PutFile(fs_, "2.warc.gz", revisit.bytes());
    EXPECT_TRUE(lab_.Create());
    archive_ = *lab_.Open();
    EXPECT_TRUE(archive_->BeginRun("import", ""));
    // The revisit first: its original may come later.
    EXPECT_TRUE(ImportFile(*archive_, 1, "2.warc.gz", {}));
    EXPECT_TRUE(ImportFile(*archive_, 1, "1.warc.gz", {}));
    const ArchiveView view = archive_->View();
    CaptureQuery query;
    query.where.what = catalog::SelectUrl("http://r.example/");
    query.where.from = *ParseIso("2005-01-01T00:00:00Z");
    CaptureResults results(view, query);
    Result<const catalog::HeldCapture*> held = results.Next();
    if (!held || *held == nullptr) return Error{ErrorCode::kInvalid, "the revisit is not there"};
    return RevisitResolver(view).Resolve(**held);
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  std::unique_ptr<ArchiveWriter> archive_;
};

TEST_F(Revisits, D6_AreResolvedByUriAndDate) {
  WarcText originals;
  originals.Response("http://o.example/", "2004-01-01T00:00:00Z", "same")
      .Response("http://o.example/", "2004-01-02T00:00:00Z", "same");
  WarcText revisit;
  revisit.Revisit("http://r.example/", "2005-01-01T00:00:00Z", "same", "http://o.example/",
                  "2004-01-02T00:00:00Z");
  const auto original = Resolve(originals, revisit);
  ASSERT_TRUE(original) << original.error().text;
  EXPECT_EQ(FormatDigits14(original->row.time), "20040102000000");
}

TEST_F(Revisits, D6_AreResolvedByTheirOwnUrlAndDigest) {
  WarcText originals;
  originals.Response("http://r.example/", "2004-01-01T00:00:00Z", "same")
      .Response("http://r.example/", "2004-01-02T00:00:00Z", "other");
  WarcText revisit;
  revisit.Revisit("http://r.example/", "2005-01-01T00:00:00Z", "same");
  const auto original = Resolve(originals, revisit);
  ASSERT_TRUE(original) << original.error().text;
  EXPECT_EQ(FormatDigits14(original->row.time), "20040101000000");
}

TEST_F(Revisits, D6_AreResolvedByRecordId) {
  WarcText originals;
  originals.Response("http://o.example/", "2004-01-01T00:00:00Z", "one");
  const std::string id = originals.last_capture();
  WarcText revisit;
  revisit.Revisit("http://r.example/", "2005-01-01T00:00:00Z", "what digest ever", "", "", id);
  const auto original = Resolve(originals, revisit);
  ASSERT_TRUE(original) << original.error().text;
  EXPECT_EQ(original->row.url, "http://o.example/");
}

TEST_F(Revisits, D6_AreResolvedByDigestAlone) {
  WarcText originals;
  originals.Response("http://o.example/1", "2004-01-01T00:00:00Z", "one")
      .Response("http://o.example/2", "2004-01-01T00:00:00Z", "same");
  WarcText revisit;
  revisit.Revisit("http://r.example/", "2005-01-01T00:00:00Z", "same");
  const auto original = Resolve(originals, revisit);
  ASSERT_TRUE(original) << original.error().text;
  EXPECT_EQ(original->row.url, "http://o.example/2");
}

TEST_F(Revisits, D6_ChainsEnd) {
  WarcText originals;
  originals.Revisit("http://o.example/1", "2004-01-02T00:00:00Z", "same", "http://o.example/2",
                    "2004-01-01T00:00:00Z");
  originals.Response("http://o.example/2", "2004-01-01T00:00:00Z", "same");
  WarcText revisit;
  revisit.Revisit("http://r.example/", "2005-01-01T00:00:00Z", "same", "http://o.example/1",
                  "2004-01-02T00:00:00Z");
  const auto original = Resolve(originals, revisit);
  ASSERT_TRUE(original) << original.error().text;
  EXPECT_EQ(original->row.url, "http://o.example/2");
}

TEST_F(Revisits, D6_NotModifiedIsNotWhateverElseHasNoPayload) {
  WarcText originals;
  originals.Response("http://o.example/", "2004-01-01T00:00:00Z", "", "text/html", 301);
  WarcText revisit;
  revisit.NotModified("http://r.example/", "2005-01-01T00:00:00Z");
  const auto original = Resolve(originals, revisit);
  ASSERT_FALSE(original) << original->row.url;
  EXPECT_EQ(original.error().code, ErrorCode::kNotFound);
}

TEST_F(Revisits, D6_NotModifiedIsThePageAndNoRedirectToIt) {
  WarcText originals;
  originals.Response("https://r.example/", "2004-01-01T00:00:00Z", "page");
  originals.Response("http://r.example/", "2004-01-02T00:00:00Z", "", "text/html", 301);
  WarcText revisit;
  revisit.NotModified("https://r.example/", "2005-01-01T00:00:00Z");
  const auto original = Resolve(originals, revisit);
  ASSERT_TRUE(original) << original.error().text;
  EXPECT_EQ(original->row.url, "https://r.example/");
}

TEST_F(Revisits, D6_NotModifiedIsWhatARevisitSaysThatWasThereBefore) {
  WarcText originals;
  originals.Response("http://r.example/", "2001-01-01T00:00:00Z", "one");
  originals.Response("http://r.example/", "2002-01-01T00:00:00Z", "two");
  originals.Revisit("http://r.example/", "2003-01-01T00:00:00Z", "one");
  WarcText revisit;
  revisit.NotModified("http://r.example/", "2005-01-01T00:00:00Z");
  const auto original = Resolve(originals, revisit);
  ASSERT_TRUE(original) << original.error().text;
  EXPECT_EQ(FormatDigits14(original->row.time), "20010101000000");
}

// A crawler that comes each day, and names what it found the day before.
enum class Naming { kByDateAndDigest, kByDate, kByRecordId, kAsNotModified };
class LongChains : public Revisits, public ::testing::WithParamInterface<Naming> {};

TEST_P(LongChains, D6_EndAtTheirOriginal) {
  constexpr int kRevisits = 100;
  const std::string url = "http://r.example/";
  const auto day = [](int i) {
    return fmt::format("2004-{:02}-{:02}T00:00:00Z", 1 + i / 28, 1 + i % 28);
  };
  WarcText originals;
  originals.Response(url, day(0), "same");
  const auto add = [&](WarcText& text, const std::string& date, const std::string& of_date,
                       const std::string& of_id) {
    switch (GetParam()) {
      case Naming::kByDateAndDigest:
        text.Revisit(url, date, "same", url, of_date);
        break;
      case Naming::kByDate:
        text.Revisit(url, date, "", url, of_date);
        break;
      case Naming::kByRecordId:
        text.Revisit(url, date, "", "", "", of_id);
        break;
      case Naming::kAsNotModified:
        text.NotModified(url, date, of_date);
        break;
    }
  };
  for (int i = 1; i < kRevisits; ++i) add(originals, day(i), day(i - 1), originals.last_capture());
  WarcText last(record::Compression::kGzip, 8);
  add(last, "2005-01-01T00:00:00Z", day(kRevisits - 1), originals.last_capture());
  const auto original = Resolve(originals, last);
  ASSERT_TRUE(original) << original.error().text;
  EXPECT_EQ(FormatDigits14(original->row.time), "20040101000000");
  const auto trouble = FindUnresolved(archive_->View(), 1, {});
  ASSERT_TRUE(trouble) << trouble.error().text;
  EXPECT_EQ(trouble->missing.captures, 0u);
}

INSTANTIATE_TEST_SUITE_P(ByEachName, LongChains,
                         ::testing::Values(Naming::kByDateAndDigest, Naming::kByDate,
                                           Naming::kByRecordId, Naming::kAsNotModified));

TEST_F(Revisits, D6_RoundsEndWithAnError) {
  WarcText originals;
  originals.Revisit("http://o.example/1", "2004-01-02T00:00:00Z", "gone", "http://r.example/",
                    "2005-01-01T00:00:00Z");
  WarcText revisit;
  revisit.Revisit("http://r.example/", "2005-01-01T00:00:00Z", "gone", "http://o.example/1",
                  "2004-01-02T00:00:00Z");
  const auto original = Resolve(originals, revisit);
  ASSERT_FALSE(original);
  EXPECT_EQ(original.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(original.error().text,
            "http://r.example/ of 2005-01-01T00:00:00Z repeats a capture that is not in this "
            "archive");
}

}  // namespace
}  // namespace stele::archive
