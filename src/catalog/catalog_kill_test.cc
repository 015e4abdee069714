// A process that adds captures and merges is killed at random points. Everything it was told is
// there must be there afterwards, once, and nothing that it did not add.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "catalog/catalog_kill_lab.h"
#include "io/posix_file_system.h"
#include "io/random.h"
#include "io/test_kill.h"
#include "util/ascii.h"

namespace stele::catalog {
namespace {

struct Heard {
  std::uint32_t next = 0;  // all before it were added
  int merged = 0;
  int compacted = 0;
  std::string bad;

  void Take(std::string_view line) {
    if (line == "merged") ++merged;
    if (line == "compacted") ++compacted;
    if (line.starts_with("bad")) bad += line;
    if (!line.starts_with("next ")) return;
    next = static_cast<std::uint32_t>(ParseDecimal(line.substr(5)).value_or(0));
  }
};

// Returns the serial that comes next.
std::uint32_t Judge(const CatalogView& view, const Heard& heard) {
  std::set<std::uint32_t> found;
  LocationQuery query;
  query.what = SelectAll();
  LocationResults results = view.Find(query);
  for (;;) {
    const Result<const LocationEntry*> entry = results.Next();
    EXPECT_TRUE(entry) << entry.error().text;
    if (!entry || *entry == nullptr) break;
    std::string url;
    const Capture expected = KillCapture((*entry)->id.serial, url);
    EXPECT_TRUE(found.insert((*entry)->id.serial).second) << "twice";
    EXPECT_EQ((*entry)->id, expected.id);
    EXPECT_EQ((*entry)->time, expected.time);
    const Result<HeldCapture> row = view.Get((*entry)->id);
    EXPECT_TRUE(row && row->row == expected) << (*entry)->id.serial;
  }
  EXPECT_GE(found.size(), heard.next);
  EXPECT_TRUE(found.empty() || *found.rbegin() + 1 == found.size()) << "a gap";
  return static_cast<std::uint32_t>(found.size());
}

TEST(CatalogKill, P3_EveryRowSurvivesManyKillsOnce) {
  const std::string directory = testing::TempDir() + fmt::format("stele_catalog_{}", ::getpid());
  std::filesystem::remove_all(directory);
  io::PosixFileSystem fs;
  io::SeededRandom dice(20);
  Heard heard;
  std::uint32_t next = 0;
  for (int run = 0; run < 24 && !HasFailure(); ++run) {
    SCOPED_TRACE(run);
    // All rows are judged after each run: a new catalog now and then keeps them few.
    if (run % 6 == 0) std::filesystem::remove_all(directory);
    if (run % 6 == 0) heard.next = next = 0;
    std::string text;
    // Rows come all the time; what the other thread is at depends on what it said last.
    static constexpr const char* kBegun[] = {"next ", "merged", "compacted"};
    io::RunAndKill({STELE_KILL_CHILD, directory, std::to_string(next)}, kBegun[run % 3],
                   static_cast<unsigned>(dice.Next() % 40'000), text);
    if (HasFatalFailure()) return;
    for (const std::string_view line : Split(text, '\n')) heard.Take(line);
    PageCache cache(64 << 20);  // rows are read in the order of keys
    {
      // First as others see it who do not repair anything.
      const auto reader = CatalogReader::Open(fs, directory, cache);
      ASSERT_TRUE(reader) << reader.error().text;
      next = Judge(*(*reader)->View(), heard);
    }
    const auto catalog = Catalog::Open(fs, directory, cache, kKillOptions);
    ASSERT_TRUE(catalog) << catalog.error().text;
    EXPECT_EQ(Judge(*(*catalog)->View(), heard), next);
    (*catalog)->View()->Verify([](const Error& error) { ADD_FAILURE() << error.text; });
  }
  EXPECT_EQ(heard.bad, "");
  EXPECT_GT(next, 1000u);
  EXPECT_GT(heard.merged, 10);
  EXPECT_GT(heard.compacted, 5);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace stele::catalog
