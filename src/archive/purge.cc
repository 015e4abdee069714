#include "archive/purge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "archive/container_scan.h"
#include "archive/durable_file.h"
#include "archive/record_cut.h"
#include "archive/wacz_export.h"
#include "archive/wacz_file.h"
#include "catalog/new_rows.h"
#include "io/random.h"
#include "util/checksum.h"

namespace stele::archive {
namespace {

using catalog::CaptureId;

// What a container has of what was taken down.
struct Doomed {
  std::vector<CutCapture> captures;  // all of them, in the order of the file
  std::vector<CaptureId> stay;       // likewise
  std::uint64_t removed = 0;         // captures that were taken down, and go
  std::uint64_t held = 0;            // that were taken down, and stay under a hold
};

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
        if (is_removed && !has_moved &&
            view.holdings().HoldOver(catalog::LocationKeyOf(row), row.time) != nullptr) {
          is_removed = false;
          ++doomed.held;
        }
        const bool goes = is_removed || has_moved;
        doomed.captures.push_back({row.place.offset, ChecksumOf(row.url), row.time, goes});
        if (!goes) doomed.stay.push_back(row.id);
        if (is_removed) ++doomed.removed;
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

  Status Run(std::uint32_t run, std::uint64_t& bytes) {
    std::uint64_t kept = 0;
    if (!doomed_.stay.empty()) {
      Result<ArchiveWriter::Place> place = archive_.Reserve(old_.bytes);
      if (!place) return place.error();
      Container fresh = old_;
      fresh.number = place->number;
      fresh.volume = place->volume;
      fresh.key.clear();
      fresh.operation.clear();
      fresh.part_sha256s.clear();
      fresh.run = run;
      fresh.batches.clear();
      fresh.ids = doomed_.stay;
      const Status written = Write(fresh);
      if (!written) {
        archive_.Abandon(*place);
        return written;
      }
      Result<bool> added = archive_.Add(fresh);
      if (!added) return added.error();
      kept = fresh.bytes;
    }
    bytes += old_.bytes - std::min(kept, old_.bytes);
    return archive_.Purge(old_.number);
  }

 private:
  // Writes what stays to the place of `fresh`, and says in it what it is.
  Status Write(Container& fresh) {
    io::FileSystem& fs = archive_.fs();
    Result<std::string> from = archive_.layout().ContainerPath(old_);
    if (!from) return from.error();
    Result<std::unique_ptr<WaczFile>> wacz = OpenWacz(fs, *from);
    if (!wacz) return wacz.error();
    Result<std::string> path = archive_.layout().ContainerPath(fresh);
    if (!path) return path.error();
    const std::string part = PartPath(*path);
    const Status written = WriteDurably(fs, part, [&](io::WritableFile& file) {
      return *wacz == nullptr ? CopyWithout(fs, *from, doomed_.captures, file)
                              : WriteWacz(part, file);
    });
    if (!written) return written;
    Result<FileFacts> facts = FactsOf(fs, part);
    if (!facts) return facts.error();
    fresh.bytes = facts->bytes;
    fresh.sha256 = facts->sha256;
    Result<std::string> rows = archive_.layout().RowsPath(fresh.volume, fresh.number);
    if (!rows) return rows.error();
    Result<ContainerSummary> summary = WriteContainerRows(fs, part, {}, *rows);
    if (!summary) return summary.error();
    fresh.records = summary->records;
    fresh.captures = summary->captures();
    fresh.losses = summary->losses.size();
    if (fresh.captures == fresh.ids.size()) return {};
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
};

}  // namespace

Result<PurgeOutcome> PurgeRemoved(ArchiveWriter& archive) {
  PurgeOutcome outcome;
  const ArchiveView view = archive.View();
  const std::set<CaptureId>& removed = view.holdings().removed();
  std::optional<std::uint32_t> run;
  for (const auto& [number, container] : view.holdings().containers()) {
    Result<Doomed> doomed = DoomedIn(view, container, removed);
    if (!doomed) return doomed.error();
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
    const Status purged =
        ContainerPurge(archive, view, container, *doomed).Run(*run, outcome.bytes);
    if (!purged) return purged.error();
    outcome.captures += doomed->removed;
    ++outcome.containers;
  }
  if (run) {
    if (const Status ended = archive.EndRun(*run); !ended) return ended.error();
  }
  return outcome;
}

}  // namespace stele::archive
