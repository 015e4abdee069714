#include "archive/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "archive/durable_file.h"
#include "archive/ledger.h"
#include "archive/unknown_containers.h"
#include "catalog/remedy.h"

namespace stele::archive {
namespace {

using catalog::kReindexRemedy;

// A damaged file's own error says what to do.
std::string Advised(const Error& error) {
  if (error.code == ErrorCode::kCorrupt) return error.text;
  return fmt::format("{}; {}", error.text, kReindexRemedy);
}

class Verification {
 public:
  Verification(const ArchiveView& view, const VerifyOptions& options,
               const std::function<void(const std::string&)>& report)
      : view_(view), options_(options), report_(report) {
    for (const auto& [number, removal] : view.holdings().removals()) {
      removed_.insert(removed_.end(), removal.captures.begin(), removal.captures.end());
      if (removal.ledger_end <= options.applied) continue;
      unfinished_removals_.insert(removal.captures.begin(), removal.captures.end());
    }
    std::sort(removed_.begin(), removed_.end());
  }

  Result<VerifyOutcome> Run() {
    if (const Status checked = CheckLedger(); !checked) return checked.error();
    for (const auto& [number, container] : view_.holdings().containers()) {
      ++outcome_.containers;
      CheckFile(container);
      if (const Status checked = CheckRows(container); !checked) return checked.error();
    }
    view_.catalog().Verify([&](const Error& error) { Say(Advised(error)); });
    if (const Status checked = CheckIndex(); !checked) return checked.error();
    return outcome_;
  }

 private:
  void Say(const std::string& text) {
    ++outcome_.defects;
    report_(text);
  }

  bool IsUnfinished(const Container& container) const {
    return container.ledger_end > options_.applied;
  }

  // It must know all containers in the volumes.
  Status CheckLedger() {
    const Result<std::vector<UnknownContainer>> unknown =
        FindUnknownContainers(view_.fs(), view_.layout(), view_.holdings());
    if (!unknown) return unknown.error();
    if (unknown->empty()) return {};
    // A writer that goes on told the ledger before a file got its name.
    Holdings now = view_.holdings();
    const Result<std::uint64_t> read = ReadLedger(
        view_.fs(), view_.layout().LedgerPath(), now.ledger_end(),
        [&](const LedgerEvent& event, std::uint64_t end) { return now.Apply(event, end); });
    if (!read) return read.error();
    for (const UnknownContainer& container : *unknown) {
      if (!container.IsIn(now)) Say(NotInLedger(view_.layout(), container).text);
    }
    return {};
  }

  // Where its file is; one that came last may not have its name yet.
  Result<std::string> FindFile(const Container& container) const {
    Result<std::string> path = view_.layout().ContainerPath(container);
    if (!path || !IsUnfinished(container)) return path;
    for (const std::string& other : {*path, PartPath(*path), OpenPath(*path)}) {
      if (const Result<bool> there = view_.fs().Exists(other); there && *there) return other;
    }
    return path;
  }

  void CheckFile(const Container& container) {
    const Result<std::string> path = FindFile(container);
    if (!path) return Say(path.error().text);
    auto file = view_.fs().OpenForReading(*path);
    if (!file) return Say(file.error().text + "; restore it from a backup");
    const Result<std::uint64_t> size = (*file)->Size();
    if (!size) return Say(size.error().text);
    if (*size != container.bytes) {
      return Say(fmt::format("{}: has {} bytes and had {} when it came; restore it from a backup",
                             *path, *size, container.bytes));
    }
    if (!options_.read_files) {
      const Result<bool> there = view_.fs().Exists(*path);
      if (!there) return Say(there.error().text);
      if (!*there) Say(fmt::format("{}: is not there; restore it from a backup", *path));
      return;
    }
    const Result<FileFacts> facts = FactsOf(view_.fs(), *path, [&](std::uint64_t bytes) {
      outcome_.bytes += bytes;
      if (options_.progress) options_.progress(bytes);
    });
    if (!facts) return Say(facts.error().text);
    if (facts->sha256 != container.sha256) {
      Say(fmt::format("{}: its SHA-256 is {} and was {} when it came; restore it from a backup",
                      *path, facts->sha256, container.sha256));
    }
  }

  Status CheckRows(const Container& container) {
    Result<std::unique_ptr<ContainerRows>> rows = view_.RowsOf(container.number);
    if (!rows && rows.error().code == ErrorCode::kIo) return rows.error();
    if (!rows) {
      Say(Advised(rows.error()));
      return {};
    }
    std::uint64_t rows_here = 0;
    const Status read = (*rows)->ForEachCapture([&](std::span<ContainerCapture> some) -> Status {
      for (ContainerCapture& capture : some) {
        container.Place(capture.row, rows_here++);
        const auto place = view_.holdings().NewPlaceOf(capture.row.id);
        if (place && *place != container.number) continue;  // its record is elsewhere now
        ++outcome_.captures;
        const bool is_unfinished =
            IsUnfinished(container) || unfinished_removals_.contains(capture.row.id);
        if (const Status checked = CheckRow(capture.row, is_unfinished); !checked) return checked;
      }
      return {};
    });
    if (!read && read.error().code != ErrorCode::kCorrupt) return read;
    if (!read) {
      Say(read.error().text);
    } else if (rows_here != container.captures) {
      Say(fmt::format("container {}: has rows for {} captures, and the ledger says {}; {}",
                      container.number, rows_here, container.captures, kReindexRemedy));
    }
    return {};
  }

  // The catalog must have what the container shows, and what the ledger says was taken down.
  Status CheckRow(catalog::Capture expected, bool is_unfinished) {
    if (std::binary_search(removed_.begin(), removed_.end(), expected.id)) {
      expected.flags |= catalog::kRemoved;
    }
    const Result<catalog::HeldCapture> held = view_.catalog().Get(expected.id);
    if (!held && held.error().code == ErrorCode::kIo) return held.error();
    if (held && held->row == expected) return {};
    if (is_unfinished && (held || held.error().code == ErrorCode::kNotFound)) {
      ++outcome_.unfinished;
      return {};
    }
    const Error differs{ErrorCode::kInvalid,
                        "says something else than its container and the ledger"};
    const std::string what = held ? Advised(differs) : "does not have it: " + Advised(held.error());
    Say(fmt::format("capture {}/{} of {}: the catalog {}", expected.id.batch, expected.id.serial,
                    expected.url, what));
    return {};
  }

  // Each row must be found by its key, once.
  Status CheckIndex() {
    catalog::LocationQuery all;
    all.what = catalog::SelectAll();
    catalog::LocationResults results = view_.catalog().Find(all);
    std::uint64_t entries = 0;
    for (;;) {
      const Result<const catalog::LocationEntry*> entry = results.Next();
      if (!entry && entry.error().code == ErrorCode::kIo) return entry.error();
      if (!entry) {
        Say(entry.error().text);
        return {};
      }
      if (*entry == nullptr) break;
      const Result<catalog::HeldCapture> held = view_.catalog().Get((*entry)->id);
      if (!held && held.error().code == ErrorCode::kIo) return held.error();
      // What was purged is not in any container, and waits to be forgotten.
      if (held && view_.holdings().Find(held->row.place.container) == nullptr) continue;
      ++entries;
    }
    if (entries > outcome_.captures || entries + outcome_.unfinished < outcome_.captures) {
      Say(fmt::format("the index leads to {} captures, and there are {}; {}", entries,
                      outcome_.captures, kReindexRemedy));
    }
    return {};
  }

  const ArchiveView& view_;
  const VerifyOptions& options_;
  const std::function<void(const std::string&)>& report_;
  std::vector<catalog::CaptureId> removed_;  // sorted
  std::set<catalog::CaptureId> unfinished_removals_;
  VerifyOutcome outcome_;
};

}  // namespace

Result<VerifyOutcome> Verify(const ArchiveView& view, const VerifyOptions& options,
                             const std::function<void(const std::string&)>& report) {
  return Verification(view, options, report).Run();
}

}  // namespace stele::archive
