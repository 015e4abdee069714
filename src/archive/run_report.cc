// One pass over the run's captures in the order of keys counts everything. Beside it goes one over
// the captures of all runs, which leaps from URL to URL of the run.
#include "archive/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "archive/changes.h"
#include "archive/wanted_payloads.h"

namespace stele::archive {
namespace {

using catalog::Capture;
using catalog::HeldCapture;
using catalog::LocationCursor;
using catalog::LocationEntry;

// The payloads of a URL up to a capture, of whatever run. What was taken down, or `shows` does not
// let pass, never was there.
class SeenPayloads {
 public:
  SeenPayloads(const ArchiveView& view, const CaptureFilter& shows)
      : catalog_(view.catalog()), shows_(shows), cursor_(catalog_.NewLocationCursor()) {}

  // Whether its payload was there before. Requires: it is behind the one before in the order of the
  // index.
  Result<bool> Add(const std::string& key, const Capture& capture) {
    const LocationEntry at{key, capture.time, capture.id};
    LocationCursor::Move move = entry_;
    if (key != key_) {
      key_ = key;
      sha256_.clear();
      sha1_.clear();
      move = LeapTo(catalog::FirstOf(key));
    }
    for (; move && *move != nullptr && **move < at; move = cursor_->Next()) {
      const Result<HeldCapture> held = catalog_.Get((*move)->id);
      if (!held) return held.error();
      const bool is_removed = (held->row.flags & catalog::kRemoved) != 0;
      if (!is_removed && (!shows_ || shows_(key, held->row))) Take(held->row);
    }
    if (move && *move != nullptr && **move == at) move = cursor_->Next();
    if (!move) return move.error();
    entry_ = *move;
    return Take(capture);
  }

 private:
  // A key is often near the one before, and a search costs as much as some steps.
  static constexpr int kStepsMax = 16;

  LocationCursor::Move LeapTo(const LocationEntry& at) {
    LocationCursor::Move move = entry_;
    for (int i = 0; i < kStepsMax && move && *move != nullptr && **move < at; ++i) {
      move = cursor_->Next();
    }
    const bool is_there = move && *move != nullptr && !(**move < at);
    return is_there || !move ? move : cursor_->Seek(at);
  }

  bool Take(const Capture& capture) {
    bool seen = false;
    if (capture.sha256) {
      seen = !sha256_.insert(NumberOf(*capture.sha256)).second;
    } else if (capture.sha1) {
      seen = sha1_.contains(NumberOf(*capture.sha1));
    }
    if (capture.sha1) sha1_.insert(NumberOf(*capture.sha1));
    return seen;
  }

  const catalog::CatalogView& catalog_;
  const CaptureFilter& shows_;
  const std::unique_ptr<LocationCursor> cursor_;
  const LocationEntry* entry_ = nullptr;  // where it stands
  std::string key_;
  std::unordered_set<std::uint64_t> sha256_;
  std::unordered_set<std::uint64_t> sha1_;
};

// A site without a robots.txt or an icon misses nothing.
bool IsOptional(const Capture& row) {
  constexpr std::uint32_t kServerError = 500;
  const std::size_t path = row.url.find('/', row.url.find("://") + 3);
  if (path == std::string_view::npos || row.status >= kServerError) return false;
  const std::string_view name = row.url.substr(path);
  return name == "/robots.txt" || name == "/favicon.ico";
}

class Reporter {
 public:
  Reporter(const ArchiveView& view, std::uint32_t run, const CaptureFilter& shows,
           std::uint64_t revisits_max)
      : view_(view), run_(run), shows_(shows), revisits_max_(revisits_max) {}

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
  void Count(std::string_view key, const HeldCapture& held, bool is_duplicate);
  Status CountUnresolved();

  const ArchiveView& view_;
  const std::uint32_t run_;
  const CaptureFilter& shows_;
  const std::uint64_t revisits_max_;
  RunReport report_;
  HostTally hosts_{kHostsShown, HostTally::By::kCaptures};
};

Status Reporter::CountContainers() {
  if (shows_) return {};
  for (const auto& [number, container] : view_.holdings().containers()) {
    // What was purged of the run's files left the rest in others.
    const auto& runs = container.id_runs;
    if (container.run != run_ && std::find(runs.begin(), runs.end(), run_) == runs.end()) continue;
    ++report_.containers;
    report_.container_bytes += container.bytes;
    report_.unlisted += container.unlisted;
    report_.damaged += container.losses;
    if (container.losses == 0 || report_.damaged_first.size() == kTroublesShown) continue;
    Result<std::unique_ptr<ContainerRows>> rows = view_.RowsOf(number);
    if (!rows) continue;  // how many they are is known nevertheless
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
  query.runs = {run_};
  query.with_removed = true;
  query.shows = shows_;
  CaptureResults results(view_, query);
  SeenPayloads seen(view_, shows_);
  for (;;) {
    Result<const HeldCapture*> held = results.Next();
    if (!held) return held.error();
    if (*held == nullptr) break;
    if (((*held)->row.flags & catalog::kRemoved) != 0) {
      if (shows_) ++report_.removed;
      continue;
    }
    const std::string key(results.key());
    const Result<bool> is_duplicate = seen.Add(key, (*held)->row);
    if (!is_duplicate) return is_duplicate.error();
    Count(key, **held, *is_duplicate);
  }
  // The ledger also knows of those whose rows went with their bytes.
  if (!shows_) report_.removed = view_.holdings().RemovedOfRun(run_);
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
  if (!IsThere(row) && !IsOptional(row)) report_.errors.Add(held);
  if ((row.flags & catalog::kRevisit) != 0) report_.revisits.Add(row);
}

Status Reporter::CountUnresolved() {
  Result<UnresolvedRevisits> found =
      FindUnresolved(view_, run_, {.shows = shows_, .revisits_max = revisits_max_});
  if (!found) return found.error();
  report_.unresolved = std::move(found->missing);
  report_.undecided = std::move(found->undecided);
  report_.undecided_reason = std::move(found->reason);
  return {};
}

}  // namespace

Result<RunReport> ReportOn(const ArchiveView& view, std::uint32_t run, const CaptureFilter& shows,
                           std::uint64_t revisits_max) {
  if (!view.holdings().runs().contains(run)) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("there is no run {}; stele info lists the runs", run)};
  }
  return Reporter(view, run, shows, revisits_max).Run();
}

}  // namespace stele::archive
