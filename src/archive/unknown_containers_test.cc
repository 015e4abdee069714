// A ledger that is missing is not made anew, and one that is older than what is stored is found
// out: nothing is forgotten in silence, nothing is deleted, and the newer ledger brings all back.
#include "archive/unknown_containers.h"

#include <gtest/gtest.h>

#include "archive/durable_file.h"
#include "archive/run_writer.h"
#include "archive/test_archive.h"
#include "archive/test_crawl.h"
#include "archive/verify.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::Fetched;
using testing::Lines;
using testing::PutFile;
using testing::WarcText;
using Rebuild = ArchiveWriter::Rebuild;

constexpr Rebuild kRebuilds[] = {Rebuild::kNothing, Rebuild::kCatalog, Rebuild::kCatalogAndRows};

// An archive of two containers with a capture each.
class OldLedger : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(lab_.Create());
    for (int i = 1; i <= 2; ++i) Import(i);
    before_ = Listed();
    ledger_ = *io::ReadFile(fs_, path_);
  }

  void Import(int i, const ImportOptions& options = {}) {
    const std::string name = fmt::format("{}.warc.gz", i);
    PutFile(fs_, name,
            WarcText(record::Compression::kGzip, static_cast<std::uint64_t>(i))
                .Response(fmt::format("http://s{}.example/", i), "2004-05-30T01:02:03Z", name)
                .bytes());
    auto archive = lab_.Open();
    ASSERT_TRUE(archive) << archive.error().text;
    const auto run = (*archive)->BeginRun("import", "");
    ASSERT_TRUE(run);
    ASSERT_TRUE(ImportFile(**archive, *run, name, options));
    ASSERT_TRUE((*archive)->EndRun(*run));
  }
  std::vector<std::string> Listed() {
    const auto reader = ArchiveReader::Open(fs_, "a");
    if (!reader) return {reader.error().text};
    return Lines((*reader)->View());
  }
  std::vector<std::string> Defects() {
    const auto reader = ArchiveReader::Open(fs_, "a");
    if (!reader) return {reader.error().text};
    std::vector<std::string> defects;
    EXPECT_TRUE(Verify((*reader)->View(), {},
                       [&](const std::string& defect) { defects.push_back(defect); }));
    return defects;
  }
  // What a writer that makes the catalog anew says of the ledger.
  std::vector<std::string> Reindex(Rebuild rebuild = Rebuild::kCatalog) {
    const auto archive = lab_.Open(rebuild);
    if (!archive) return {archive.error().text};
    std::vector<std::string> said;
    for (const Error& failure : (*archive)->ledger_failures()) said.push_back(failure.text);
    return said;
  }
  void ExpectRefused(const std::string& advice) {
    for (const Rebuild rebuild : kRebuilds) {
      const auto archive = lab_.Open(rebuild);
      ASSERT_FALSE(archive);
      EXPECT_TRUE(archive.error().text.starts_with(path_)) << archive.error().text;
      EXPECT_NE(archive.error().text.find(advice), std::string::npos) << archive.error().text;
    }
  }

  const std::string path_ = "a/ledger/ledger.warc";
  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  std::vector<std::string> before_;  // what is listed
  std::string ledger_;
};

TEST_F(OldLedger, W15_AMissingLedgerIsNotMadeAnew) {
  for (const bool has_catalog : {true, false}) {
    SCOPED_TRACE(has_catalog);
    if (!has_catalog) {
      ASSERT_TRUE(RemoveTree(fs_, "a/catalog"));
    }
    ASSERT_TRUE(RemoveTree(fs_, "a/ledger"));
    ExpectRefused("the ledger is missing");
    EXPECT_FALSE(*fs_.Exists("a/ledger"));
    EXPECT_TRUE(*fs_.Exists("a/volumes/main/00000001.rows"));
    if (has_catalog) {
      EXPECT_TRUE(Listed()[0].starts_with(path_)) << Listed()[0];
    }
    ASSERT_TRUE(fs_.MakeDirectory("a/ledger"));
    PutFile(fs_, path_, ledger_);
    EXPECT_EQ(Reindex(), std::vector<std::string>());
    EXPECT_EQ(Listed(), before_);
    EXPECT_EQ(Defects(), std::vector<std::string>());
  }
}

TEST_F(OldLedger, P3_ALedgerOfWhichNothingCanBeReadIsNotBegunAnew) {
  ASSERT_TRUE(RemoveTree(fs_, "a/catalog"));
  for (const std::string& bytes : {std::string(), std::string(ledger_.size(), '\0')}) {
    PutFile(fs_, path_, bytes);
    ExpectRefused("bring it back from a backup");
    EXPECT_EQ(*io::ReadFile(fs_, path_), bytes);
    EXPECT_FALSE(*fs_.Exists(path_ + ".torn"));
  }
}

TEST_F(OldLedger, W15_AMissingLedgerOfFilesInPlaceIsNotMadeAnew) {
  Import(3, {.in_place = true, .origin_sha256 = "", .progress = {}});
  for (const char* path :
       {"a/catalog", "a/ledger", "a/volumes/main/00000001", "a/volumes/main/00000001.rows",
        "a/volumes/main/00000002", "a/volumes/main/00000002.rows"}) {
    ASSERT_TRUE(RemoveTree(fs_, path));
  }
  ExpectRefused("the ledger is missing");
  EXPECT_TRUE(*fs_.Exists("a/volumes/main/00000003.rows"));
}

TEST_F(OldLedger, W15_AContainerThatItDoesNotKnowIsNamedAndComesBackWithTheNewerOne) {
  Import(3);
  {
    auto archive = lab_.Open();
    ASSERT_TRUE((*archive)->Remove({{200405, 0}}, "because", "a test"));
    Hold hold;
    hold.reason = "case";
    hold.what = catalog::SelectAll();
    ASSERT_TRUE((*archive)->AddHold(hold));
  }
  const std::vector<std::string> listed = Listed();
  const std::string newer = *io::ReadFile(fs_, path_);
  const std::string rows = *io::ReadFile(fs_, "a/volumes/main/00000003.rows");
  const std::string file = "a/volumes/main/00000003/3.warc.gz";
  for (const Rebuild rebuild : {Rebuild::kCatalog, Rebuild::kCatalogAndRows}) {
    PutFile(fs_, path_, ledger_);
    // Who does not make the catalog anew is told what to restore, and changes nothing.
    const auto archive = lab_.Open();
    ASSERT_FALSE(archive);
    EXPECT_NE(archive.error().text.find("Restore the newer one"), std::string::npos);
    EXPECT_EQ(Listed()[0], archive.error().text);
    EXPECT_EQ(*io::ReadFile(fs_, "a/volumes/main/00000003.rows"), rows);

    const std::vector<std::string> said = Reindex(rebuild);
    ASSERT_EQ(said.size(), 2u);
    EXPECT_TRUE(said[0].starts_with("a/catalog knew more than a/ledger/ledger.warc")) << said[0];
    EXPECT_TRUE(said[1].starts_with(file + ": is not in a/ledger/ledger.warc")) << said[1];
    EXPECT_NE(said[1].find("restore the newer ledger"), std::string::npos) << said[1];
    EXPECT_EQ(Defects(), std::vector<std::string>{said[1]});
    EXPECT_EQ(Listed(), before_);
    EXPECT_EQ(*io::ReadFile(fs_, "a/volumes/main/00000003.rows"), rows);

    PutFile(fs_, path_, newer);
    EXPECT_EQ(Reindex(rebuild), std::vector<std::string>());
    EXPECT_EQ(Listed(), listed);
    EXPECT_EQ(Defects(), std::vector<std::string>());
  }
  EXPECT_EQ((*lab_.Open())->View().holdings().holds().size(), 1u);
}

// A backup of which the ledger was copied first.
TEST_F(OldLedger, W15_AContainerThatItDoesNotKnowIsNamedByEveryWriter) {
  Import(3);
  ASSERT_TRUE(RemoveTree(fs_, "a/catalog"));
  PutFile(fs_, path_, ledger_);
  for (const Rebuild rebuild : kRebuilds) {
    ASSERT_EQ(Reindex(rebuild).size(), 1u);
    EXPECT_EQ(Defects().size(), 1u);
  }
  EXPECT_TRUE(*fs_.Exists("a/volumes/main/00000003.rows"));
  // What comes meanwhile gets a number of its own.
  Import(4);
  EXPECT_TRUE(*fs_.Exists("a/volumes/main/00000004/4.warc.gz"));
  EXPECT_EQ(Listed().size(), 3u);
}

TEST_F(OldLedger, I7_ATakedownThatItDoesNotKnowIsNotUndoneInSilence) {
  ASSERT_TRUE((*lab_.Open())->Remove({{200405, 0}}, "because", "a test"));
  PutFile(fs_, path_, ledger_);
  const std::vector<std::string> said = Reindex();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("takedowns and holds that came since are forgotten"), std::string::npos)
      << said[0];
}

// It was copied while a crawl went on.
TEST_F(OldLedger, W15_AContainerThatGrewThenAndIsSealedNowStays) {
  std::string newer;
  {
    auto archive = lab_.Open();
    const Result<std::uint32_t> run = (*archive)->BeginRun("crawl", "");
    ASSERT_TRUE(run);
    RunWriter writer(**archive, *run, {});
    ASSERT_TRUE(writer.AppendAndWait(Fetched(1, "one")));
    ledger_ = *io::ReadFile(fs_, path_);
    ASSERT_TRUE(writer.AppendAndWait(Fetched(2, "two")));
    ASSERT_TRUE(writer.Finish());
    ASSERT_TRUE((*archive)->EndRun(*run));
    newer = *io::ReadFile(fs_, path_);
  }
  const std::vector<std::string> listed = Listed();
  ASSERT_EQ(listed.size(), 4u);
  const std::string file = "a/volumes/main/00000003/" + fs_.List("a/volumes/main/00000003")->at(0);
  const std::string bytes = *io::ReadFile(fs_, file);
  PutFile(fs_, path_, ledger_);
  for (int round = 0; round < 2; ++round) {  // the second has no catalog that knew more
    const std::vector<std::string> said = Reindex();
    ASSERT_EQ(said.size(), round == 0 ? 2u : 1u);
    EXPECT_TRUE(said.back().starts_with(file)) << said.back();
    EXPECT_EQ(Defects(), std::vector<std::string>{said.back()});
    EXPECT_EQ(*io::ReadFile(fs_, file), bytes);
  }
  PutFile(fs_, path_, newer);
  EXPECT_EQ(Reindex(), std::vector<std::string>());
  EXPECT_EQ(Listed(), listed);
  EXPECT_EQ(Defects(), std::vector<std::string>());
}

TEST_F(OldLedger, W15_WhatAWriterAddsMeanwhileIsNoDefect) {
  const auto reader = ArchiveReader::Open(fs_, "a");
  ASSERT_TRUE(reader);
  const ArchiveView view = (*reader)->View();
  Import(3);
  auto archive = lab_.Open();
  const Result<std::uint32_t> run = (*archive)->BeginRun("crawl", "");
  ASSERT_TRUE(run);
  RunWriter writer(**archive, *run, {});
  ASSERT_TRUE(writer.AppendAndWait(Fetched(1, "one")));
  EXPECT_TRUE(Verify(view, {}, [](const std::string& defect) { ADD_FAILURE() << defect; }));
  const ArchiveView growing = (*archive)->View();
  ASSERT_TRUE(writer.Finish());
  const auto unknown = FindUnknownContainers(fs_, (*archive)->layout(), growing.holdings());
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->size(), 1u);  // of the container that was sealed
  EXPECT_TRUE(unknown->at(0).IsIn((*archive)->View().holdings()));
}

TEST_F(OldLedger, W15_WhatAnInterruptedImportLeftIsRemovedAndNotNamed) {
  ASSERT_TRUE(fs_.MakeDirectory("a/volumes/main/00000003"));
  PutFile(fs_, "a/volumes/main/00000003/3.warc.gz.part", "half");
  ASSERT_TRUE(fs_.MakeDirectory("a/volumes/main/00000004"));
  PutFile(fs_, "a/volumes/main/00000005.rows", "rows of one in place");
  EXPECT_EQ(Defects(), std::vector<std::string>());
  EXPECT_EQ(Reindex(), std::vector<std::string>());
  EXPECT_EQ(fs_.List("a/volumes/main")->size(), 4u);
}

}  // namespace
}  // namespace stele::archive
