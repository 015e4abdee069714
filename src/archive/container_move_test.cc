// Containers in several volumes, in directories and on other machines, and on their way between
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/capture_text.h"
#include "archive/purge.h"
#include "archive/removal.h"
#include "archive/revisit_resolver.h"
#include "archive/run_writer.h"
#include "archive/test_archive.h"
#include "archive/test_crawl.h"
#include "archive/verify.h"
#include "io/fault_file_system.h"
#include "store/remote/connect.h"
#include "store/remote/test_service.h"
#include "util/test_stride.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using ::testing::HasSubstr;
using testing::Lines;
using testing::PutFile;
using testing::WarcText;

constexpr std::string_view kMay = "2004-05-01T10:00:00Z";
constexpr std::string_view kJune = "2004-06-01T10:00:00Z";

constexpr std::string_view kConnector = "a/connector.xml";

// An archive with the volumes main, other and far, which is served.
class Lab {
 public:
  explicit Lab(io::FileSystem& fs) : fs_(fs), lab_(fs) {}

  void Create(const std::vector<std::string>& volumes = {"main", "other", "far"}) {
    ArchiveConfig config;
    for (const std::string& name : volumes) {
      config.volumes.push_back({.name = name, .path = ""});
      if (name == "far") config.volumes.back().connector = "connector.xml";
    }
    ASSERT_TRUE(ArchiveWriter::Create(fs_, "a", config));
  }
  void Connect(std::uint16_t port) {
    PutFile(
        fs_, std::string(kConnector),
        fmt::format("<connector version=\"1\" epoch=\"1\"><volume name=\"v\" state=\"writable\" "
                    "depth=\"3\" host=\"127.0.0.1\" port=\"{}\"/></connector>",
                    port));
  }
  Result<std::unique_ptr<ArchiveWriter>> Open(
      ArchiveWriter::Rebuild rebuild = ArchiveWriter::Rebuild::kNothing) {
    return lab_.Open(rebuild);
  }

 private:
  io::FileSystem& fs_;
  ArchiveLab lab_;
};

Result<ImportOutcome> Import(ArchiveWriter& archive, io::FileSystem& fs, const std::string& name,
                             const std::string& bytes) {
  PutFile(fs, name, bytes);
  Result<std::uint32_t> run = archive.BeginRun("import", "");
  if (!run) return run.error();
  Result<ImportOutcome> outcome = ImportFile(archive, *run, name, {});
  if (!outcome) return outcome;
  if (const Status ended = archive.EndRun(*run); !ended) return ended.error();
  return outcome;
}

std::string MayFile() {
  return WarcText(record::Compression::kGzip, 1)
      .Response("http://a.example/", std::string(kMay), "may")
      .Response("http://a.example/b", std::string(kMay), std::string(300'000, 'b'))
      .bytes();
}
std::string JuneFile() {
  return WarcText(record::Compression::kGzip, 2)
      .Revisit("http://a.example/", std::string(kJune), "may", "http://a.example/",
               std::string(kMay))
      .bytes();
}

int Defects(const ArchiveView& view, std::string* said = nullptr) {
  const auto outcome = Verify(view, {}, [&](const std::string& text) {
    if (said != nullptr) *said += text + '\n';
  });
  EXPECT_TRUE(outcome);
  return outcome ? static_cast<int>(outcome->defects) : -1;
}

// The payload of a capture, of its original where it is a revisit.
Result<std::string> PayloadOf(const ArchiveView& view, const catalog::CaptureId& id) {
  Result<catalog::HeldCapture> held = view.catalog().Get(id);
  if (!held) return held.error();
  RevisitResolver resolver(view);
  if ((held->row.flags & catalog::kRevisit) != 0) held = resolver.Resolve(*held);
  if (!held) return held.error();
  auto record = view.Open(held->row);
  if (!record) return record.error();
  std::string block;
  for (;;) {
    const Result<std::string_view> piece = (*record)->Read();
    if (!piece) return piece.error();
    if (piece->empty()) return block.substr(block.find("\r\n\r\n") + 4);
    block += *piece;
  }
}

constexpr catalog::CaptureId kMayPage{200405, 0};
constexpr catalog::CaptureId kMayOther{200405, 1};
constexpr catalog::CaptureId kJunePage{200406, 0};

TEST(ContainerMoves, I6_AContainerMovesBetweenDirectories) {
  io::MemoryFileSystem fs;
  Lab lab(fs);
  lab.Create();
  auto archive = lab.Open();
  ASSERT_TRUE(archive) << archive.error().text;
  ASSERT_TRUE(Import(**archive, fs, "may.warc.gz", MayFile()));
  ASSERT_TRUE(Import(**archive, fs, "june.warc.gz", JuneFile()));
  const std::vector<std::string> lines = Lines((*archive)->View());

  const Status moved = (*archive)->Move(1, "other");
  ASSERT_TRUE(moved) << moved.error().text;
  EXPECT_EQ(*io::ReadFile(fs, "a/volumes/other/00000001/may.warc.gz"), MayFile());
  EXPECT_FALSE(*fs.Exists("a/volumes/main/00000001"));
  EXPECT_FALSE(*fs.Exists("a/volumes/main/00000001.rows"));
  EXPECT_TRUE((*archive)->Move(1, "other"));  // it is there
  EXPECT_EQ(Lines((*archive)->View()), lines);
  EXPECT_EQ(*PayloadOf((*archive)->View(), kJunePage), "may");  // the original is in another volume
  EXPECT_EQ(Defects((*archive)->View()), 0);

  EXPECT_EQ((*archive)->Move(1, "nowhere").error().code, ErrorCode::kNotFound);
  EXPECT_EQ((*archive)->Move(9, "other").error().code, ErrorCode::kNotFound);
  archive->reset();
  archive = lab.Open(ArchiveWriter::Rebuild::kCatalogAndRows);
  ASSERT_TRUE(archive) << archive.error().text;
  EXPECT_EQ(Lines((*archive)->View()), lines);
  EXPECT_EQ(Defects((*archive)->View()), 0);
}

TEST(ContainerMoves, I6_WhatIsDamagedStaysWhereItIs) {
  io::MemoryFileSystem fs;
  Lab lab(fs);
  lab.Create();
  auto archive = lab.Open();
  ASSERT_TRUE(Import(**archive, fs, "may.warc.gz", MayFile()));
  PutFile(fs, "a/volumes/main/00000001/may.warc.gz", "x" + MayFile().substr(1));
  const Status moved = (*archive)->Move(1, "other");
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ((*archive)->View().holdings().Find(1)->volume, "main");
  EXPECT_TRUE((*archive)->View().holdings().moves().empty());
  EXPECT_FALSE(*fs.Exists("a/volumes/other/00000001"));
  EXPECT_FALSE(*fs.Exists("a/volumes/other/00000001.rows"));
}

TEST(ContainerMoves, I6_NothingIsRemovedOnTheWordOfAnOldLedger) {
  io::MemoryFileSystem fs;
  Lab lab(fs);
  lab.Create();
  auto archive = lab.Open();
  ASSERT_TRUE(Import(**archive, fs, "may.warc.gz", MayFile()));
  const std::string ledger = *io::ReadFile(fs, "a/ledger/ledger.warc");
  ASSERT_TRUE((*archive)->Move(1, "other"));
  archive->reset();
  PutFile(fs, "a/ledger/ledger.warc", ledger);
  archive = lab.Open(ArchiveWriter::Rebuild::kCatalogAndRows);
  EXPECT_EQ(*io::ReadFile(fs, "a/volumes/other/00000001/may.warc.gz"), MayFile());
}

// Whatever fails, a container is in one volume, whole, and the archive fits together.
class MoveCrash : public ::testing::TestWithParam<bool> {};

TEST_P(MoveCrash, I6_AMoveIsFinishedOrUndoneWhicheverOperationFails) {
  for (int fail_at = 1;; fail_at += kTestStride) {
    SCOPED_TRACE(fail_at);
    io::MemoryFileSystem disk;
    Lab lab(disk);
    lab.Create();
    {
      auto archive = lab.Open();
      ASSERT_TRUE(Import(**archive, disk, "may.warc.gz", MayFile()));
    }
    disk.SyncAll();
    bool moved = false;
    {
      io::FaultFileSystem fs(disk, fail_at);
      Lab failing(fs);
      auto archive = failing.Open();
      moved = archive && (*archive)->Move(1, "other");
    }
    io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
    if (GetParam()) disk.Crash(dice);
    auto archive = lab.Open();
    ASSERT_TRUE(archive) << archive.error().text;
    const ArchiveView view = (*archive)->View();
    EXPECT_TRUE(view.holdings().moves().empty());
    EXPECT_EQ(*PayloadOf(view, kMayPage), "may");
    EXPECT_EQ(Defects(view), 0);
    const std::string volume = view.holdings().Find(1)->volume;
    EXPECT_TRUE(!moved || volume == "other");
    const std::string elsewhere = volume == "main" ? "other" : "main";
    EXPECT_FALSE(*disk.Exists("a/volumes/" + elsewhere + "/00000001"));
    EXPECT_FALSE(*disk.Exists("a/volumes/" + elsewhere + "/00000001.rows"));
    if (HasFailure() || moved) break;
  }
}

TEST_P(MoveCrash, I6_AStoreHoldsNothingThatNobodyKnowsOf) {
  for (int fail_at = 1;; fail_at += kTestStride) {
    SCOPED_TRACE(fail_at);
    store::ServedVolume served("v");
    io::MemoryFileSystem disk;
    Lab lab(disk);
    lab.Create();
    lab.Connect(served.port());
    {
      auto archive = lab.Open();
      ASSERT_TRUE(Import(**archive, disk, "may.warc.gz", MayFile()));
    }
    disk.SyncAll();
    bool moved = false;
    {
      io::FaultFileSystem fs(disk, fail_at);
      Lab failing(fs);
      auto archive = failing.Open();
      moved = archive && (*archive)->Move(1, "far") && (*archive)->Move(1, "main") &&
              (*archive)->Move(1, "far");
    }
    io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
    if (GetParam()) disk.Crash(dice);
    auto archive = lab.Open();
    ASSERT_TRUE(archive) << archive.error().text;
    EXPECT_FALSE((*archive)->delivery_failure());
    const ArchiveView view = (*archive)->View();
    EXPECT_TRUE(view.holdings().moves().empty());
    EXPECT_TRUE(view.holdings().departures().empty());
    EXPECT_EQ(*PayloadOf(view, kMayPage), "may");
    EXPECT_EQ(Defects(view), 0);
    const bool is_far = view.holdings().Find(1)->volume == "far";
    EXPECT_EQ(served.volume().UsageOf("stele")->references, is_far ? 1u : 0u);
    EXPECT_EQ(*disk.Exists("a/volumes/main/00000001/may.warc.gz"), !is_far);
    EXPECT_FALSE(*disk.Exists("a/volumes/far/00000001"));
    if (HasFailure() || moved) break;
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutPowerCut, MoveCrash, ::testing::Bool());

class RemoteContainers : public ::testing::Test {
 protected:
  RemoteContainers() : served_("v"), lab_(fs_) {}

  void OpenFar() {
    lab_.Create({"far", "main"});
    lab_.Connect(served_.port());
    auto archive = lab_.Open();
    ASSERT_TRUE(archive) << archive.error().text;
    archive_ = *std::move(archive);
  }
  void Live() {
    served_.Live();
    lab_.Connect(served_.port());
  }
  // Imports while the server is dead; the file gets there, but nobody here hears of that.
  void ImportUnheard() {
    OpenFar();
    served_.Die();
    ASSERT_TRUE(Import(*archive_, fs_, "may.warc.gz", MayFile()));
    const std::string operation = archive_->View().holdings().moves().at(1).operation;
    Live();
    const auto store = store::ConnectFile(fs_, std::string(kConnector), {});
    ASSERT_TRUE(store) << store.error().text;
    ASSERT_TRUE(store->instance->Store(MayFile(), {.operation = {"stele", operation}}));
    served_.Die();
    EXPECT_EQ(References(), 1u);
  }
  std::uint64_t References() { return served_.volume().UsageOf("stele")->references; }

  store::ServedVolume served_;
  io::MemoryFileSystem fs_;
  Lab lab_;
  std::unique_ptr<ArchiveWriter> archive_;
};

TEST_F(RemoteContainers, W15_ImportedFilesAreContentsOfTheStoreBitForBit) {
  OpenFar();
  ASSERT_TRUE(Import(*archive_, fs_, "may.warc.gz", MayFile()));
  const Container& container = *archive_->View().holdings().Find(1);
  EXPECT_EQ(container.volume, "far");
  const auto key = store::ContentKey::Parse(container.key);
  ASSERT_TRUE(key) << container.key;
  EXPECT_EQ(*store::ReadAll(served_.volume().Retrieve(*key)), MayFile());
  EXPECT_EQ(served_.volume().Stat(*key)->compression, "identity");
  EXPECT_FALSE(*fs_.Exists("a/volumes/far/00000001"));
  EXPECT_TRUE(*fs_.Exists("a/volumes/far/00000001.rows"));
  EXPECT_EQ(*PayloadOf(archive_->View(), kMayPage), "may");
  EXPECT_EQ(*PayloadOf(archive_->View(), kMayOther), std::string(300'000, 'b'));
  EXPECT_EQ(Defects(archive_->View()), 0);
  // The same file again changes nothing.
  EXPECT_FALSE(Import(*archive_, fs_, "again.warc.gz", MayFile())->is_new);
  EXPECT_EQ(References(), 1u);
  // Rows and catalog are made anew from what is there.
  archive_.reset();
  auto rebuilt = lab_.Open(ArchiveWriter::Rebuild::kCatalogAndRows);
  ASSERT_TRUE(rebuilt) << rebuilt.error().text;
  EXPECT_EQ(Defects((*rebuilt)->View()), 0);
}

TEST_F(RemoteContainers, W15_ReadersFindThemToo) {
  OpenFar();
  ASSERT_TRUE(Import(*archive_, fs_, "may.warc.gz", MayFile()));
  auto reader = ArchiveReader::Open(fs_, "a");
  ASSERT_TRUE(reader) << reader.error().text;
  const int before = served_.requests();
  EXPECT_EQ(*PayloadOf((*reader)->View(), kMayPage), "may");
  EXPECT_EQ(*PayloadOf((*reader)->View(), kMayPage), "may");
  EXPECT_EQ(served_.requests() - before, 1);  // one piece of the file, once
}

TEST_F(RemoteContainers, W15_ADeadServerCostsOnlyWhatIsThere) {
  OpenFar();
  ASSERT_TRUE(Import(*archive_, fs_, "may.warc.gz", MayFile()));
  ASSERT_TRUE(Import(*archive_, fs_, "june.warc.gz", JuneFile()));
  ASSERT_TRUE(archive_->Move(2, "main"));
  archive_.reset();
  served_.Die();
  auto reader = ArchiveReader::Open(fs_, "a");
  ASSERT_TRUE(reader) << reader.error().text;
  const ArchiveView view = (*reader)->View();
  EXPECT_EQ(Lines(view).size(), 3u);  // nothing is read but the catalog
  const Result<std::string> page = PayloadOf(view, kMayPage);
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().text,
              HasSubstr("volume far of the archive: volume v at http://127.0.0.1"));
  EXPECT_TRUE(view.Open(view.catalog().Get(kJunePage)->row));  // its own record is here
  std::string said;
  EXPECT_EQ(Defects(view, &said), 1);
  EXPECT_THAT(said, HasSubstr("volume far of the archive"));
}

TEST_F(RemoteContainers, W15_WhatComesWhileTheServerIsDeadWaits) {
  OpenFar();
  served_.Die();
  const Result<ImportOutcome> outcome = Import(*archive_, fs_, "may.warc.gz", MayFile());
  ASSERT_TRUE(outcome) << outcome.error().text;
  EXPECT_TRUE(outcome->is_new);
  ASSERT_TRUE(archive_->delivery_failure());
  EXPECT_THAT(archive_->delivery_failure()->text, HasSubstr("volume far of the archive"));
  EXPECT_EQ(*PayloadOf(archive_->View(), kMayPage), "may");
  EXPECT_TRUE(archive_->layout().Waits(*archive_->View().holdings().Find(1)));
  EXPECT_EQ(Defects(archive_->View()), 0);
  archive_.reset();

  Live();
  auto archive = lab_.Open();
  ASSERT_TRUE(archive) << archive.error().text;
  EXPECT_FALSE((*archive)->delivery_failure());
  EXPECT_FALSE((*archive)->View().holdings().Find(1)->key.empty());
  EXPECT_FALSE(*fs_.Exists("a/volumes/far/00000001"));
  EXPECT_EQ(References(), 1u);
  EXPECT_EQ(Defects((*archive)->View()), 0);
}

TEST_F(RemoteContainers, W15_ACrawlGoesThere) {
  OpenFar();
  const Result<std::uint32_t> run = archive_->BeginRun("crawl", "");
  ASSERT_TRUE(run);
  {
    RunWriter writer(*archive_, *run, {.container_bytes = 1200});
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(writer.AppendAndWait(testing::Fetched(i, std::string(900, 'x'))));
    }
    ASSERT_TRUE(writer.Finish());
  }
  ASSERT_TRUE(archive_->EndRun(*run));
  const ArchiveView view = archive_->View();
  EXPECT_GT(view.holdings().containers().size(), 1u);
  for (const auto& [number, container] : view.holdings().containers()) {
    EXPECT_FALSE(container.key.empty()) << number;
  }
  EXPECT_EQ(Defects(view), 0);
}

TEST_F(RemoteContainers, W15_DamageIsFound) {
  OpenFar();
  ASSERT_TRUE(Import(*archive_, fs_, "may.warc.gz", MayFile()));
  const auto key = store::ContentKey::Parse(archive_->View().holdings().Find(1)->key);
  ASSERT_TRUE(served_.volume().Delete(*key, {"stele", "by-somebody-else"}));
  std::string said;
  EXPECT_EQ(Defects(archive_->View(), &said), 1);
  EXPECT_THAT(said, HasSubstr("volume far of the archive"));
}

TEST_F(RemoteContainers, W15_APurgeDeletesTheBytesThereToo) {
  OpenFar();
  ASSERT_TRUE(Import(*archive_, fs_, "may.warc.gz", MayFile()));
  io::ManualClock clock(testing::kNow);
  io::SeededRandom random(3);
  CaptureQuery query;
  query.where.what = catalog::SelectUrl("http://a.example/b");
  auto plan = PlanRemoval(archive_->View(), query);
  ASSERT_TRUE(plan) << plan.error().text;
  ASSERT_TRUE(CarryOut(*archive_, *plan, {"reason", "note"}, clock, random));
  const std::string old_key = archive_->View().holdings().Find(1)->key;
  const auto purged = PurgeRemoved(*archive_);
  ASSERT_TRUE(purged) << purged.error().text;
  EXPECT_FALSE(served_.volume().Stat(*store::ContentKey::Parse(old_key)));
  EXPECT_EQ(References(), 1u);  // what stays
  EXPECT_EQ(*PayloadOf(archive_->View(), kMayPage), "may");
  EXPECT_EQ(Defects(archive_->View()), 0);
}

TEST_F(RemoteContainers, W15_AnUnfinishedDeletionIsToldAndFinished) {
  OpenFar();
  ASSERT_TRUE(Import(*archive_, fs_, "may.warc.gz", MayFile()));
  served_.Die();
  const Status purged = archive_->Purge(1);
  ASSERT_FALSE(purged);
  EXPECT_THAT(purged.error().text, HasSubstr("is deleted there when"));
  EXPECT_EQ(References(), 1u);
  archive_.reset();
  Live();
  auto archive = lab_.Open();
  ASSERT_TRUE(archive) << archive.error().text;
  EXPECT_EQ(References(), 0u);
  EXPECT_TRUE((*archive)->View().holdings().departures().empty());
}

TEST_F(RemoteContainers, W15_WithoutItsConnectorNothingIsTakenForDeleted) {
  OpenFar();
  ASSERT_TRUE(Import(*archive_, fs_, "may.warc.gz", MayFile()));
  archive_.reset();
  ASSERT_TRUE(fs_.Remove(std::string(kConnector)));
  auto archive = lab_.Open();
  ASSERT_TRUE(archive) << archive.error().text;
  EXPECT_FALSE((*archive)->Purge(1));
  EXPECT_EQ((*archive)->View().holdings().departures().size(), 1u);
}

TEST_F(RemoteContainers, W15_WhatMayHaveArrivedIsDeletedThereToo) {
  ImportUnheard();
  EXPECT_FALSE(archive_->Purge(1));
  EXPECT_EQ(*PayloadOf(archive_->View(), kMayPage), "may");
  archive_.reset();
  Live();
  auto archive = lab_.Open();
  ASSERT_TRUE(archive) << archive.error().text;
  EXPECT_EQ(References(), 1u);
  ASSERT_TRUE((*archive)->Purge(1));
  EXPECT_EQ(References(), 0u);
}

TEST_F(RemoteContainers, I6_WhatMayHaveArrivedIsNotForgottenOnTheWayElsewhere) {
  ImportUnheard();
  EXPECT_FALSE(archive_->Move(1, "main"));
  EXPECT_EQ(*PayloadOf(archive_->View(), kMayPage), "may");
  archive_.reset();
  Live();
  auto archive = lab_.Open();
  ASSERT_TRUE(archive) << archive.error().text;
  ASSERT_TRUE((*archive)->Move(1, "main"));
  EXPECT_EQ(References(), 0u);
  EXPECT_EQ(*io::ReadFile(fs_, "a/volumes/main/00000001/may.warc.gz"), MayFile());
  EXPECT_EQ(Defects((*archive)->View()), 0);
}

TEST_F(RemoteContainers, I6_AStoreKeepsNothingOfADamagedFile) {
  lab_.Create();
  lab_.Connect(served_.port());
  auto archive = lab_.Open();
  ASSERT_TRUE(archive) << archive.error().text;
  ASSERT_TRUE(Import(**archive, fs_, "may.warc.gz", MayFile()));
  PutFile(fs_, "a/volumes/main/00000001/may.warc.gz", "x" + MayFile().substr(1));
  EXPECT_EQ((*archive)->Move(1, "far").error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE((*archive)->View().holdings().moves().empty());
  EXPECT_EQ(References(), 0u);
}

TEST_F(RemoteContainers, I6_AMoveWorksWhenTheStoreThatItLeavesCannotBeTold) {
  OpenFar();
  ASSERT_TRUE(Import(*archive_, fs_, "may.warc.gz", MayFile()));
  served_.Die();
  EXPECT_FALSE(archive_->Move(1, "main"));  // it cannot be read
  EXPECT_FALSE(archive_->Purge(1));         // the deletion is owed
  ASSERT_TRUE(Import(*archive_, fs_, "june.warc.gz", JuneFile()));
  const Container waiting = archive_->View().holdings().containers().begin()->second;
  EXPECT_TRUE(archive_->layout().Waits(waiting));
  EXPECT_EQ(waiting.volume, "far");
  EXPECT_TRUE(archive_->Move(waiting.number, "main"));  // nothing was sent
  EXPECT_TRUE(archive_->delivery_failure());
}

TEST(RemoteFiles, W15_HavePathsThatSayWhatTheyAre) {
  const RemoteFile file{"far", "v:ABC", 17, "a b.warc.gz"};
  EXPECT_EQ(RemoteFile::FromPath(file.Path()), file);
  for (const char* other : {"", "a/b", "volume:", "volume:far/k/17", "volume:far/k/x/name"}) {
    EXPECT_FALSE(RemoteFile::FromPath(other)) << other;
  }
}

}  // namespace
}  // namespace stele::archive
