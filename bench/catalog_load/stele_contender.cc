#include <optional>
#include <thread>

#include "catalog/catalog.h"
#include "catalog_load/contender.h"
#include "io/posix_file_system.h"

namespace stele::bench {
namespace {

using catalog::LocationQuery;

struct SteleKind {
  bool both_digests = false;
  bool scan = false;
};

class Stele final : public Contender {
 public:
  Stele(const std::string& directory, bool fill, SteleKind kind)
      : directory_(directory + "/catalog"), kind_(kind) {
    if (!fill) {
      auto reader = catalog::CatalogReader::Open(fs_, directory_, cache_);
      Require(reader.ok(), reader ? "" : reader.error().text);
      view_ = (*reader)->View();
      reader_ = std::move(*reader);
      return;
    }
    auto writer = catalog::Catalog::Open(fs_, directory_, cache_);
    Require(writer.ok(), writer ? "" : writer.error().text);
    writer_ = std::move(*writer);
    maintenance_ = std::jthread([this](std::stop_token stop) {
      while (!stop.stop_requested()) {
        if (!Maintain()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  }

  void Add(std::span<const Row> rows) override {
    captures_.clear();
    for (const Row& row : rows) captures_.push_back(row.capture);
    if (kind_.both_digests) {
      for (catalog::Capture& capture : captures_) AddSha256(capture);
    }
    Must(writer_->Append(captures_));
    Must(writer_->Sync());
  }

  void Finish() override {
    maintenance_.request_stop();
    maintenance_.join();
    Must(writer_->Compact());
    view_ = writer_->View();
  }

  std::vector<std::pair<std::string, std::uint64_t>> Sizes() override {
    std::uint64_t runs = 0;
    std::uint64_t pisa = 0;
    std::uint64_t rows = 0;
    for (const auto& run : view_->files().runs) runs += run->file().bytes();
    for (const auto& segment : view_->files().pisa) pisa += segment->bytes();
    for (const auto& segment : view_->files().segments) rows += segment->file().bytes();
    return {{"rows", rows}, {"key_index", runs}, {"pisa", pisa}};
  }

  void Nearest(std::string_view key, Timestamp time, const Take& take) override {
    const std::optional<catalog::CaptureId> found = FindNearest(key, time, take);
    static_cast<void>(found);
  }

  std::size_t NearestLine(std::string_view key, Timestamp time) override {
    const std::optional<catalog::CaptureId> id =
        FindNearest(key, time, [](std::string_view, Timestamp) {});
    if (!id) return 0;
    const Result<catalog::HeldCapture> held = view_->Get(*id);
    Require(held.ok(), held ? "" : held.error().text);
    return CdxFields(held->row).size();
  }

  void Span(std::string_view key, Timestamp from, Timestamp to, const Take& take) override {
    LocationQuery query;
    query.what = catalog::SelectKey(key);
    query.from = from;
    query.to = to;
    GiveAll(std::move(query), take);
  }

  void Prefix(std::string_view prefix, const Take& take) override {
    LocationQuery query;
    query.what = *catalog::SelectPrefix(prefix);
    GiveAll(std::move(query), take);
  }

  void AcquiredIn(Timestamp from, Timestamp to, const Take& take) override {
    catalog::CaptureScan::Query query;
    query.from = from;
    query.to = to;
    catalog::CaptureScan scan = view_->Scan(std::move(query));
    for (;;) {
      const Result<const catalog::Capture*> row = scan.Next();
      Require(row.ok(), row ? "" : row.error().text);
      if (*row == nullptr) return;
      take(catalog::LocationKeyOf(**row), (*row)->time);
    }
  }

  void Alive(std::string_view prefix, Timestamp from, Timestamp to, const Take& take) override {
    if (kind_.scan) {
      AliveFilter filter(from, to, take);
      Prefix(prefix, [&](std::string_view key, Timestamp time) { filter.Add(key, time); });
      return filter.Flush();
    }
    catalog::PisaTimelineCursor cursor = view_->Alive({from, to, *catalog::SelectPrefix(prefix)});
    for (;;) {
      const Result<bool> more = cursor.Next();
      Require(more.ok(), more ? "" : more.error().text);
      if (!*more) return;
      take(cursor.key(), cursor.birth());
    }
  }

 private:
  static void Must(const Status& status) {
    Require(status.ok(), status ? "" : status.error().text);
  }

  // As many bytes as a digest has that cannot be compressed.
  static void AddSha256(catalog::Capture& capture) {
    if (capture.flags & catalog::kRevisit) return;
    capture.sha256.emplace();
    for (std::size_t i = 0; i < capture.sha256->size(); ++i) {
      (*capture.sha256)[i] = static_cast<char>(Mix(capture.id.serial, 100 + i));
    }
  }

  bool Maintain() {
    const Result<bool> worked = writer_->Maintain();
    Require(worked.ok(), worked ? "" : worked.error().text);
    return *worked;
  }

  std::optional<catalog::CaptureId> FindNearest(std::string_view key, Timestamp time,
                                                const Take& take) {
    LocationQuery query;
    query.what = catalog::SelectKey(key);
    query.pick = LocationQuery::Pick::kNearest;
    query.from = time;
    catalog::LocationResults results = view_->Find(std::move(query));
    const Result<const catalog::LocationEntry*> entry = results.Next();
    Require(entry.ok(), entry ? "" : entry.error().text);
    if (*entry == nullptr) return std::nullopt;
    take((*entry)->key, (*entry)->time);
    return (*entry)->id;
  }

  void GiveAll(LocationQuery query, const Take& take) {
    catalog::LocationResults results = view_->Find(std::move(query));
    for (;;) {
      const Result<const catalog::LocationEntry*> entry = results.Next();
      Require(entry.ok(), entry ? "" : entry.error().text);
      if (*entry == nullptr) return;
      take((*entry)->key, (*entry)->time);
    }
  }

  io::PosixFileSystem fs_;
  catalog::PageCache cache_{kCacheBytes};
  const std::string directory_;
  const SteleKind kind_;
  std::unique_ptr<catalog::Catalog> writer_;
  std::unique_ptr<catalog::CatalogReader> reader_;
  std::shared_ptr<const catalog::CatalogView> view_;
  std::vector<catalog::Capture> captures_;
  std::jthread maintenance_;
};

}  // namespace

std::unique_ptr<Contender> MakeStele(const std::string& directory, bool fill) {
  return std::make_unique<Stele>(directory, fill, SteleKind{});
}

std::unique_ptr<Contender> MakeSteleBothDigests(const std::string& directory, bool fill) {
  return std::make_unique<Stele>(directory, fill, SteleKind{.both_digests = true});
}

std::unique_ptr<Contender> MakeSteleScan(const std::string& directory, bool fill) {
  return std::make_unique<Stele>(directory, fill, SteleKind{.scan = true});
}

}  // namespace stele::bench
