#include "archive/removal.h"

#include <fmt/format.h>

#include <set>

#include "archive/container_scan.h"
#include "archive/durable_file.h"
#include "archive/warc_export.h"
#include "catalog/new_rows.h"
#include "formats/url/surt.h"

namespace stele::archive {
namespace {

using catalog::Capture;
using catalog::CaptureId;
using catalog::HeldCapture;

// Errors: kBusy when a hold covers the capture.
Status CheckHolds(const ArchiveView& view, const Capture& row) {
  const Hold* hold = HoldOf(view.holdings(), row);
  if (hold == nullptr) return {};
  return Error{ErrorCode::kBusy,
               fmt::format("{} of {} is under hold {} ({}); nothing was taken down. A hold is "
                           "ended with: stele hold --end {}",
                           row.url, FormatIso(row.time), hold->number, hold->reason, hold->number)};
}

// Tells captures of a payload from others. Some rows only have the SHA-256: when the SHA-1 is asked
// for, others that have both say which it is.
class WantedPayload {
 public:
  // Where there is no digest, each is wanted.
  static Result<WantedPayload> Find(const ArchiveView& view, const std::optional<Digest>& digest) {
    WantedPayload wanted(digest);
    if (!digest || digest->algorithm() != DigestAlgorithm::kSha1) return wanted;
    catalog::CaptureScan scan = view.catalog().Scan({});
    for (;;) {
      const Result<const Capture*> row = scan.Next();
      if (!row) return row.error();
      if (*row == nullptr) return wanted;
      if ((*row)->sha256 && wanted.Has(**row)) wanted.sha256s_.insert(*(*row)->sha256);
    }
  }

  bool Has(const Capture& row) const {
    const auto is = [&](DigestAlgorithm algorithm, const auto& bytes) {
      return bytes && Digest(algorithm, {bytes->data(), bytes->size()}) == *digest_;
    };
    return !digest_ || is(DigestAlgorithm::kSha256, row.sha256) ||
           is(DigestAlgorithm::kSha1, row.sha1) || (row.sha256 && sha256s_.contains(*row.sha256));
  }

 private:
  explicit WantedPayload(const std::optional<Digest>& digest) : digest_(digest) {}

  std::optional<Digest> digest_;
  std::set<catalog::Sha256Bytes> sha256s_;
};

// How many of what the query finds were taken down and are still in their containers.
Result<std::uint64_t> CountRemoved(const ArchiveView& view, CaptureQuery query,
                                   const WantedPayload& wanted) {
  query.with_removed = true;
  CaptureResults results(view, query);
  std::uint64_t count = 0;
  for (;;) {
    Result<const HeldCapture*> held = results.Next();
    if (!held) return held.error();
    if (*held == nullptr) return count;
    const Capture& row = (*held)->row;
    if (IsRemoved(row) && !view.holdings().IsPurged(row.place.container) && wanted.Has(row)) {
      ++count;
    }
  }
}

// The container with the heirs' records, at a reserved place.
Status WriteHeirs(ArchiveWriter& archive, const ArchiveView& view, const RemovalPlan& plan,
                  const io::Clock& clock, io::Random& random, Container& container) {
  io::FileSystem& fs = archive.fs();
  Result<std::string> path = archive.layout().ContainerPath(container);
  if (!path) return path.error();
  const Status written = WriteDurably(fs, PartPath(*path), [&](io::WritableFile& file) -> Status {
    io::FileSink sink(file);
    ExportOptions options;
    options.filename = container.name;
    Result<std::unique_ptr<WarcExport>> warc =
        WarcExport::Begin(view, clock, random, sink, options);
    if (!warc) return warc.error();
    for (const Dependent& heir : plan.heirs) {
      Result<ExportedCapture> exported = (*warc)->AddWhole(heir.revisit, heir.original);
      if (!exported) return exported.error();
      container.ids.push_back(heir.revisit.row.id);
    }
    return {};
  });
  if (!written) return written;
  Result<FileFacts> facts = FactsOf(fs, PartPath(*path));
  if (!facts) return facts.error();
  container.bytes = facts->bytes;
  container.sha256 = facts->sha256;
  Result<std::string> rows = archive.layout().RowsPath(container.volume, container.number);
  if (!rows) return rows.error();
  Result<ContainerSummary> summary = WriteContainerRows(fs, PartPath(*path), {}, *rows);
  if (!summary) return summary.error();
  container.records = summary->records;
  container.captures = summary->captures();
  if (container.captures != container.ids.size()) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{}: not all captures could be read back", PartPath(*path))};
  }
  return {};
}

Status ProvideHeirs(ArchiveWriter& archive, const RemovalPlan& plan, const RemovalWords& words,
                    const io::Clock& clock, io::Random& random) {
  const ArchiveView view = archive.View();
  Result<std::uint32_t> run = archive.BeginRun("inherit", words.note);
  if (!run) return run.error();
  std::uint64_t bytes = 0;
  for (const Dependent& heir : plan.heirs) {
    bytes += heir.original.row.length + heir.revisit.row.place.length;
  }
  Result<ArchiveWriter::Place> place = archive.Reserve(bytes, ArchiveWriter::Room::kForTakedowns);
  if (!place) return place.error();
  Container container;
  container.number = place->number;
  container.volume = place->volume;
  container.run = *run;
  container.name = fmt::format("inherited-{:08}.warc.gz", place->number);
  const Status written = WriteHeirs(archive, view, plan, clock, random, container);
  if (!written) {
    archive.Abandon(*place);
    return written;
  }
  Result<bool> added = archive.Add(container);
  if (!added) return added.error();
  return archive.EndRun(*run);
}

// What goes, and what is asked of it.
struct Going {
  std::set<CaptureId> ids;
  // Revisits that the query finds, where a payload is asked for and their rows do not tell whether
  // they have it.
  std::set<CaptureId> maybe;
};

// Fills the plan's captures with what the query finds and is wanted.
Result<Going> CollectGoing(const ArchiveView& view, const CaptureQuery& query,
                           const WantedPayload& wanted, RemovalPlan& plan) {
  Going going;
  CaptureResults results(view, query);
  for (;;) {
    Result<const HeldCapture*> held = results.Next();
    if (!held) return held.error();
    if (*held == nullptr) return going;
    const Capture& row = (*held)->row;
    if (!wanted.Has(row)) {
      if (IsRevisit(row)) going.maybe.insert(row.id);
      continue;
    }
    if (const Status free = CheckHolds(view, row); !free) return free.error();
    going.ids.insert(row.id);
    plan.captures.push_back(**held);
  }
}

// The payload itself is to go: revisits of it that were asked for go with it, and are dependents no
// more.
Status TakeRevisits(const ArchiveView& view, Going& going, std::vector<Dependent>& dependents,
                    RemovalPlan& plan) {
  std::vector<Dependent> left;
  for (Dependent& dependent : dependents) {
    if (!going.maybe.contains(dependent.revisit.row.id)) {
      left.push_back(std::move(dependent));
      continue;
    }
    if (const Status free = CheckHolds(view, dependent.revisit.row); !free) return free;
    going.ids.insert(dependent.revisit.row.id);
    plan.captures.push_back(std::move(dependent.revisit));
  }
  dependents = std::move(left);
  return {};
}

}  // namespace

const Hold* HoldOf(const Holdings& holdings, const Capture& row) {
  const Hold* hold = holdings.HoldOver(catalog::LocationKeyOf(row), row.time);
  if (hold != nullptr || row.key.empty()) return hold;
  return holdings.HoldOver(catalog::LocationKey(url::SurtKey(row.url)), row.time);
}

Result<RemovalPlan> PlanRemoval(const ArchiveView& view, const CaptureQuery& query,
                                const std::optional<Digest>& payload) {
  const Result<WantedPayload> wanted = WantedPayload::Find(view, payload);
  if (!wanted) return wanted.error();
  RemovalPlan plan;
  Result<Going> going = CollectGoing(view, query, *wanted, plan);
  if (!going) return going.error();
  if (plan.captures.empty()) {
    const Result<std::uint64_t> removed = CountRemoved(view, query, *wanted);
    if (!removed) return removed.error();
    plan.removed_before = *removed;
    if (*removed > 0) return plan;
    return Error{ErrorCode::kNotFound, "there is no such capture; nothing was taken down"};
  }
  Result<Dependents> found = FindDependents(view, plan.captures, going->ids);
  if (found && payload) {
    const std::size_t before = plan.captures.size();
    const Status taken = TakeRevisits(view, *going, found->revisits, plan);
    if (!taken) return taken.error();
    // Others may be led by these.
    if (plan.captures.size() > before) found = FindDependents(view, plan.captures, going->ids);
  }
  if (!found) {
    return Error{found.error().code, found.error().text + "; nothing was taken down"};
  }
  plan.unreadable = found->unreadable;
  Result<Heirs> heirs = ChooseHeirs(view, std::move(found->revisits));
  if (!heirs) return heirs.error();
  plan.heirs = std::move(heirs->heirs);
  plan.lost = std::move(heirs->lost);
  return plan;
}

Result<std::uint32_t> CarryOut(ArchiveWriter& archive, const RemovalPlan& plan,
                               const RemovalWords& words, const io::Clock& clock,
                               io::Random& random) {
  if (!plan.heirs.empty()) {
    const Status provided = ProvideHeirs(archive, plan, words, clock, random);
    if (!provided) return provided.error();
  }
  std::vector<CaptureId> ids;
  for (const HeldCapture& capture : plan.captures) ids.push_back(capture.row.id);
  return archive.Remove(std::move(ids), words.reason, words.note);
}

}  // namespace stele::archive
