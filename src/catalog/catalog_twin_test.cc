// Random work on a catalog and on its twin: captures in any order of time, replaced rows, merges,
// forgotten captures, opening again, power cuts. Every query must have the twin's answer, from the
// writer's view, a reader's and an older view.
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "catalog/test_captures.h"
#include "catalog/test_twin.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "util/test_stride.h"

namespace stele::catalog {
namespace {

constexpr int kDays = 100;

class TwinLab {
 public:
  explicit TwinLab(std::uint64_t seed) : maker_(seed) { Open(disk_); }

  void Open(io::FileSystem& fs) {
    catalog_.reset();
    CatalogOptions options;
    options.log_bytes = 4000 + maker_.Below(20000);
    options.fan_in = 2 + static_cast<std::uint32_t>(maker_.Below(3));
    options.segment_fan_in = 2 + static_cast<std::uint32_t>(maker_.Below(3));
    options.pisa_captures_min = 1 + maker_.Below(300);
    Result<std::unique_ptr<Catalog>> catalog = Catalog::Open(fs, "c", cache_, options);
    ASSERT_TRUE(catalog) << catalog.error().text;
    catalog_ = std::move(*catalog);
  }

  // In any order of time; some have ids that are there, and their time and key.
  std::vector<Capture> NewCaptures() {
    std::vector<Capture> captures;
    const std::uint64_t count = 1 + maker_.Below(60);
    for (std::uint64_t i = 0; i < count; ++i) {
      Capture capture = maker_.Make({0, 0}, 40, kDays);
      if (maker_.Below(4) == 0) capture.time.milliseconds /= 3600000;  // several at one moment
      if (maker_.Below(4) == 0) capture.time.milliseconds *= 3600000;
      capture.id = {BatchOf(capture.time), next_serial_++};
      if (maker_.Below(30) == 0) capture.id.batch = 200001;  // not its month
      if (maker_.Below(50) == 0) next_serial_ += 1000;
      if (maker_.Below(10) == 0 && !twin_.rows().empty()) {
        auto old = twin_.rows().lower_bound(
            {200405, static_cast<std::uint32_t>(maker_.Below(next_serial_))});
        if (old == twin_.rows().end()) old = twin_.rows().begin();
        capture.id = old->first;
        capture.time = old->second.time;
        capture.url = old->second.url;
        capture.key = old->second.key;
      }
      captures.push_back(capture);
    }
    return captures;
  }

  Selection AnySelection() {
    switch (maker_.Below(7)) {
      case 0:
        return SelectAll();
      case 1:
        return *SelectPrefix("org,example");
      case 2:
        return *SelectPrefix(fmt::format("org,example{})/dir", maker_.Below(8)));
      case 3:
        return SelectHost(fmt::format("www.example{}.org", maker_.Below(8)));
      case 4:
        return SelectDomain(maker_.Below(2) == 0 ? "org" : "example3.org");
      default:
        return SelectUrl(maker_.Make({0, 0}, 40).url);
    }
  }

  Timestamp AnyTime() {
    if (maker_.Below(10) == 0) return kTimeBegin;
    return {kFirstTime + static_cast<std::int64_t>(maker_.Below(kDays * 86400000ull))};
  }

  void Compare(const CatalogView& view, const CatalogTwin& twin) {
    LocationQuery query;
    query.what = AnySelection();
    query.pick = static_cast<LocationQuery::Pick>(maker_.Below(4));
    query.from = query.pick == LocationQuery::Pick::kAll ? AnyTime() : Timestamp{kFirstTime + 5};
    if (query.pick != LocationQuery::Pick::kAll && maker_.Below(5) > 0) {
      query.from.milliseconds += static_cast<std::int64_t>(maker_.Below(kDays * 86400000ull));
    }
    query.to = maker_.Below(3) == 0 ? kTimeEnd : AnyTime();
    EXPECT_EQ(AllAnswers(view, query, 1 + maker_.Below(50)), twin.Find(query));

    PisaTimelineQuery alive{AnyTime(), AnyTime(), AnySelection()};
    if (alive.last < alive.first) std::swap(alive.first, alive.last);
    if (maker_.Below(2) == 0) alive.last = alive.first;
    if (maker_.Below(5) == 0) alive.last = kTimeEnd;
    EXPECT_EQ(AllAlive(view, alive, 1 + maker_.Below(100)), twin.Alive(alive));

    CaptureScan::Query scan;
    scan.from = AnyTime();
    scan.to = maker_.Below(3) == 0 ? kTimeEnd : AnyTime();
    if (maker_.Below(2) == 0) scan.what = AnySelection();
    if (maker_.Below(4) == 0) scan.batch = 200405 + static_cast<std::uint32_t>(maker_.Below(3));
    EXPECT_EQ(AllRows(view, scan, 1 + maker_.Below(200), twin), twin.Scan(scan));
  }

  void CompareRows(const CatalogView& view, const CatalogTwin& twin) {
    for (const auto& [id, row] : twin.rows()) {
      const Result<HeldCapture> found = view.Get(id);
      ASSERT_TRUE(found) << found.error().text;
      EXPECT_EQ(found->row, row);
    }
    EXPECT_EQ(view.Get({200405, next_serial_ + 5}).error().code, ErrorCode::kNotFound);
    view.Verify([](const Error& error) { ADD_FAILURE() << error.text; });
  }

  io::MemoryFileSystem disk_;
  PageCache cache_{1 << 20};
  CaptureMaker maker_;
  CatalogTwin twin_;
  std::unique_ptr<Catalog> catalog_;
  std::uint32_t next_serial_ = 1;
};

// `segments_most` becomes the largest number of PISA segments that there were.
void WorkAndCompare(std::uint64_t seed, std::size_t& segments_most) {
  TwinLab lab(seed);
  auto reader = CatalogReader::Open(lab.disk_, "c", lab.cache_);
  ASSERT_TRUE(reader) << reader.error().text;
  std::shared_ptr<const CatalogView> old_view;
  std::optional<CatalogTwin> old_twin;
  for (int step = 0; step < 120 && !testing::Test::HasFailure(); ++step) {
    switch (lab.maker_.Below(32)) {
      case 0:
        lab.Open(lab.disk_);
        break;
      case 1:
        ASSERT_TRUE(lab.catalog_->Compact());
        break;
      case 2:
      case 3:
      case 4:
      case 5:
        ASSERT_TRUE(lab.catalog_->Maintain());
        break;
      case 6: {
        // Of a batch all, or some.
        const std::uint32_t batch = 200405 + static_cast<std::uint32_t>(lab.maker_.Below(5));
        std::set<CaptureId> ids = lab.twin_.IdsOf(batch);
        const std::uint64_t share = 1 + lab.maker_.Below(3);
        std::erase_if(ids, [&](const CaptureId& id) { return id.serial % share != 0; });
        ASSERT_TRUE(lab.catalog_->Forget(ids));
        lab.twin_.Forget(ids);
        break;
      }
      case 7:
        old_view = lab.catalog_->View();
        old_twin = lab.twin_;
        break;
      case 8: {
        ASSERT_TRUE(lab.catalog_->Sync());
        lab.catalog_.reset();
        old_view.reset();
        reader->reset();
        io::SeededRandom dice(seed * 1000 + static_cast<std::uint64_t>(step));
        lab.disk_.Crash(dice);
        lab.Open(lab.disk_);
        reader = CatalogReader::Open(lab.disk_, "c", lab.cache_);
        ASSERT_TRUE(reader) << reader.error().text;
        break;
      }
      default: {
        const std::vector<Capture> captures = lab.NewCaptures();
        ASSERT_TRUE(lab.catalog_->Append(captures));
        lab.twin_.Append(captures);
      }
    }
    segments_most = std::max(segments_most, lab.catalog_->View()->files().pisa.size());
    lab.Compare(*lab.catalog_->View(), lab.twin_);
    if (lab.maker_.Below(3) == 0) {
      ASSERT_TRUE((*reader)->Refresh());
      lab.Compare(*(*reader)->View(), lab.twin_);
    }
    if (old_view != nullptr && lab.maker_.Below(3) == 0) lab.Compare(*old_view, *old_twin);
  }
  lab.CompareRows(*lab.catalog_->View(), lab.twin_);
}

TEST(CatalogTwin, P2_EveryQueryHasTheTwinsAnswer) {
  std::size_t segments_most = 0;
  for (std::uint64_t seed = 0; seed < 6 && !HasFailure(); seed += kTestStride) {
    SCOPED_TRACE(seed);
    WorkAndCompare(seed, segments_most);
  }
  EXPECT_GT(segments_most, 3u);
}

}  // namespace
}  // namespace stele::catalog
