// Runs and PISA segments that are damaged or missing are named, and made again from the rows: every
// query has the twin's answer then.
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "catalog/page_file.h"
#include "catalog/page_file_writer.h"
#include "catalog/test_captures.h"
#include "catalog/test_twin.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"

namespace stele::catalog {
namespace {

class CatalogRebuildTest : public testing::Test {
 protected:
  CatalogRebuildTest() {
    auto catalog = Catalog::Open(disk_, "c", cache_, kSmall);
    EXPECT_TRUE(catalog);
    CaptureMaker& maker = maker_;
    for (std::uint32_t round = 0; round < 40; ++round) {
      std::vector<Capture> captures;
      for (std::uint32_t i = 0; i < 20; ++i) {
        captures.push_back(maker.Make({0, round * 20 + i}, 30, 70));
        captures.back().id.batch = BatchOf(captures.back().time);
      }
      EXPECT_TRUE((*catalog)->Append(captures));
      twin_.Append(captures);
      EXPECT_TRUE((*catalog)->Maintain());
    }
    EXPECT_TRUE((*catalog)->DropBatch(200406));
    twin_.DropBatch(200406);
    while (*(*catalog)->Maintain()) {
    }
    // Rows in a log are there, too.
    const std::vector<Capture> last = {maker.Make({200405, 5000}, 30)};
    EXPECT_TRUE((*catalog)->Append(last));
    twin_.Append(last);
  }

  // What is found by opening it, or by reading all of it.
  std::vector<std::string> Faults() {
    std::vector<std::string> found;
    PageCache cache(1 << 18);
    const auto reader = CatalogReader::Open(disk_, "c", cache);
    if (!reader) return {reader.error().text};
    (*reader)->View()->Verify([&](const Error& error) { found.push_back(error.text); });
    return found;
  }

  void RebuildAndCompare() {
    PageCache cache(1 << 18);
    const auto catalog = Catalog::Rebuild(disk_, "c", cache, kSmall);
    ASSERT_TRUE(catalog) << catalog.error().text;
    ExpectSameAs(twin_, *(*catalog)->View());
    while (*(*catalog)->Maintain()) {
    }
    EXPECT_FALSE((*catalog)->View()->files().pisa.empty());
    ExpectSameAs(twin_, *(*catalog)->View());
  }

  io::MemoryFileSystem disk_;
  PageCache cache_{1 << 18};
  CaptureMaker maker_{11};
  CatalogTwin twin_;
};

TEST_F(CatalogRebuildTest, P3_AnyDamagedIndexFileIsNamedAndMadeAgain) {
  for (std::size_t round = 0; round < 24 && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    const std::vector<std::string> names = *disk_.List("c/location");
    const std::string path = "c/location/" + names[round % names.size()];
    std::string bytes = *io::ReadFile(disk_, path);
    bytes[(round * 7919 + 13) % bytes.size()] ^= static_cast<char>(1 << round % 8);
    ASSERT_TRUE(io::ReplaceFile(disk_, path, bytes));
    const std::vector<std::string> faults = Faults();
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_TRUE(faults[0].starts_with(path)) << faults[0];
    RebuildAndCompare();
    EXPECT_TRUE(Faults().empty());
  }
}

TEST_F(CatalogRebuildTest, P3_AMissingIndexFileIsMadeAgain) {
  for (const char* ending : {".run", ".pisa"}) {
    const std::vector<std::string> names = *disk_.List("c/location");
    const auto name = std::find_if(names.begin(), names.end(),
                                   [&](const std::string& one) { return one.ends_with(ending); });
    ASSERT_NE(name, names.end());
    ASSERT_TRUE(disk_.Remove("c/location/" + *name));
    EXPECT_EQ(Catalog::Open(disk_, "c", cache_, kSmall).error().code, ErrorCode::kCorrupt);
    RebuildAndCompare();
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
  const std::vector<std::string> names = *disk_.List("c/location");
  const auto name = std::find_if(names.begin(), names.end(),
                                 [](const std::string& one) { return one.ends_with(".run"); });
  ASSERT_NE(name, names.end());
  const std::string path = "c/location/" + *name;
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

TEST_F(CatalogRebuildTest, P3_ADamagedRowIsNotCoveredUp) {
  const std::string batch = "c/captures/200405";
  const std::string path = batch + "/" + disk_.List(batch)->at(0);
  std::string bytes = *io::ReadFile(disk_, path);
  bytes[100] ^= 1;
  ASSERT_TRUE(io::ReplaceFile(disk_, path, bytes));
  const auto catalog = Catalog::Rebuild(disk_, "c", cache_, kSmall);
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE(catalog.error().text.starts_with(path)) << catalog.error().text;
}

TEST_F(CatalogRebuildTest, P3_ItMayFailAnywhereAndBeTriedAgain) {
  for (int fail_at = 1; !HasFailure(); ++fail_at) {
    SCOPED_TRACE(fail_at);
    io::FaultFileSystem fs(disk_, fail_at);
    PageCache cache(1 << 18);
    const auto catalog = Catalog::Rebuild(fs, "c", cache, kSmall);
    if (!catalog) continue;
    ExpectSameAs(twin_, *(*catalog)->View());
    EXPECT_GT(fail_at, 20);
    break;
  }
}

}  // namespace
}  // namespace stele::catalog
