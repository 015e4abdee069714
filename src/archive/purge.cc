#include "archive/purge.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "archive/companions.h"
#include "archive/container_scan.h"
#include "archive/durable_file.h"
#include "archive/record_cut.h"
#include "archive/removal.h"
#include "archive/wacz_cut.h"
#include "formats/url/surt.h"
#include "formats/warc/segments.h"
#include "util/checksum.h"

namespace stele::archive {
namespace {

using catalog::CaptureId;

// For pages of rows that are read once.
constexpr std::size_t kCacheBytes = std::size_t{1} << 20;

// A capture that stays, and what tells its record from others: it must be the same afterwards.
struct Staying {
  CaptureId id;
  std::uint64_t mark = 0;
};

// What a container has of what was taken down.
struct Doomed {
  CutPlan plan;
  std::vector<Staying> stay;          // in the order of the file
  std::uint64_t removed = 0;          // records of captures that were taken down, and go
  std::uint64_t continued = 0;        // records that continue some of these, wherever they are
  std::uint64_t gone = 0;             // captures whose last record goes
  std::uint64_t held = 0;             // that were taken down, and stay under a hold
  std::vector<Tombstone> tombstones;  // of those that were taken down, and go
};

std::uint64_t MarkOf(const ContainerCapture& capture) {
  const catalog::Capture& row = capture.row;
  const std::string_view sha256 =
      row.sha256 ? std::string_view(row.sha256->data(), row.sha256->size()) : "";
  return ChecksumOf(fmt::format("{} {} {} {} {}", capture.record_id, row.time.milliseconds,
                                row.length, sha256, row.url));
}

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

Status DoomCompanions(Companions& companions, const catalog::Capture& row, CutPlan& plan) {
  Result<std::vector<Companion>> found = companions.Of(row);
  if (!found) return found.error();
  for (const Companion& one : *found) {
    plan.companions.push_back({one.offset, one.offset + one.length});
  }
  plan.keys.insert(ChecksumOf(url::SurtKey(row.url)));
  return {};
}

// Records of a container that continue captures which go, and may be in others.
Status DoomContinuations(const ArchiveView& view, const Container& container,
                         const std::set<std::uint64_t>& origins, Doomed& doomed) {
  if (origins.empty()) return {};
  doomed.plan.origins = origins;
  Result<std::unique_ptr<ContainerRows>> rows = view.RowsOf(container.number);
  if (!rows) return rows.error();
  Result<std::vector<Companion>> companions = (*rows)->Companions();
  if (!companions) return companions.error();
  for (const Companion& one : *companions) {
    const bool continues = one.type == record::RecordType::kContinuation;
    if (!continues || !origins.contains(one.about)) continue;
    doomed.plan.companions.push_back({one.offset, one.offset + one.length});
    ++doomed.continued;
  }
  return {};
}

bool IsHeld(const ArchiveView& view, const catalog::Capture& row) {
  return HoldOf(view.holdings(), row) != nullptr;
}

// Captures that go and are the first of several segments.
struct Segmented {
  std::set<std::uint64_t> ids;         // RecordIdHash()
  std::set<std::uint32_t> containers;  // that they are in
};

// Containers that cannot be read are passed: whoever purges them names them.
Segmented SegmentedThatGo(const ArchiveView& view) {
  Segmented found;
  const std::set<CaptureId>& removed = view.holdings().removed();
  for (const auto& [number, container] : view.holdings().containers()) {
    if (!HasAny(container, removed)) continue;
    static_cast<void>(
        view.ForEachCapture(container, [&](const ContainerCapture& capture) -> Status {
          const catalog::Capture& row = capture.row;
          const bool may_go = removed.contains(row.id) && !IsHeld(view, row);
          if (!may_go || (row.flags & catalog::kTruncated) == 0) return {};
          if (capture.record_id == 0) return {};  // nothing can name it
          const auto stored = view.Open(row);
          if (stored && !warc::BeginsSegments((*stored)->record())) return {};
          found.ids.insert(capture.record_id);
          found.containers.insert(container.number);
          return {};
        }));
  }
  return found;
}

Result<Doomed> DoomedIn(const ArchiveView& view, const Container& container,
                        const std::set<std::uint64_t>& origins) {
  Doomed doomed;
  const std::set<CaptureId>& removed = view.holdings().removed();
  Companions companions(view);
  const Status read =
      view.ForEachCapture(container, [&](const ContainerCapture& capture) -> Status {
        const catalog::Capture& row = capture.row;
        // A record that another has taken the place of goes with the others.
        const auto place = view.holdings().NewPlaceOf(row.id);
        const bool has_moved = place && *place != container.number;
        bool is_removed = removed.contains(row.id);
        if (is_removed && !has_moved && IsHeld(view, row)) {
          is_removed = false;
          ++doomed.held;
        }
        const bool goes = is_removed || has_moved;
        doomed.plan.captures.push_back(
            {row.place.offset, row.place.length, ChecksumOf(row.url), row.time, goes});
        if (!goes) doomed.stay.push_back({row.id, MarkOf(capture)});
        if (goes) {
          if (const Status doom = DoomCompanions(companions, row, doomed.plan); !doom) return doom;
        }
        if (is_removed) {
          ++doomed.removed;
          const std::vector<Tombstone> tombstones = TombstonesOf(row, capture.record_id);
          doomed.tombstones.insert(doomed.tombstones.end(), tombstones.begin(), tombstones.end());
        }
        if (is_removed && !has_moved) ++doomed.gone;
        return {};
      });
  if (!read) return read.error();
  const Status continued = DoomContinuations(view, container, origins, doomed);
  if (!continued) return continued.error();
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
    Result<ArchiveWriter::Place> place =
        archive_.Reserve(old_.bytes, ArchiveWriter::Room::kForTakedowns);
    if (!place) return place.error();
    place_ = *place;
    fresh_ = old_;
    fresh_.number = place->number;
    fresh_.volume = place->volume;
    fresh_.key.clear();
    fresh_.operation.clear();
    fresh_.part_sha256s.clear();
    fresh_.left_out.clear();
    fresh_.run = run;
    fresh_.batches.clear();
    fresh_.ids.clear();
    for (const Staying& staying : doomed_.stay) fresh_.ids.push_back(staying.id);
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
    const Result<bool> left = LeavesSomething();
    // All captures that were ever listed in it were taken down: damage does not keep them here.
    const bool had_others = old_.unlisted > 0 || old_.losses > 0;
    const bool is_damaged = !left && (left.error().code == ErrorCode::kCorrupt ||
                                      left.error().code == ErrorCode::kInvalid);
    if (is_damaged && !had_others) return false;
    return left;
  }

  Result<bool> LeavesSomething() const {
    io::FileSystem& fs = archive_.fs();
    Result<std::string> from = archive_.layout().ContainerPath(old_);
    if (!from) return from.error();
    Result<std::unique_ptr<WaczFile>> wacz = OpenWacz(fs, *from);
    if (!wacz) return wacz.error();
    if (*wacz == nullptr) {
      Result<std::unique_ptr<RecordCut>> cut = CutFile(fs, *from, doomed_.plan);
      return cut ? Result<bool>((*cut)->LeavesSomething()) : cut.error();
    }
    Result<std::unique_ptr<WaczCut>> cut = CutWacz(**wacz, "");
    return cut ? Result<bool>((*cut)->LeavesSomething()) : cut.error();
  }

  Result<std::unique_ptr<WaczCut>> CutWacz(const WaczFile& wacz, const std::string& spool) const {
    WaczCutOptions options;
    options.left_out = old_.NamesLeftOut();
    options.spool = spool;
    return WaczCut::Open(archive_.fs(), wacz, doomed_.plan, std::move(options));
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
      io::FileSink sink(file);
      return *wacz == nullptr ? CopyFile(*from, sink) : CopyWacz(**wacz, part, sink);
    });
    if (!written) return written;
    return Describe(part);
  }

  Status CopyFile(const std::string& from, io::Sink& to) const {
    Result<std::unique_ptr<RecordCut>> cut = CutFile(archive_.fs(), from, doomed_.plan);
    return cut ? (*cut)->Copy(to) : cut.error();
  }

  Status CopyWacz(const WaczFile& wacz, const std::string& part, io::Sink& to) const {
    Result<std::unique_ptr<WaczCut>> cut = CutWacz(wacz, part + ".spool.part");
    if (!cut) return cut.error();
    return (*cut)->Write(view_.layout().config(), "stele", archive_.clock().Now(), to);
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
    return CheckStaying(*rows);
  }

  // All captures that stay must be in the new file as they were in the old one.
  Status CheckStaying(const std::string& rows_path) const {
    catalog::PageCache cache(kCacheBytes);
    const auto rows = ContainerRows::Open(archive_.fs(), rows_path, cache);
    if (!rows) return rows.error();
    std::size_t same = 0;
    bool differs = false;
    const Status read = (*rows)->ForEachCapture([&](std::span<ContainerCapture> some) -> Status {
      for (const ContainerCapture& capture : some) {
        differs =
            differs || same == doomed_.stay.size() || MarkOf(capture) != doomed_.stay[same].mark;
        if (!differs) ++same;
      }
      return {};
    });
    if (!read) return read;
    if (differs || same < doomed_.stay.size()) return Unreadable(same);
    return {};
  }

  // What to do about a capture that stays, and is damaged.
  Error Unreadable(std::size_t number) const {
    if (number == doomed_.stay.size()) {
      return Error{ErrorCode::kCorrupt,
                   "it has other captures than when it came; restore it from "
                   "a backup"};
    }
    const CaptureId id = doomed_.stay[number].id;
    const Result<catalog::HeldCapture> held = view_.catalog().Get(id);
    return Error{ErrorCode::kCorrupt,
                 fmt::format("capture {} of {}, which stays, cannot be read any more; restore the "
                             "file from a backup, or take this capture down, too",
                             FormatCaptureId(id), held ? held->row.url : "an unknown URL")};
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

// One look at all containers.
class Purge {
 public:
  explicit Purge(ArchiveWriter& archive) : archive_(archive) {}

  Result<PurgeOutcome> Run() {
    const ArchiveView view = archive_.View();
    segmented_ = SegmentedThatGo(view);
    if (const Status purged = PurgeContinuations(view); !purged) return purged.error();
    for (const auto& [number, container] : view.holdings().containers()) {
      if (!HasAny(container, view.holdings().removed()) || done_.contains(number)) continue;
      if (const Status purged = PurgeOne(view, container); !purged) return purged.error();
    }
    // WACZ files that left out what is gone by now have its bytes, too.
    const ArchiveView later = archive_.View();
    for (const auto& [number, container] : later.holdings().containers()) {
      if (!HoldsPurgedPart(later.holdings(), container)) continue;
      if (const Status purged = PurgeOne(later, container); !purged) return purged.error();
    }
    if (const Status forgotten = archive_.ForgetPurged(); !forgotten) return forgotten.error();
    if (run_) {
      if (const Status ended = archive_.EndRun(*run_); !ended) return ended.error();
    }
    return outcome_;
  }

 private:
  // What continues a record is known by its id, which nobody knows when the record is gone: so it
  // goes first.
  Status PurgeContinuations(const ArchiveView& view) {
    if (segmented_.ids.empty()) return {};
    const auto holders = view.continuations().ContainersOf(view, segmented_.ids);
    if (!holders) {
      obstacle_ = holders.error();
      return {};
    }
    for (const std::uint32_t number : *holders) {
      if (segmented_.containers.contains(number)) continue;
      const std::size_t before = outcome_.failures.size() + outcome_.not_ours.size();
      const Container& container = *view.holdings().Find(number);
      if (const Status purged = PurgeOne(view, container); !purged) return purged;
      done_.insert(number);
      if (outcome_.failures.size() + outcome_.not_ours.size() == before) continue;
      obstacle_ = Error{
          ErrorCode::kInvalid,
          fmt::format("a record of it goes on in {}, which could not be purged", container.name)};
    }
    return {};
  }

  Status PurgeOne(const ArchiveView& view, const Container& container) {
    if (obstacle_ && segmented_.containers.contains(container.number)) {
      outcome_.failures.push_back(FailureOf(container, *obstacle_));
      return {};
    }
    Result<Doomed> doomed = DoomedIn(view, container, segmented_.ids);
    if (!doomed) {
      outcome_.failures.push_back(FailureOf(container, doomed.error()));
      return {};
    }
    outcome_.held += doomed->held;
    const bool has_any =
        doomed->removed > 0 || doomed->continued > 0 || HoldsPurgedPart(view.holdings(), container);
    if (!has_any) return {};
    if (!container.path.empty()) {
      std::vector<std::string>& named = outcome_.not_ours;
      const bool is_named = std::find(named.begin(), named.end(), container.path) != named.end();
      if (!is_named) named.push_back(container.path);
      return {};
    }
    if (!run_) {
      Result<std::uint32_t> begun = archive_.BeginRun("purge", "");
      if (!begun) return begun.error();
      run_ = *begun;
    }
    ContainerPurge purge(archive_, view, container, *doomed);
    if (const Status prepared = purge.Prepare(*run_); !prepared) {
      outcome_.failures.push_back(FailureOf(container, prepared.error()));
      return {};
    }
    if (const Status finished = purge.Finish(outcome_.bytes); !finished) return finished;
    outcome_.captures += doomed->gone;
    ++outcome_.containers;
    return {};
  }

  ArchiveWriter& archive_;
  Segmented segmented_;
  std::optional<Error> obstacle_;  // why those that have segmented records cannot be purged
  std::set<std::uint32_t> done_;   // containers
  std::optional<std::uint32_t> run_;
  PurgeOutcome outcome_;
};

}  // namespace

Result<PurgeOutcome> PurgeRemoved(ArchiveWriter& archive) { return Purge(archive).Run(); }

}  // namespace stele::archive
