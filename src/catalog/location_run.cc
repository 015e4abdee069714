// The page index of a run has no whole keys: what stands there for a page is the shortest text that
// separates it from the page before. Where a key goes on from one page to the next, that is the
// position of its entry, so that a URL with many captures is searched by time.
#include "catalog/location_run.h"

#include <algorithm>

#include "util/check.h"
#include "util/coding.h"

namespace stele::catalog {
namespace {

constexpr std::string_view kKind = "location";
constexpr std::uint64_t kVersion = 2;

// Behind everything with key `before`, and not behind `entry`.
std::string Separator(std::string_view before, const LocationEntry& entry) {
  if (before == entry.key) return EncodePosition(entry);
  const auto shared = static_cast<std::size_t>(
      std::mismatch(before.begin(), before.end(), entry.key.begin(), entry.key.end()).second -
      entry.key.begin());
  return std::string(entry.key.substr(0, shared + 1));
}

class RunCursor final : public LocationCursor {
 public:
  RunCursor(const LocationRun& run, LocationRun::Reading reading)
      : file_(run.file()), reading_(reading), cursor_(run.clock()) {}

  Move Seek(const LocationEntry& at) override {
    if (file_.pages() == 0) return nullptr;
    const std::uint32_t page = file_.index().LastAtOrBefore(EncodePosition(at)).value_or(0);
    if (const Status status = Load(page); !status) return status.error();
    return OrNextPage(cursor_.Seek(at));
  }

  Move Next() override { return OrNextPage(cursor_.Next()); }

  Move SeekBack(const LocationEntry& at) override {
    const std::optional<std::uint32_t> page = file_.index().LastAtOrBefore(EncodePosition(at));
    if (!page) return nullptr;
    if (const Status status = Load(*page); !status) return status.error();
    const Move move = Named(cursor_.SeekBack(at));
    if (!move || *move != nullptr || *page == 0) return move;
    if (const Status status = Load(*page - 1); !status) return status.error();
    return Named(cursor_.Last());
  }

 private:
  Status Load(std::uint32_t page) {
    if (bytes_ != nullptr && page == page_) return {};
    Result<Page> bytes =
        reading_ == LocationRun::Reading::kAgain ? file_.Read(page) : file_.ReadPast(page);
    if (!bytes) return bytes.error();
    page_ = page;
    bytes_ = std::move(*bytes);
    const Status status = cursor_.Open(*bytes_);
    return status ? status : file_.CorruptPage(page, status.error().text);
  }

  Move Named(Move move) const {
    if (move) return move;
    return file_.CorruptPage(page_, move.error().text);
  }

  Move OrNextPage(Move move) {
    if (!move || *move != nullptr || page_ + 1 == file_.pages()) return Named(std::move(move));
    if (const Status status = Load(page_ + 1); !status) return status.error();
    return Named(cursor_.First());
  }

  const PageFile& file_;
  const LocationRun::Reading reading_;
  std::uint32_t page_ = 0;
  Page bytes_;
  LocationPageCursor cursor_;
};

}  // namespace

Result<std::unique_ptr<LocationRunWriter>> LocationRunWriter::Create(io::FileSystem& fs,
                                                                     std::string path,
                                                                     SerialClock clock) {
  Result<std::unique_ptr<PageFileWriter>> file = PageFileWriter::Create(fs, std::move(path), kKind);
  if (!file) return file.error();
  return std::unique_ptr<LocationRunWriter>(
      new LocationRunWriter(std::move(*file), std::move(clock)));
}

Status LocationRunWriter::Add(const LocationEntry& entry) {
  if (page_.bytes() >= kPageBytes) {
    if (const Status status = FinishPage(); !status) return status;
  }
  const bool new_key = totals_.entries == 0 || page_.last_key() != entry.key;
  if (page_.entries() == 0) {
    page_key_ = totals_.entries == 0 ? std::string() : Separator(page_.last_key(), entry);
  }
  if (new_key) ++totals_.keys;
  ++totals_.entries;
  page_.Add(entry);
  return {};
}

Status LocationRunWriter::FinishPage() {
  const Result<std::uint32_t> page = file_->Append(page_.Take(), page_key_);
  return page ? Status() : page.error();
}

Result<LocationRunTotals> LocationRunWriter::Finish() {
  if (page_.entries() > 0) {
    if (const Status status = FinishPage(); !status) return status.error();
  }
  std::string summary;
  PutVarint(summary, kVersion);
  PutVarint(summary, totals_.entries);
  PutVarint(summary, totals_.keys);
  clock_.Put(summary);
  if (const Status status = file_->Finish(summary); !status) return status.error();
  return totals_;
}

Result<std::unique_ptr<LocationRun>> LocationRun::Open(io::FileSystem& fs, std::string path,
                                                       PageCache& cache) {
  Result<std::unique_ptr<PageFile>> file = PageFile::Open(fs, std::move(path), kKind, cache);
  if (!file) return file.error();
  std::unique_ptr<LocationRun> run(new LocationRun(std::move(*file)));
  ByteReader summary(run->file().summary());
  if (summary.Varint() != kVersion) {
    return run->file().Corrupt("it is of another version of the format");
  }
  run->totals_.entries = summary.Varint();
  run->totals_.keys = summary.Varint();
  if (!SerialClock::Take(summary, run->clock_) || !summary.AtEnd()) {
    return run->file().Corrupt("its summary makes no sense");
  }
  return run;
}

std::unique_ptr<LocationCursor> LocationRun::NewCursor(Reading reading) const {
  return std::make_unique<RunCursor>(*this, reading);
}

}  // namespace stele::catalog
