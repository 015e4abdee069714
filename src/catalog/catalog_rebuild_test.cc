// Files of a catalog that are damaged or missing are named. A catalog that is filled beside it, as
// from containers, takes its place: every query has the twin's answer then.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "catalog/catalog.h"
#include "catalog/page_file.h"
#include "catalog/page_file_writer.h"
#include "catalog/test_captures.h"
#include "catalog/test_twin.h"
#include "io/memory_file_system.h"

namespace stele::catalog {
namespace {

class CatalogRebuildTest : public testing::Test {
 protected:
  CatalogRebuildTest() {
    auto catalog = Catalog::Open(disk_, "c", cache_, kSmall);
    EXPECT_TRUE(catalog);
    for (std::uint32_t round = 0; round < 40; ++round) {
      std::vector<Capture> captures;
      for (std::uint32_t i = 0; i < 20; ++i) {
        captures.push_back(maker_.Make({0, round * 20 + i}, 30, 70));
        captures.back().id.batch = BatchOf(captures.back().time);
      }
      EXPECT_TRUE((*catalog)->Append(captures));
      twin_.Append(captures);
      EXPECT_TRUE((*catalog)->Maintain());
    }
    // What was purged.
    std::set<CaptureId> purged = twin_.IdsOf(200406);
    std::erase_if(purged, [](const CaptureId& id) { return id.serial % 2 == 0; });
    EXPECT_TRUE((*catalog)->Forget(purged));
    twin_.Forget(purged);
    while (*(*catalog)->Maintain()) {
    }
    AddToLog(**catalog);
  }

  // Rows in a log are there, too.
  void AddToLog(Catalog& catalog) {
    const std::vector<Capture> last = {maker_.Make({200405, next_serial_++}, 30)};
    EXPECT_TRUE(catalog.Append(last));
    EXPECT_TRUE(catalog.Sync());
    twin_.Append(last);
  }

  // All files but the lock.
  std::vector<std::string> Files() {
    std::vector<std::string> directories = {"c", "c/location"};
    for (const std::string& batch : List("c/captures")) {
      directories.push_back("c/captures/" + batch);
    }
    std::vector<std::string> paths;
    for (const std::string& directory : directories) {
      for (const std::string& name : List(directory)) {
        const std::string path = directory + '/' + name;
        if (name != "lock" && !disk_.List(path)) paths.push_back(path);
      }
    }
    return paths;
  }
  std::vector<std::string> FilesWith(const std::string& ending) {
    std::vector<std::string> paths = Files();
    std::erase_if(paths, [&](const std::string& path) { return !path.ends_with(ending); });
    return paths;
  }
  std::vector<std::string> List(const std::string& directory) { return *disk_.List(directory); }

  // What is found by opening it, or by reading all of it.
  std::vector<std::string> Faults() {
    std::vector<std::string> found;
    PageCache cache(1 << 18);
    const auto reader = CatalogReader::Open(disk_, "c", cache);
    if (!reader) return {reader.error().text};
    (*reader)->View()->Verify([&](const Error& error) { found.push_back(error.text); });
    return found;
  }

  // In batches, as containers come.
  void FillBeside() {
    PageCache cache(1 << 18);
    const auto beside = Catalog::OpenBeside(disk_, "c", "c/new", cache, kSmall);
    ASSERT_TRUE(beside) << beside.error().text;
    std::vector<Capture> some;
    for (const auto& [id, row] : twin_.rows()) {
      some.push_back(row);
      if (some.size() < 20 && id != twin_.rows().rbegin()->first) continue;
      ASSERT_TRUE((*beside)->Append(some));
      some.clear();
    }
    const Status replaced = (*beside)->TakePlaceOf("c");
    ASSERT_TRUE(replaced) << replaced.error().text;
  }
  void RemoveTree(const std::string& path) {
    if (const auto names = disk_.List(path)) {
      for (const std::string& name : *names) RemoveTree(path + '/' + name);
    }
    ASSERT_TRUE(disk_.Remove(path));
  }
  void RebuildAndCompare() {
    FillBeside();
    RemoveTree("c/new");
    PageCache cache(1 << 18);
    const auto catalog = Catalog::Open(disk_, "c", cache, kSmall);
    ASSERT_TRUE(catalog) << catalog.error().text;
    ExpectSameAs(twin_, *(*catalog)->View());
    while (*(*catalog)->Maintain()) {
    }
    EXPECT_FALSE((*catalog)->View()->files().pisa.empty());
    AddToLog(**catalog);
    ExpectSameAs(twin_, *(*catalog)->View());
  }

  io::MemoryFileSystem disk_;
  PageCache cache_{1 << 18};
  CaptureMaker maker_{11};
  CatalogTwin twin_;
  std::uint32_t next_serial_ = 5000;
};

// At the end of a log is the mark that all before it was synced. It says so, or it is not there.
constexpr std::size_t kSyncMarkBytes = 9;

TEST_F(CatalogRebuildTest, P3_AnyDamagedFileIsNamedAndMadeAgain) {
  const std::vector<std::string> endings = {"/manifest", ".log", ".run", ".pisa", ".rows"};
  for (const std::string& path : Files()) {
    EXPECT_TRUE(std::any_of(endings.begin(), endings.end(), [&](const std::string& ending) {
      return path.ends_with(ending);
    })) << path;
  }
  for (const std::string& ending : endings) {
    for (std::size_t round = 0; round < 6 && !HasFailure(); ++round) {
      SCOPED_TRACE(fmt::format("{} {}", ending, round));
      const std::vector<std::string> paths = FilesWith(ending);
      ASSERT_FALSE(paths.empty());
      const std::string& path = paths[round % paths.size()];
      std::string bytes = *io::ReadFile(disk_, path);
      const std::size_t size = bytes.size() - (ending == ".log" ? kSyncMarkBytes : 0);
      bytes[(round * 7919 + 13) % size] ^= static_cast<char>(1 << round % 8);
      ASSERT_TRUE(io::ReplaceFile(disk_, path, bytes));
      const std::vector<std::string> faults = Faults();
      ASSERT_EQ(faults.size(), 1u);
      EXPECT_TRUE(faults[0].starts_with(path)) << faults[0];
      RebuildAndCompare();
      EXPECT_TRUE(Faults().empty());
    }
  }
}

TEST_F(CatalogRebuildTest, P3_AMissingFileIsMadeAgain) {
  for (const char* ending : {"/manifest", ".run", ".pisa", ".rows"}) {
    SCOPED_TRACE(ending);
    ASSERT_FALSE(FilesWith(ending).empty());
    ASSERT_TRUE(disk_.Remove(FilesWith(ending)[0]));
    EXPECT_EQ(Catalog::Open(disk_, "c", cache_, kSmall).error().code, ErrorCode::kCorrupt);
    RebuildAndCompare();
    EXPECT_TRUE(Faults().empty());
  }
}

// The same file, but for the version in its summary.
void WriteAsVersion(io::FileSystem& fs, const std::string& path, std::string_view kind,
                    std::uint64_t version) {
  PageCache cache(1 << 18);
  const auto file = PageFile::Open(fs, path, kind, cache);
  ASSERT_TRUE(file) << file.error().text;
  ByteReader old((*file)->summary());
  old.Varint();
  std::string summary;
  PutVarint(summary, version);
  summary += old.rest();
  auto copy = PageFileWriter::Create(fs, path, kind);
  ASSERT_TRUE(copy);
  for (std::uint32_t page = 0; page < (*file)->pages(); ++page) {
    const Result<Page> bytes = (*file)->Read(page);
    ASSERT_TRUE(bytes);
    ASSERT_TRUE((*copy)->Append(PageParts{**bytes}, (*file)->index().first_key(page)));
  }
  ASSERT_TRUE((*copy)->Finish(summary));
}

TEST_F(CatalogRebuildTest, P3_ARunOfAnotherVersionIsNamedAndMadeAgain) {
  const std::string path = FilesWith(".run").at(0);
  for (const std::uint64_t version : {0u, 1u, 3u}) {
    SCOPED_TRACE(version);
    WriteAsVersion(disk_, path, "location", version);
    const std::vector<std::string> faults = Faults();
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_EQ(faults[0], path +
                             ": it is of another version of the format; make it anew with: stele "
                             "reindex");
  }
  RebuildAndCompare();
}

TEST_F(CatalogRebuildTest, P3_RowsOfAnotherVersionAreNamed) {
  const std::string batch = "c/captures/200405";
  const std::string path = batch + "/" + disk_.List(batch)->at(0);
  for (const std::uint64_t version : {0u, 1u, 3u}) {
    SCOPED_TRACE(version);
    WriteAsVersion(disk_, path, "captures", version);
    const std::vector<std::string> faults = Faults();
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_EQ(faults[0], path +
                             ": it is of another version of the format; make it anew with: stele "
                             "reindex --batch 200405");
  }
}

}  // namespace
}  // namespace stele::catalog
