// A resolver would go through the rows of all containers for each revisit whose original is known
// by record id or digest alone. Here it notes what it looks for instead, one pass finds all of it,
// and those revisits are asked again; what they found may be a revisit that looks for more.
#include "archive/unresolved.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "archive/revisit_resolver.h"
#include "archive/scanned_originals.h"
#include "archive/wanted_payloads.h"
#include "formats/url/surt.h"

namespace stele::archive {
namespace {

using catalog::Capture;
using catalog::CaptureId;
using catalog::HeldCapture;

// Of chains by record ids that lead through other runs: one pass finds all those of this one.
constexpr int kPassesMax = 16;

class Finder {
 public:
  Finder(const ArchiveView& view, std::uint32_t run, const UnresolvedOptions& options)
      : view_(view),
        run_(run),
        options_(options),
        ids_(view.holdings().IdsOfRun(run)),
        resolver_(view, scanned_) {}

  Result<UnresolvedRevisits> Run() {
    std::vector<Revisit> some;
    const std::size_t max = std::max<std::uint64_t>(options_.revisits_max, 1);
    const Status read = ForEachRowOfRun([&](const Capture& row) -> Status {
      if ((row.flags & catalog::kRevisit) == 0) return {};
      some.push_back({row.id, ClaimsNothing(row) ? 0 : PayloadOf(row)});
      return some.size() < max ? Status() : FindAmong(std::exchange(some, {}));
    });
    if (!read) return read.error();
    if (const Status found = FindAmong(std::move(some)); !found) return found.error();
    return std::move(outcome_);
  }

 private:
  struct Revisit {
    CaptureId id;
    std::uint64_t payload = 0;  // 0: it does not say of what
  };
  using TakeRow = std::function<Status(const Capture&)>;

  Status FindAmong(std::vector<Revisit> revisits);
  // Forgets those whose payload a capture has: of the run, then, where many are left, of any.
  Status DropKnownPayloads(std::vector<Revisit>& revisits) const;
  // Forgets those that are resolved, and those of which nobody can know it.
  Status DropResolved(std::vector<Revisit>& revisits);
  Status AddTo(CaptureTrouble& trouble, const CaptureId& id) const;

  // Both tell of rows that count, in the order of ids.
  Status ForEachRowOfRun(const TakeRow& take) const;
  Status ForEachRow(const TakeRow& take) const;
  bool Counts(const Capture& row) const {
    return (row.flags & catalog::kRemoved) == 0 && !view_.holdings().removed().contains(row.id) &&
           Shows(row);
  }
  bool Shows(const Capture& row) const {
    return !options_.shows ||
           options_.shows(row.key.empty() ? url::SurtKey(row.url) : std::string(row.key), row);
  }

  const ArchiveView& view_;
  const std::uint32_t run_;
  const UnresolvedOptions& options_;
  const std::vector<Holdings::IdRange> ids_;
  ScannedOriginals scanned_;
  const RevisitResolver resolver_;
  UnresolvedRevisits outcome_;
};

Status Finder::FindAmong(std::vector<Revisit> revisits) {
  scanned_ = {};
  if (const Status dropped = DropKnownPayloads(revisits); !dropped) return dropped;
  if (const Status dropped = DropResolved(revisits); !dropped) return dropped;
  const auto shows = [this](const Capture& row) { return Shows(row); };
  // Most originals that are known by record id came with the run.
  for (const std::optional<std::uint32_t> run :
       {std::optional(run_), std::optional<std::uint32_t>()}) {
    for (int pass = 0; pass < kPassesMax && !revisits.empty(); ++pass) {
      const bool found = scanned_.Fill(view_, {.run = run, .counts = shows});
      // Some are taken for the last that may be meant when all was looked through.
      if (!found && run) break;
      if (const Status dropped = DropResolved(revisits); !dropped) return dropped;
      if (!scanned_.has_new()) break;
    }
  }
  // Where some could not be looked into, nobody knows what is lacking.
  const Status& failure = scanned_.failure();
  if (!revisits.empty() && !failure && outcome_.reason.empty()) {
    outcome_.reason = failure.error().text;
  }
  for (const Revisit& revisit : revisits) {
    const Status added = AddTo(failure ? outcome_.missing : outcome_.undecided, revisit.id);
    if (!added) return added;
  }
  return {};
}

Status Finder::AddTo(CaptureTrouble& trouble, const CaptureId& id) const {
  if (trouble.first.size() == kTroublesShown) {
    ++trouble.captures;
    return {};
  }
  const Result<HeldCapture> held = view_.catalog().Get(id);
  if (!held) return held.error();
  trouble.Add(*held);
  return {};
}

Status Finder::DropKnownPayloads(std::vector<Revisit>& revisits) const {
  std::vector<std::uint64_t> payloads;
  for (const Revisit& revisit : revisits) {
    if (revisit.payload != 0) payloads.push_back(revisit.payload);
  }
  if (payloads.empty()) return {};
  WantedPayloads wanted(std::move(payloads));
  const TakeRow find = [&](const Capture& row) -> Status {
    wanted.FindIn(row);
    return {};
  };
  const auto drop = [&] {
    std::erase_if(revisits, [&](const Revisit& revisit) {
      return revisit.payload != 0 && !wanted.Lacks(revisit.payload);
    });
  };
  if (const Status read = ForEachRowOfRun(find); !read) return read;
  drop();
  if (revisits.size() <= options_.look_ups_max) return {};
  if (const Status read = ForEachRow(find); !read) return read;
  drop();
  return {};
}

Status Finder::DropResolved(std::vector<Revisit>& revisits) {
  std::vector<Revisit> left;
  for (const Revisit& revisit : revisits) {
    const Result<HeldCapture> held = view_.catalog().Get(revisit.id);
    if (!held) return held.error();
    const Result<HeldCapture> original = resolver_.Resolve(*held);
    if (original && Shows(original->row)) continue;
    if (original || original.error().code == ErrorCode::kNotFound) {
      left.push_back(revisit);
      continue;
    }
    outcome_.undecided.Add(*held);
    if (outcome_.reason.empty()) outcome_.reason = original.error().text;
  }
  revisits = std::move(left);
  return {};
}

Status Finder::ForEachRowOfRun(const TakeRow& take) const {
  for (const Holdings::IdRange& range : ids_) {
    catalog::CaptureScan::Query rows;
    rows.batch = range.first.batch;
    if (range.first.serial > 0) rows.after = {range.first.batch, range.first.serial - 1};
    catalog::CaptureScan scan = view_.catalog().Scan(rows);
    for (;;) {
      const Result<const Capture*> row = scan.Next();
      if (!row) return row.error();
      if (*row == nullptr || range.last < (*row)->id) break;
      if (!Counts(**row)) continue;
      if (const Status taken = take(**row); !taken) return taken;
    }
  }
  return {};
}

Status Finder::ForEachRow(const TakeRow& take) const {
  catalog::CaptureScan scan = view_.catalog().Scan({});
  for (;;) {
    const Result<const Capture*> row = scan.Next();
    if (!row) return row.error();
    if (*row == nullptr) return {};
    if (!Counts(**row)) continue;
    if (const Status taken = take(**row); !taken) return taken;
  }
}

}  // namespace

void CaptureTrouble::Add(const HeldCapture& capture) {
  ++captures;
  if (first.size() < kTroublesShown) first.push_back(capture);
}

Result<UnresolvedRevisits> FindUnresolved(const ArchiveView& view, std::uint32_t run,
                                          const UnresolvedOptions& options) {
  return Finder(view, run, options).Run();
}

}  // namespace stele::archive
