#include "archive/purge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "archive/container_scan.h"
#include "archive/durable_file.h"
#include "archive/record_cut.h"
#include "archive/removal.h"
#include "archive/wacz_export.h"
#include "archive/wacz_file.h"
#include "io/random.h"
#include "util/checksum.h"

namespace stele::archive {
namespace {

using catalog::CaptureId;

// What a container has of what was taken down.
struct Doomed {
  std::vector<CutCapture> captures;   // all of them, in the order of the file
  std::vector<CaptureId> stay;        // likewise
  std::uint64_t removed = 0;          // records of captures that were taken down, and go
  std::uint64_t gone = 0;             // captures whose last record goes
  std::uint64_t held = 0;             // that were taken down, and stay under a hold
  std::vector<Tombstone> tombstones;  // of those that were taken down, and go
};

// Whether a container has, or had, a capture that was taken down.
bool HasAny(const Container& container, const std::set<CaptureId>& removed) {
  const auto in_batch = [&](const Container::Batch& batch) {
    const auto first = removed.lower_bound({batch.batch, batch.base});
    return first != removed.end() && first->batch == batch.batch &&
           first->serial - batch.base < batch.count;
  };
  return std::any_of(container.batches.begin(), container.batches.end(), in_batch) ||
         std::any_of(container.ids.begin(), container.ids.end(),
                     [&](const CaptureId& id) { return removed.contains(id); });
}

Result<Doomed> DoomedIn(const ArchiveView& view, const Container& container,
                        const std::set<CaptureId>& removed) {
  Doomed doomed;
  const Status read =
      view.ForEachCapture(container, [&](const ContainerCapture& capture) -> Status {
        const catalog::Capture& row = capture.row;
        // A record that another has taken the place of goes with the others.
        const auto place = view.holdings().NewPlaceOf(row.id);
        const bool has_moved = place && *place != container.number;
        bool is_removed = removed.contains(row.id);
        if (is_removed && !has_moved && HoldOf(view.holdings(), row) != nullptr) {
          is_removed = false;
          ++doomed.held;
        }
        const bool goes = is_removed || has_moved;
        doomed.captures.push_back({row.place.offset, ChecksumOf(row.url), row.time, goes});
        if (!goes) doomed.stay.push_back(row.id);
        if (is_removed) {
          ++doomed.removed;
          const std::vector<Tombstone> tombstones = TombstonesOf(row, capture.record_id);
          doomed.tombstones.insert(doomed.tombstones.end(), tombstones.begin(), tombstones.end());
        }
        if (is_removed && !has_moved) ++doomed.gone;
        return {};
      });
  if (!read) return read.error();
  return doomed;
}

class ContainerPurge {
 public:
  ContainerPurge(ArchiveWriter& archive, const ArchiveView& view, const Container& old,
                 const Doomed& doomed)
      : archive_(archive), view_(view), old_(old), doomed_(doomed) {}

  // Writes what stays to a new container, where something does. Until Finish(), the archive is as
  // it was. Errors: those of reading and writing.
  Status Prepare(std::uint32_t run) {
    const Result<bool> stays = SomethingStays();
    if (!stays) return stays.error();
    something_stays_ = *stays;
    if (!something_stays_) return {};
    Result<ArchiveWriter::Place> place = archive_.Reserve(old_.bytes);
    if (!place) return place.error();
    place_ = *place;
    fresh_ = old_;
    fresh_.number = place->number;
    fresh_.volume = place->volume;
    fresh_.key.clear();
    fresh_.operation.clear();
    fresh_.part_sha256s.clear();
    fresh_.run = run;
    fresh_.batches.clear();
    fresh_.ids = doomed_.stay;
    // It does not stand for the file that it was made from.
    if (fresh_.ids.empty()) fresh_.origin_sha256.clear();
    const Status written = Write();
    if (!written) archive_.Abandon(place_);
    return written;
  }

  // Requires: Prepare() succeeded. Errors: those of writing the ledger and the catalog.
  Status Finish(std::uint64_t& bytes) {
    std::uint64_t kept = 0;
    if (something_stays_) {
      Result<bool> added = archive_.Add(fresh_);
      if (!added) return added.error();
      // Another file has just what is left.
      if (!*added) archive_.Abandon(place_);
      kept = *added ? fresh_.bytes : 0;
    }
    bytes += old_.bytes - std::min(kept, old_.bytes);
    return archive_.Purge(old_.number, doomed_.tombstones);
  }

 private:
  // Without captures that stay, other records may.
  Result<bool> SomethingStays() const {
    if (!doomed_.stay.empty()) return true;
    io::FileSystem& fs = archive_.fs();
    Result<std::string> from = archive_.layout().ContainerPath(old_);
    if (!from) return from.error();
    Result<std::unique_ptr<WaczFile>> wacz = OpenWacz(fs, *from);
    if (!wacz) return wacz.error();
    if (*wacz != nullptr) return false;
    const Result<bool> left = LeavesSomething(fs, *from, doomed_.captures);
    // All captures that were ever listed in it were taken down: damage does not keep them here.
    const bool had_others = old_.unlisted > 0 || old_.losses > 0;
    if (!left && left.error().code == ErrorCode::kCorrupt && !had_others) return false;
    return left;
  }

  // Writes what stays to the place of `fresh_`, and says in it what it is.
  Status Write() {
    io::FileSystem& fs = archive_.fs();
    Result<std::string> from = archive_.layout().ContainerPath(old_);
    if (!from) return from.error();
    Result<std::unique_ptr<WaczFile>> wacz = OpenWacz(fs, *from);
    if (!wacz) return wacz.error();
    Result<std::string> path = archive_.layout().ContainerPath(fresh_);
    if (!path) return path.error();
    const std::string part = PartPath(*path);
    const Status written = WriteDurably(fs, part, [&](io::WritableFile& file) {
      return *wacz == nullptr ? CopyWithout(fs, *from, doomed_.captures, file)
                              : WriteWacz(part, file);
    });
    if (!written) return written;
    return Describe(part);
  }

  Status Describe(const std::string& part) {
    io::FileSystem& fs = archive_.fs();
    Result<FileFacts> facts = FactsOf(fs, part);
    if (!facts) return facts.error();
    fresh_.bytes = facts->bytes;
    fresh_.sha256 = facts->sha256;
    Result<std::string> rows = archive_.layout().RowsPath(fresh_.volume, fresh_.number);
    if (!rows) return rows.error();
    Result<ContainerSummary> summary = WriteContainerRows(fs, part, {}, *rows);
    if (!summary) return summary.error();
    fresh_.Describe(*summary);
    if (fresh_.captures == fresh_.ids.size()) return {};
    return Error{ErrorCode::kCorrupt, fmt::format("{}: not all captures could be read back", part)};
  }

  // Exports the captures that stay to a new file.
  Status WriteWacz(const std::string& part, io::WritableFile& file) {
    io::FileSink sink(file);
    io::SeededRandom random(archive_.NewSeed());
    WaczOptions options;
    options.keep_revisits = true;
    options.software = "stele";
    Result<std::unique_ptr<WaczExport>> wacz =
        WaczExport::Begin(view_, archive_.clock(), random, part + ".spool.part", options);
    if (!wacz) return wacz.error();
    for (const CaptureId& id : doomed_.stay) {
      const Result<catalog::HeldCapture> held = view_.catalog().Get(id);
      if (!held) return held.error();
      const Result<ExportedCapture> exported = (*wacz)->Add(*held);
      if (!exported) return exported.error();
    }
    return (*wacz)->Finish(sink);
  }

  ArchiveWriter& archive_;
  const ArchiveView& view_;
  const Container& old_;
  const Doomed& doomed_;
  ArchiveWriter::Place place_;
  Container fresh_;
  bool something_stays_ = true;
};

PurgeOutcome::Failure FailureOf(const Container& container, const Error& error) {
  return {fmt::format("{} (container {} in volume {})", container.name, container.number,
                      container.volume),
          error};
}

}  // namespace

Result<PurgeOutcome> PurgeRemoved(ArchiveWriter& archive) {
  PurgeOutcome outcome;
  const ArchiveView view = archive.View();
  const std::set<CaptureId>& removed = view.holdings().removed();
  std::optional<std::uint32_t> run;
  for (const auto& [number, container] : view.holdings().containers()) {
    if (!HasAny(container, removed)) continue;
    Result<Doomed> doomed = DoomedIn(view, container, removed);
    if (!doomed) {
      outcome.failures.push_back(FailureOf(container, doomed.error()));
      continue;
    }
    outcome.held += doomed->held;
    if (doomed->removed == 0) continue;
    if (!container.path.empty()) {
      outcome.not_ours.push_back(container.path);
      continue;
    }
    if (!run) {
      Result<std::uint32_t> begun = archive.BeginRun("purge", "");
      if (!begun) return begun.error();
      run = *begun;
    }
    ContainerPurge purge(archive, view, container, *doomed);
    if (const Status prepared = purge.Prepare(*run); !prepared) {
      outcome.failures.push_back(FailureOf(container, prepared.error()));
      continue;
    }
    if (const Status finished = purge.Finish(outcome.bytes); !finished) return finished.error();
    outcome.captures += doomed->gone;
    ++outcome.containers;
  }
  if (const Status forgotten = archive.ForgetPurged(); !forgotten) return forgotten.error();
  if (run) {
    if (const Status ended = archive.EndRun(*run); !ended) return ended.error();
  }
  return outcome;
}

}  // namespace stele::archive
