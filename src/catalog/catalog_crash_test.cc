// The disk fails or loses power under a catalog at every place. What was synced is there
// afterwards, and when the rest is given again, as containers do, every query has the twin's
// answer.
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "catalog/test_captures.h"
#include "catalog/test_twin.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "util/test_stride.h"

namespace stele::catalog {
namespace {

constexpr CatalogOptions kTiny{6000, 2, 2, 30};
constexpr std::uint32_t kForgotten = 200406;  // a batch of which all that is there goes

// Some work, the same each time, on a disk that may fail at any moment.
class Scenario {
 public:
  // Ends at the first error. True when there was none.
  bool Run(io::FileSystem& fs) {
    PageCache cache(1 << 18);
    Result<std::unique_ptr<Catalog>> catalog = Catalog::Open(fs, "c", cache, kTiny);
    if (!catalog) return false;
    for (int round = 0; round < 12; ++round) {
      if (!Append(**catalog, 15)) return false;
      if (round % 3 == 1) {
        if (!(*catalog)->Sync()) return false;
        synced_ = given_.rows();
      }
      if (round % 2 == 1 && !(*catalog)->Maintain()) return false;
      if (round == 8) {
        forgetting_ = given_.IdsOf(kForgotten);
        if (!(*catalog)->Forget(forgetting_)) return false;
        Forget();
      }
    }
    return (*catalog)->Compact().ok();
  }

  // What was durable is there, as it was then or as it was given later.
  void CheckSynced(Catalog& catalog) {
    const auto view = catalog.View();
    for (const auto& [id, row] : synced_) {
      if (forgetting_.contains(id)) continue;
      const Result<HeldCapture> found = view->Get(id);
      ASSERT_TRUE(found) << found.error().text;
      EXPECT_EQ(found->row, given_.rows().at(id));
    }
    view->Verify([](const Error& error) { ADD_FAILURE() << error.text; });
  }

  // Gives again what may be lost, and compares everything.
  void RepeatAndCompare(Catalog& catalog) {
    std::vector<Capture> all;
    for (const auto& [id, row] : given_.rows()) all.push_back(row);
    ASSERT_TRUE(catalog.Append(all));
    if (!forgetting_.empty()) {
      ASSERT_TRUE(catalog.Forget(forgetting_));
      Forget();
    }
    for (int round = 0; round < 2; ++round) {
      const auto view = catalog.View();
      LocationQuery query;
      query.what = SelectAll();
      EXPECT_EQ(AllAnswers(*view, query, 1000), given_.Find(query));
      query.pick = LocationQuery::Pick::kNearest;
      query.from = *ParseDigits("20040601");
      EXPECT_EQ(AllAnswers(*view, query, 1000), given_.Find(query));
      EXPECT_EQ(AllRows(*view, {}, 1000, given_), given_.Scan({}));
      const PisaTimelineQuery alive{*ParseDigits("20040520"), *ParseDigits("20040610")};
      EXPECT_EQ(AllAlive(*view, alive, 1000), given_.Alive(alive));
      ASSERT_TRUE(catalog.Compact());
    }
    EXPECT_LE(catalog.View()->files().runs.size(), 1u);
  }

 private:
  bool Append(Catalog& catalog, std::uint32_t count) {
    std::vector<Capture> captures;
    for (std::uint32_t i = 0; i < count; ++i) {
      captures.push_back(maker_.Make({0, next_serial_++}, 20, 60));
      captures.back().id.batch = BatchOf(captures.back().time);
    }
    given_.Append(captures);  // what fails may be there all the same
    return catalog.Append(captures).ok();
  }
  void Forget() {
    given_.Forget(forgetting_);
    for (const CaptureId& id : forgetting_) synced_.erase(id);
    forgetting_.clear();
  }

  CaptureMaker maker_{7};
  CatalogTwin given_;
  std::map<CaptureId, Capture> synced_;
  std::uint32_t next_serial_ = 0;
  std::set<CaptureId> forgetting_;  // until that is known to have worked
};

std::vector<std::string> Names(io::MemoryFileSystem& disk, const std::string& directory) {
  return *disk.List(directory);
}

void OpenAndCompare(io::MemoryFileSystem& disk, Scenario& scenario) {
  PageCache cache(1 << 18);
  const Result<std::unique_ptr<Catalog>> catalog = Catalog::Open(disk, "c", cache, kTiny);
  ASSERT_TRUE(catalog) << catalog.error().text;
  scenario.CheckSynced(**catalog);
  scenario.RepeatAndCompare(**catalog);
}

// After everything is compacted, no file is left that the manifest does not name.
void ExpectNoStrays(io::MemoryFileSystem& disk) {
  PageCache cache(1 << 18);
  const auto catalog = Catalog::Open(disk, "c", cache, kTiny);
  ASSERT_TRUE(catalog) << catalog.error().text;
  std::size_t runs = 0;
  for (const std::string& name : Names(disk, "c/location")) runs += name.ends_with(".run");
  EXPECT_LE(runs, 1u);
  EXPECT_EQ(disk.List("c/location")->size(), runs + (*catalog)->View()->files().pisa.size());
  for (const std::string& batch : Names(disk, "c/captures")) {
    EXPECT_LE(disk.List("c/captures/" + batch)->size(), 1u);
  }
  std::size_t logs = 0;
  for (const std::string& name : Names(disk, "c")) logs += name.ends_with(".log");
  EXPECT_EQ(logs, 1u);
}

TEST(CatalogCrash, P3_WhateverFailsNothingSyncedIsLost) {
  for (int fail_at = 1; !testing::Test::HasFailure(); fail_at += kTestStride) {
    SCOPED_TRACE(fail_at);
    io::MemoryFileSystem disk;
    io::FaultFileSystem fs(disk, fail_at);
    Scenario scenario;
    const bool finished = scenario.Run(fs);
    OpenAndCompare(disk, scenario);
    ExpectNoStrays(disk);
    if (finished) {
      EXPECT_GT(fail_at, 100);
      break;
    }
  }
}

TEST(CatalogCrash, P3_AfterAPowerCutNothingSyncedIsLost) {
  for (int fail_at = 1; !testing::Test::HasFailure(); fail_at += kTestStride) {
    SCOPED_TRACE(fail_at);
    bool finished = false;
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      io::MemoryFileSystem disk;
      io::FaultFileSystem fs(disk, fail_at);
      Scenario scenario;
      finished = scenario.Run(fs);
      if (seed == 0) {
        disk.Crash();
      } else {
        io::SeededRandom dice(seed * 1000 + static_cast<std::uint64_t>(fail_at));
        disk.Crash(dice);
      }
      OpenAndCompare(disk, scenario);
    }
    if (finished) break;
  }
}

TEST(CatalogCrash, P3_EveryFlippedBitIsFoundAndNamed) {
  io::MemoryFileSystem disk;
  Scenario scenario;
  ASSERT_TRUE(scenario.Run(disk));
  std::vector<std::string> paths = {"c/manifest"};
  for (const std::string& name : Names(disk, "c/location")) paths.push_back("c/location/" + name);
  ASSERT_GE(paths.size(), 3u);  // a run and a PISA segment
  for (const std::string& batch : Names(disk, "c/captures")) {
    for (const std::string& name : Names(disk, "c/captures/" + batch)) {
      paths.push_back("c/captures/" + batch + "/" + name);
    }
  }
  for (const std::string& path : paths) {
    const std::string good = *io::ReadFile(disk, path);
    for (std::size_t bit = 0; bit < good.size() * 8; bit += 211) {
      std::string flipped = good;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      ASSERT_TRUE(io::ReplaceFile(disk, path, flipped));
      PageCache cache(1 << 18);
      std::vector<std::string> found;
      const auto reader = CatalogReader::Open(disk, "c", cache);
      if (reader) {
        (*reader)->View()->Verify([&](const Error& error) { found.push_back(error.text); });
      } else {
        found.push_back(reader.error().text);
      }
      ASSERT_EQ(found.size(), 1u) << path << " " << bit;
      EXPECT_TRUE(found[0].starts_with(path)) << found[0];
    }
    ASSERT_TRUE(io::ReplaceFile(disk, path, good));
  }
}

}  // namespace
}  // namespace stele::catalog
