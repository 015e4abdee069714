// What opening an archive for writing does about containers that cannot be read, and what readers
// see meanwhile.
#include <gtest/gtest.h>

#include "archive/test_archive.h"
#include "archive/verify.h"
#include "io/fault_file_system.h"
#include "util/test_stride.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::Lines;
using testing::PutFile;
using testing::WarcText;
using Rebuild = ArchiveWriter::Rebuild;

// An archive of three containers with a capture each.
class Reindexing : public ::testing::Test {
 protected:
  void SetUp() override { Make(fs_); }

  static void Make(io::FileSystem& fs) {
    ArchiveLab lab(fs);
    ASSERT_TRUE(lab.Create());
    for (int i = 1; i <= 3; ++i) Import(fs, i);
  }
  static void Import(io::FileSystem& fs, int i) {
    const std::string name = fmt::format("{}.warc.gz", i);
    PutFile(fs, name,
            WarcText(record::Compression::kGzip, static_cast<std::uint64_t>(i))
                .Response(fmt::format("http://s{}.example/", i), "2004-05-30T01:02:03Z", name)
                .bytes());
    ArchiveLab lab(fs);
    auto archive = lab.Open();
    ASSERT_TRUE(archive) << archive.error().text;
    const auto run = (*archive)->BeginRun("import", "");
    ASSERT_TRUE(run);
    ASSERT_TRUE(ImportFile(**archive, *run, name, {}));
    ASSERT_TRUE((*archive)->EndRun(*run));
  }

  // How many captures readers see; -1: they are refused.
  static int Listed(io::FileSystem& fs) {
    const auto reader = ArchiveReader::Open(fs, "a");
    return reader ? static_cast<int>(Lines((*reader)->View()).size()) : -1;
  }
  // The numbers of the containers that a writer names when it opens the archive.
  std::vector<std::uint32_t> Named(Rebuild rebuild = Rebuild::kNothing) {
    ArchiveLab lab(fs_);
    const auto archive = lab.Open(rebuild);
    if (!archive) {
      ADD_FAILURE() << archive.error().text;
      return {};
    }
    std::vector<std::uint32_t> numbers;
    for (const auto& [number, error] : (*archive)->index_failures()) {
      EXPECT_NE(error.text.find("stele reindex"), std::string::npos) << error.text;
      numbers.push_back(number);
    }
    return numbers;
  }
  void Rename(const std::string& from, const std::string& to) { ASSERT_TRUE(fs_.Rename(from, to)); }
  void RemoveAll(const std::string& directory) {
    const std::vector<std::string> names = *fs_.List(directory);
    for (const std::string& name : names) {
      const std::string path = directory + '/' + name;
      if (fs_.List(path)) {
        RemoveAll(path);
      } else {
        ASSERT_TRUE(fs_.Remove(path));
      }
    }
    ASSERT_TRUE(fs_.Remove(directory));
  }
  void Flip(const std::string& path, std::size_t at) {
    std::string bytes = *io::ReadFile(fs_, path);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    PutFile(fs_, path, bytes);
  }

  using Numbers = std::vector<std::uint32_t>;
  const std::string second_ = "a/volumes/main/00000002/2.warc.gz";
  io::MemoryFileSystem fs_;
};

TEST_F(Reindexing, W15_AContainerThatIsLostIsNamedAndListedWithTheRowsThatItHad) {
  Rename(second_, "away");
  EXPECT_EQ(Named(Rebuild::kCatalogAndRows), Numbers{2});
  EXPECT_EQ(Listed(fs_), 3);
  EXPECT_EQ(Named(), Numbers{});
  Rename("away", second_);
  EXPECT_EQ(Named(Rebuild::kCatalogAndRows), Numbers{});
  EXPECT_EQ(Listed(fs_), 3);
}

TEST_F(Reindexing, W15_AContainerWithoutRowsThatIsLostCostsOnlyItsOwnCaptures) {
  for (const Rebuild rebuild : {Rebuild::kCatalog, Rebuild::kCatalogAndRows, Rebuild::kNothing}) {
    if (rebuild == Rebuild::kNothing) RemoveAll("a/catalog");
    Rename(second_, "away");
    ASSERT_TRUE(fs_.Remove("a/volumes/main/00000002.rows"));
    EXPECT_EQ(Named(rebuild), Numbers{2});
    EXPECT_EQ(Listed(fs_), 2);
    // Others come meanwhile, and each writer says what is missing, until it is there again.
    EXPECT_EQ(Named(), Numbers{2});
    Rename("away", second_);
    EXPECT_EQ(Named(), Numbers{});
    EXPECT_EQ(Listed(fs_), 3);
  }
}

TEST_F(Reindexing, P3_AFlippedBitCostsNoOtherContainerAndNoRowsThatAreThere) {
  const std::string rows = *io::ReadFile(fs_, "a/volumes/main/00000002.rows");
  for (std::size_t at = 20; at < io::ReadFile(fs_, second_)->size(); at += 23) {
    Flip(second_, at);
    EXPECT_EQ(Named(Rebuild::kCatalogAndRows), Numbers{2}) << at;
    EXPECT_EQ(Listed(fs_), 3) << at;
    EXPECT_EQ(*io::ReadFile(fs_, "a/volumes/main/00000002.rows"), rows) << at;
    Flip(second_, at);
  }
}

// Each failure of the disk may be a power cut.
class ReindexingCrash : public Reindexing, public ::testing::WithParamInterface<bool> {
 protected:
  // An archive of which something was taken down, with index files and rows in a log.
  static void MakeIndexed(io::FileSystem& fs) {
    Make(fs);
    ArchiveLab lab(fs);
    ASSERT_TRUE(lab.Open(Rebuild::kCatalog));
    Import(fs, 4);
    ASSERT_TRUE((*lab.Open())->Remove({{200405, 1}}, "because", "a test"));
  }
  static std::vector<std::string> Answers(io::FileSystem& fs) {
    const auto reader = ArchiveReader::Open(fs, "a");
    if (!reader) return {reader.error().text};
    EXPECT_TRUE(
        Verify((*reader)->View(), {}, [](const std::string& defect) { ADD_FAILURE() << defect; }));
    return Lines((*reader)->View());
  }
};

TEST_P(ReindexingCrash, W15_WhatAWriterThatFailsToOpenDidNotTakeIsTakenByTheNext) {
  for (const Rebuild rebuild : {Rebuild::kNothing, Rebuild::kCatalog, Rebuild::kCatalogAndRows}) {
    bool opened = false;
    for (int fail_at = 1; !opened && !HasFailure(); fail_at += kTestStride) {
      SCOPED_TRACE(fail_at);
      io::MemoryFileSystem disk;
      MakeIndexed(disk);
      const std::vector<std::string> before = Answers(disk);
      ASSERT_EQ(before.size(), 3u);
      if (rebuild == Rebuild::kNothing) PutFile(disk, "a/catalog/applied", "damaged");
      disk.SyncAll();
      {
        io::FaultFileSystem fs(disk, fail_at);
        ArchiveLab lab(fs);
        opened = lab.Open(rebuild).ok();
      }
      io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
      if (GetParam()) disk.Crash(dice);
      // Readers see all of it, or are told that the catalog is not complete.
      const bool is_refused = Listed(disk) == -1;
      EXPECT_TRUE(is_refused ? rebuild == Rebuild::kNothing : Answers(disk) == before);
      {
        ArchiveLab lab(disk);
        const auto archive = lab.Open();
        ASSERT_TRUE(archive) << archive.error().text;
        EXPECT_TRUE((*archive)->index_failures().empty());
        EXPECT_TRUE((*archive)->ledger_failures().empty());
      }
      EXPECT_EQ(Answers(disk), before);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutPowerCut, ReindexingCrash, ::testing::Bool());

TEST_F(Reindexing, W15_RowsThatAreLostAreMadeByTheNextWriter) {
  const std::string path = "a/volumes/main/00000002.rows";
  const std::string rows = *io::ReadFile(fs_, path);
  ASSERT_TRUE(fs_.Remove(path));
  EXPECT_EQ(Named(), Numbers{});
  EXPECT_EQ(*io::ReadFile(fs_, path), rows);
}

// As a disk has it, over which an import was killed anywhere.
TEST_F(Reindexing, W15_WhatAnInterruptedImportLeftIsNoDefect) {
  bool finished = false;
  std::uint64_t unfinished = 0;
  for (int fail_at = 1; !finished && !HasFailure(); ++fail_at) {
    SCOPED_TRACE(fail_at);
    io::MemoryFileSystem disk;
    Make(disk);
    PutFile(disk, "4.warc.gz",
            WarcText(record::Compression::kGzip, 4)
                .Response("http://s4.example/", "2004-05-30T01:02:03Z", "four")
                .bytes());
    {
      io::FaultFileSystem fs(disk, fail_at);
      ArchiveLab lab(fs);
      auto archive = lab.Open();
      finished = archive && (*archive)->BeginRun("import", "") &&
                 ImportFile(**archive, 4, "4.warc.gz", {}) && (*archive)->EndRun(4);
    }
    auto reader = ArchiveReader::Open(disk, "a");
    ASSERT_TRUE(reader) << reader.error().text;
    VerifyOptions options;
    options.applied = (*reader)->applied().ledger_end;
    const auto outcome = Verify((*reader)->View(), options,
                                [](const std::string& defect) { ADD_FAILURE() << defect; });
    ASSERT_TRUE(outcome);
    unfinished += outcome->unfinished;
    EXPECT_GE(Listed(disk), 3);
  }
  EXPECT_GT(unfinished, 0u);
}

TEST_F(Reindexing, P3_AFlippedByteInTheLastEventIsRefusedBeforeAnythingIsCut) {
  {
    ArchiveLab lab(fs_);
    auto archive = lab.Open();
    Hold hold;
    hold.reason = "case";
    hold.what = catalog::SelectAll();
    ASSERT_TRUE((*archive)->AddHold(hold));
  }
  const std::string path = "a/ledger/ledger.warc";
  const std::string good = *io::ReadFile(fs_, path);
  int refused = 0;
  for (std::size_t at = good.rfind("WARC/1.1"); at < good.size(); ++at) {
    SCOPED_TRACE(at);
    Flip(path, at);
    const std::string bad = *io::ReadFile(fs_, path);
    const auto reader = ArchiveReader::Open(fs_, "a");
    ArchiveLab lab(fs_);
    // A flip may be of no matter, in a field that nobody reads.
    if (reader) {
      EXPECT_EQ((*reader)->View().holdings().holds().size(), 1u);
    } else {
      ++refused;
      EXPECT_NE(reader.error().text.find("restore it from a backup"), std::string::npos);
      for (const Rebuild rebuild : {Rebuild::kNothing, Rebuild::kCatalog}) {
        const auto archive = lab.Open(rebuild);
        ASSERT_FALSE(archive);
        EXPECT_EQ(archive.error().text, reader.error().text);
      }
      EXPECT_EQ(*io::ReadFile(fs_, path), bad);
      EXPECT_FALSE(*fs_.Exists(path + ".torn"));
    }
    PutFile(fs_, path, good);
  }
  EXPECT_GT(refused, 100);
}

TEST_F(Reindexing, ReadersRefuseALedgerThatIsOlderThanTheCatalog) {
  const std::string path = "a/ledger/ledger.warc";
  const std::string bytes = *io::ReadFile(fs_, path);
  PutFile(fs_, path, bytes.substr(0, bytes.rfind("WARC/1.1")));
  const auto reader = ArchiveReader::Open(fs_, "a");
  ASSERT_FALSE(reader);
  const std::size_t restore = reader.error().text.find("Restore the newer one");
  ASSERT_NE(restore, std::string::npos) << reader.error().text;
  EXPECT_NE(reader.error().text.find("stele reindex", restore), std::string::npos);
  EXPECT_EQ(Named(Rebuild::kCatalog), Numbers{});
  EXPECT_EQ(Listed(fs_), 3);
}

TEST(ReindexingNothing, AnArchiveWithoutContainersCanBeRead) {
  io::MemoryFileSystem fs;
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  ASSERT_TRUE(lab.Open());
  ASSERT_TRUE(lab.Open(Rebuild::kCatalog));
  const auto reader = ArchiveReader::Open(fs, "a");
  ASSERT_TRUE(reader) << reader.error().text;
  EXPECT_TRUE(Lines((*reader)->View()).empty());
}

TEST_F(Reindexing, LeavesNothingOfTheCatalogThatWasThereAndNothingBesideIt) {
  EXPECT_EQ(Named(Rebuild::kCatalog), Numbers{});
  EXPECT_FALSE(*fs_.Exists("a/catalog/new"));
  const std::vector<std::string> runs = *fs_.List("a/catalog/location");
  EXPECT_EQ(runs.size(), 1u);
}

}  // namespace
}  // namespace stele::archive
