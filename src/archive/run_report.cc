// One pass in the order of keys counts everything, as all captures of a URL, the earlier runs'
// too, come together there. Whether a revisit's payload is anywhere is asked of all captures at
// once, in passes in the order of the files: one by one, a run of revisits whose originals are
// elsewhere would take forever. Digests are as good as random, so that their remainders divide them
// into parts of one size, when there are too many for the memory.
#include "archive/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "archive/changes.h"
#include "archive/revisit_resolver.h"
#include "archive/wanted_payloads.h"
#include "formats/url/surt.h"

namespace stele::archive {
namespace {

using catalog::Capture;
using catalog::HeldCapture;

// The payloads of a URL that were seen so far.
class SeenPayloads {
 public:
  // Whether it was there before.
  bool Add(const Capture& capture) {
    bool seen = false;
    if (capture.sha256) {
      seen = !sha256_.insert(NumberOf(*capture.sha256)).second;
    } else if (capture.sha1) {
      seen = sha1_.contains(NumberOf(*capture.sha1));
    }
    if (capture.sha1) sha1_.insert(NumberOf(*capture.sha1));
    return seen;
  }
  void Clear() {
    sha256_.clear();
    sha1_.clear();
  }

 private:
  std::unordered_set<std::uint64_t> sha256_;
  std::unordered_set<std::uint64_t> sha1_;
};

class Reporter {
 public:
  Reporter(const ArchiveView& view, std::uint32_t run, const CaptureFilter& shows,
           std::uint64_t revisits_max)
      : view_(view), run_(run), shows_(shows), revisits_max_(revisits_max), resolver_(view) {}

  Result<RunReport> Run() {
    for (const auto& step :
         {&Reporter::CountContainers, &Reporter::CountCaptures, &Reporter::CountUnresolved}) {
      if (const Status done = (this->*step)(); !done) return done.error();
    }
    return std::move(report_);
  }

 private:
  Status CountContainers();
  Status CountCaptures();
  Status Count(std::string_view key, const HeldCapture& held, bool is_duplicate);
  Status CountUnresolved();
  // Of the revisits whose payloads have this remainder.
  Status CountUnresolvedOf(std::uint64_t part, std::uint64_t parts);
  // Gives each row that counts to `take`, in the order of ids. Errors: those of `take`, too.
  Status ForEachRow(const std::function<Status(const Capture&)>& take) const;
  // Nothing for rows that are no revisits of the run, and for those without a digest.
  std::uint64_t WantedBy(const Capture& row) const {
    return row.run == run_ && (row.flags & catalog::kRevisit) != 0 ? PayloadOf(row) : 0;
  }

  const ArchiveView& view_;
  const std::uint32_t run_;
  const CaptureFilter& shows_;
  const std::uint64_t revisits_max_;
  const RevisitResolver resolver_;
  RunReport report_;
  HostTally hosts_{kHostsShown, HostTally::By::kCaptures};
  std::uint64_t with_payload_ = 0;  // revisits that name the digest of what they repeat
};

Status Reporter::CountContainers() {
  if (shows_) return {};
  for (const auto& [number, container] : view_.holdings().containers()) {
    if (container.run != run_) continue;
    ++report_.containers;
    report_.container_bytes += container.bytes;
    report_.unlisted += container.unlisted;
    report_.damaged += container.losses;
    if (container.losses == 0 || report_.damaged_first.size() == kTroublesShown) continue;
    Result<std::unique_ptr<ContainerRows>> rows = view_.RowsOf(number);
    if (!rows) return rows.error();
    for (const record::Loss& loss : (*rows)->summary().losses) {
      if (report_.damaged_first.size() == kTroublesShown) break;
      report_.damaged_first.push_back({container.name, loss});
    }
  }
  return {};
}

Status Reporter::CountCaptures() {
  CaptureQuery query;
  query.where.what = catalog::SelectAll();
  query.with_removed = true;
  query.shows = shows_;
  CaptureResults results(view_, query);
  SeenPayloads seen;
  std::string key;
  for (;;) {
    Result<const HeldCapture*> held = results.Next();
    if (!held) return held.error();
    if (*held == nullptr) break;
    if (results.key() != key) {
      key = results.key();
      seen.Clear();
    }
    const Capture& row = (*held)->row;
    const bool is_ours = row.run == run_;
    if ((row.flags & catalog::kRemoved) != 0) {
      if (is_ours) ++report_.removed;
      continue;
    }
    const bool is_duplicate = seen.Add(row);
    const Status counted = is_ours ? Count(key, **held, is_duplicate) : Status();
    if (!counted) return counted;
  }
  report_.host_count = hosts_.hosts();
  report_.hosts = hosts_.Largest();
  return {};
}

Status Reporter::Count(std::string_view key, const HeldCapture& held, bool is_duplicate) {
  const Capture& row = held.row;
  report_.all.Add(row);
  if ((row.flags & catalog::kPage) != 0) report_.pages.Add(row);
  if (is_duplicate) report_.duplicates.Add(row);
  if ((row.flags & catalog::kTruncated) != 0) ++report_.truncated;
  report_.by_status[row.status == 0 ? "-" : fmt::format("{}xx", row.status / 100)].Add(row);
  report_.by_type[row.type.empty() ? "-" : std::string(row.type)].Add(row);
  hosts_.Add(key, row);
  report_.first = std::min(report_.first.value_or(row.time), row.time);
  report_.last = std::max(report_.last.value_or(row.time), row.time);
  if (!IsThere(row)) report_.errors.Add(held);
  if ((row.flags & catalog::kRevisit) == 0) return {};
  report_.revisits.Add(row);
  if (PayloadOf(row) != 0) {
    ++with_payload_;
    return {};
  }
  // "Not modified", say: what its URL had before.
  const Result<HeldCapture> original = resolver_.Resolve(held);
  if (!original && original.error().code != ErrorCode::kNotFound) return original.error();
  if (!original) report_.unresolved.Add(held);
  return {};
}

Status Reporter::ForEachRow(const std::function<Status(const Capture&)>& take) const {
  catalog::CaptureScan scan = view_.catalog().Scan({});
  for (;;) {
    const Result<const Capture*> row = scan.Next();
    if (!row) return row.error();
    if (*row == nullptr) return {};
    if (((*row)->flags & catalog::kRemoved) != 0) continue;
    if (shows_) {
      const std::string key =
          (*row)->key.empty() ? url::SurtKey((*row)->url) : std::string((*row)->key);
      if (!shows_(key, **row)) continue;
    }
    if (const Status taken = take(**row); !taken) return taken;
  }
}

Status Reporter::CountUnresolved() {
  const std::uint64_t parts = (with_payload_ + revisits_max_ - 1) / revisits_max_;
  for (std::uint64_t part = 0; part < parts; ++part) {
    if (const Status counted = CountUnresolvedOf(part, parts); !counted) return counted;
  }
  return {};
}

Status Reporter::CountUnresolvedOf(std::uint64_t part, std::uint64_t parts) {
  std::vector<std::uint64_t> payloads;
  Status read = ForEachRow([&](const Capture& row) -> Status {
    const std::uint64_t payload = WantedBy(row);
    if (payload != 0 && payload % parts == part) payloads.push_back(payload);
    return {};
  });
  if (!read) return read;
  WantedPayloads wanted(std::move(payloads));
  read = ForEachRow([&](const Capture& row) -> Status {
    wanted.FindIn(row);
    return {};
  });
  if (!read || !wanted.lacks_any()) return read;
  return ForEachRow([&](const Capture& row) -> Status {
    const std::uint64_t payload = WantedBy(row);
    if (payload == 0 || !wanted.Lacks(payload)) return {};
    if (report_.unresolved.first.size() == kTroublesShown) {
      ++report_.unresolved.captures;
      return {};
    }
    const Result<HeldCapture> held = view_.catalog().Get(row.id);
    if (!held) return held.error();
    report_.unresolved.Add(*held);
    return {};
  });
}

}  // namespace

void CaptureTrouble::Add(const HeldCapture& capture) {
  ++captures;
  if (first.size() < kTroublesShown) first.push_back(capture);
}

Result<RunReport> ReportOn(const ArchiveView& view, std::uint32_t run, const CaptureFilter& shows,
                           std::uint64_t revisits_max) {
  if (!view.holdings().runs().contains(run)) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("there is no run {}; stele info lists the runs", run)};
  }
  return Reporter(view, run, shows, std::max<std::uint64_t>(revisits_max, 1)).Run();
}

}  // namespace stele::archive
