// A resolver would go through the rows of all containers for each revisit whose original is known
// by record id or digest alone. Here it notes what it looks for instead, one pass finds all of it,
// and those revisits are asked again; what they found may be a revisit that looks for more.
#include "archive/unresolved.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>

#include "archive/revisit_resolver.h"
#include "archive/wanted_payloads.h"
#include "formats/url/surt.h"

namespace stele::archive {
namespace {

using catalog::Capture;
using catalog::CaptureId;
using catalog::HeldCapture;

// As long as the chains that a resolver follows.
constexpr int kPassesMax = 16;

// Captures that are looked for by a number, and those that were found.
class Wanted {
 public:
  std::optional<CaptureId> Ask(std::uint64_t number) {
    if (number == 0) return std::nullopt;
    const auto [entry, is_new] = captures_.try_emplace(number);
    if (is_new) has_new_ = true;
    return entry->second;
  }
  bool Wants(std::uint64_t number) const {
    const auto entry = captures_.find(number);
    return entry != captures_.end() && !entry->second;
  }
  void Find(std::uint64_t number, const CaptureId& id) { captures_[number] = id; }
  // Whether something was asked for since the last time.
  bool TakeNew() { return std::exchange(has_new_, false); }

 private:
  std::unordered_map<std::uint64_t, std::optional<CaptureId>> captures_;
  bool has_new_ = false;
};

class Finder {
 public:
  Finder(const ArchiveView& view, std::uint32_t run, const UnresolvedOptions& options)
      : view_(view),
        run_(run),
        options_(options),
        ids_(view.holdings().IdsOfRun(run)),
        resolver_(view, [this](const Capture& revisit, std::uint64_t record_id) {
          return Search(revisit, record_id);
        }) {}

  Result<CaptureTrouble> Run() {
    std::vector<Revisit> some;
    const std::size_t max = std::max<std::uint64_t>(options_.revisits_max, 1);
    const Status read = ForEachRowOfRun([&](const Capture& row) -> Status {
      if ((row.flags & catalog::kRevisit) == 0) return {};
      some.push_back({row.id, PayloadOf(row)});
      return some.size() < max ? Status() : FindAmong(std::exchange(some, {}));
    });
    if (!read) return read.error();
    if (const Status found = FindAmong(std::move(some)); !found) return found.error();
    return std::move(trouble_);
  }

 private:
  struct Revisit {
    CaptureId id;
    std::uint64_t payload = 0;  // 0: it does not say
  };
  using TakeRow = std::function<Status(const Capture&)>;

  Status FindAmong(std::vector<Revisit> revisits);
  // Forgets those whose payload a capture has: of the run, then, where many are left, of any.
  Status DropKnownPayloads(std::vector<Revisit>& revisits) const;
  // Forgets those that are resolved.
  Status DropResolved(std::vector<Revisit>& revisits) const;
  Result<bool> IsResolved(const CaptureId& id) const;

  std::vector<CaptureId> Search(const Capture& revisit, std::uint64_t record_id);
  // Finds what is wanted in the rows of the run's containers, or of all. False: nothing more.
  Result<bool> FindInContainers(bool in_all);

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
  const RevisitResolver resolver_;
  Wanted record_ids_;
  Wanted payloads_;
  CaptureTrouble trouble_;
};

Status Finder::FindAmong(std::vector<Revisit> revisits) {
  record_ids_ = {};
  payloads_ = {};
  if (const Status dropped = DropKnownPayloads(revisits); !dropped) return dropped;
  if (const Status dropped = DropResolved(revisits); !dropped) return dropped;
  // Most originals that are known by record id came with the run.
  for (const bool in_all : {false, true}) {
    for (int pass = 0; pass < kPassesMax && !revisits.empty(); ++pass) {
      const Result<bool> found = FindInContainers(in_all);
      if (!found) return found.error();
      if (!*found) break;
      if (const Status dropped = DropResolved(revisits); !dropped) return dropped;
      const bool wants_ids = record_ids_.TakeNew();
      const bool wants_payloads = payloads_.TakeNew();
      if (!wants_ids && !wants_payloads) break;
    }
  }
  for (const Revisit& revisit : revisits) {
    if (trouble_.first.size() == kTroublesShown) {
      ++trouble_.captures;
      continue;
    }
    const Result<HeldCapture> held = view_.catalog().Get(revisit.id);
    if (!held) return held.error();
    trouble_.Add(*held);
  }
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

Status Finder::DropResolved(std::vector<Revisit>& revisits) const {
  std::vector<Revisit> left;
  for (const Revisit& revisit : revisits) {
    const Result<bool> is_resolved = IsResolved(revisit.id);
    if (!is_resolved) return is_resolved.error();
    if (!*is_resolved) left.push_back(revisit);
  }
  revisits = std::move(left);
  return {};
}

Result<bool> Finder::IsResolved(const CaptureId& id) const {
  const Result<HeldCapture> held = view_.catalog().Get(id);
  if (!held) return held.error();
  const Result<HeldCapture> original = resolver_.Resolve(*held);
  if (!original && original.error().code != ErrorCode::kNotFound) return original.error();
  return original && Shows(original->row);
}

std::vector<CaptureId> Finder::Search(const Capture& revisit, std::uint64_t record_id) {
  std::vector<CaptureId> ids;
  if (const auto id = record_ids_.Ask(record_id)) ids.push_back(*id);
  if (const auto id = payloads_.Ask(PayloadOf(revisit))) ids.push_back(*id);
  return ids;
}

Result<bool> Finder::FindInContainers(bool in_all) {
  bool found = false;
  const auto find = [&](Wanted& wanted, std::uint64_t number, const Capture& row) {
    if (!wanted.Wants(number) || !Counts(row)) return;
    wanted.Find(number, row.id);
    found = true;
  };
  for (const auto& [number, container] : view_.holdings().containers()) {
    if (!in_all && container.run != run_) continue;
    const Status read =
        view_.ForEachCapture(container, [&](const ContainerCapture& capture) -> Status {
          const Capture& row = capture.row;
          find(record_ids_, capture.record_id, row);
          if ((row.flags & catalog::kRevisit) != 0) return {};
          if (row.sha256) find(payloads_, NumberOf(*row.sha256), row);
          if (row.sha1) find(payloads_, NumberOf(*row.sha1), row);
          return {};
        });
    if (!read) return read.error();
  }
  return found;
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

Result<CaptureTrouble> FindUnresolved(const ArchiveView& view, std::uint32_t run,
                                      const UnresolvedOptions& options) {
  return Finder(view, run, options).Run();
}

}  // namespace stele::archive
