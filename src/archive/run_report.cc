// One pass in the order of keys counts everything, as all captures of a URL, the earlier runs'
// too, come together there. Whether a revisit's payload is anywhere is asked of all captures at
// once, in a second pass in the order of the files: one by one, a run of revisits whose originals
// are elsewhere would take forever.
#include "archive/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "archive/changes.h"
#include "archive/revisit_resolver.h"

namespace stele::archive {
namespace {

using catalog::Capture;
using catalog::HeldCapture;

// A number for a digest; digests are as good as random.
template <std::size_t kSize>
std::uint64_t NumberOf(const std::array<char, kSize>& digest) {
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number;
}

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
  Reporter(const ArchiveView& view, std::uint32_t run, const CaptureFilter& shows)
      : view_(view), run_(run), shows_(shows) {}

  Result<RunReport> Run() {
    for (const auto& step : {&Reporter::CountContainers, &Reporter::CountCaptures,
                             &Reporter::FindOriginals, &Reporter::CountUnresolved}) {
      if (const Status done = (this->*step)(); !done) return done.error();
    }
    return std::move(report_);
  }

 private:
  // A revisit, and a number for the digest of its payload.
  struct Revisit {
    catalog::CaptureId id;
    std::uint64_t payload = 0;
  };

  Status CountContainers();
  Status CountCaptures();
  void Count(std::string_view key, const HeldCapture& held, bool is_duplicate);
  Status FindOriginals();
  Status CountUnresolved();

  const ArchiveView& view_;
  const std::uint32_t run_;
  const CaptureFilter& shows_;
  RunReport report_;
  HostTally hosts_{kHostsShown, HostTally::By::kCaptures};
  std::vector<Revisit> revisits_;
  std::unordered_map<std::uint64_t, bool> found_;  // payloads of revisits: whether they are here
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
  CaptureResults results(view_.catalog(), query);
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
    if (is_ours) Count(key, **held, is_duplicate);
  }
  report_.host_count = hosts_.hosts();
  report_.hosts = hosts_.Largest();
  return {};
}

void Reporter::Count(std::string_view key, const HeldCapture& held, bool is_duplicate) {
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
  if ((row.flags & catalog::kRevisit) == 0) return;
  report_.revisits.Add(row);
  Revisit revisit{row.id, 0};
  if (row.sha256) revisit.payload = NumberOf(*row.sha256);
  if (!row.sha256 && row.sha1) revisit.payload = NumberOf(*row.sha1);
  if (revisit.payload != 0) found_.emplace(revisit.payload, false);
  revisits_.push_back(revisit);
}

Status Reporter::FindOriginals() {
  if (found_.empty()) return {};
  catalog::CaptureScan scan = view_.catalog().Scan({});
  const auto mark = [&](std::uint64_t payload) {
    if (const auto wanted = found_.find(payload); wanted != found_.end()) wanted->second = true;
  };
  for (;;) {
    Result<const Capture*> row = scan.Next();
    if (!row) return row.error();
    if (*row == nullptr) return {};
    if (((*row)->flags & (catalog::kRevisit | catalog::kRemoved)) != 0) continue;
    if (shows_ && !shows_((*row)->key, **row)) continue;
    if ((*row)->sha256) mark(NumberOf(*(*row)->sha256));
    if ((*row)->sha1) mark(NumberOf(*(*row)->sha1));
  }
}

Status Reporter::CountUnresolved() {
  const RevisitResolver resolver(view_);
  for (const Revisit& revisit : revisits_) {
    if (revisit.payload != 0 && found_.at(revisit.payload)) continue;
    if (revisit.payload != 0 && report_.unresolved.first.size() == kTroublesShown) {
      ++report_.unresolved.captures;
      continue;
    }
    Result<HeldCapture> held = view_.catalog().Get(revisit.id);
    if (!held) return held.error();
    if (revisit.payload == 0) {
      // Without a digest, "not modified" say: what its URL had before.
      Result<HeldCapture> original = resolver.Resolve(*held);
      if (original) continue;
      if (original.error().code != ErrorCode::kNotFound) return original.error();
    }
    report_.unresolved.Add(*held);
  }
  return {};
}

}  // namespace

void CaptureTrouble::Add(const HeldCapture& capture) {
  ++captures;
  if (first.size() < kTroublesShown) first.push_back(capture);
}

Result<RunReport> ReportOn(const ArchiveView& view, std::uint32_t run, const CaptureFilter& shows) {
  if (!view.holdings().runs().contains(run)) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("there is no run {}; stele info lists the runs", run)};
  }
  return Reporter(view, run, shows).Run();
}

}  // namespace stele::archive
