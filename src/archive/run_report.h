#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive_view.h"
#include "archive/capture_query.h"
#include "archive/host_tally.h"
#include "archive/unresolved.h"
#include "catalog/capture.h"
#include "formats/record/record.h"
#include "util/result.h"

namespace stele::archive {

// How many captures, and the bytes of their payloads.
struct CaptureSum {
  std::uint64_t captures = 0;
  std::uint64_t bytes = 0;

  void Add(const catalog::Capture& capture) {
    ++captures;
    bytes += capture.length;
  }

  friend bool operator==(const CaptureSum&, const CaptureSum&) = default;
};

inline constexpr std::size_t kHostsShown = 20;

// What a person should know about a run. What was taken down counts only as that.
struct RunReport {
  CaptureSum all;
  CaptureSum pages;
  CaptureSum revisits;
  // Payloads that an earlier capture of the same URL had already, in any run, by their digests.
  CaptureSum duplicates;
  std::map<std::string, CaptureSum> by_status;  // "2xx"; "-" without one
  std::map<std::string, CaptureSum> by_type;    // "text/html"; "-" without one
  std::vector<HostCount> hosts;                 // those with most captures, at most kHostsShown
  std::uint64_t host_count = 0;
  std::optional<Timestamp> first;  // of the captures
  std::optional<Timestamp> last;
  std::uint64_t truncated = 0;
  std::uint64_t removed = 0;

  CaptureTrouble errors;  // the server answered with one; not of a robots.txt or icon that is none
  CaptureTrouble unresolved;  // revisits whose original is not found in this archive
  CaptureTrouble undecided;   // revisits of which nobody can know that: files or rows are away
  std::string undecided_reason;

  std::uint64_t containers = 0;
  std::uint64_t container_bytes = 0;
  std::uint64_t unlisted = 0;  // captures that no index can have
  struct DamagedPlace {
    std::string file;
    record::Loss loss;
  };
  std::uint64_t damaged = 0;                // places in containers
  std::vector<DamagedPlace> damaged_first;  // at most kTroublesShown
};

// Goes through the whole index, and keeps of it the digests of one URL, and some bytes for each of
// at most `revisits_max` revisits of the run at a time, which are looked for as FindUnresolved()
// does it. Where `shows` is given, what it does not let pass is as if it were not there, and
// nothing is said of containers, which hold that too. Errors: kNotFound when there is no such run;
// kCorrupt, kIo.
Result<RunReport> ReportOn(const ArchiveView& view, std::uint32_t run,
                           const CaptureFilter& shows = {},
                           std::uint64_t revisits_max = std::uint64_t{4} << 20);

}  // namespace stele::archive
