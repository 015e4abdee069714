#pragma once

#include <optional>
#include <string_view>

#include "access/call.h"
#include "access/job_watch.h"
#include "access/json_writer.h"
#include "access/overview.h"
#include "access/sight.h"
#include "archive/changes.h"
#include "archive/holdings.h"
#include "archive/run_report.h"

// What answers of the API are made of; nothing else includes this.
namespace stele::access {

// Lists have so many entries, and at most so many.
inline constexpr std::uint64_t kApiLimit = 100;
inline constexpr std::uint64_t kApiLimitMax = 1000;

// The members of a Capture; `state` where it is not empty.
void WriteCapture(JsonWriter& json, const catalog::Capture& row, std::string_view state = "");
// The same as an object, or null.
void WriteCaptureObject(JsonWriter& json, const catalog::Capture& row, std::string_view state = "");
// `overview` knows how many captures of it may be seen; it may be null.
void WriteRun(JsonWriter& json, const Call& call, const archive::Run& run,
              const Overview* overview);
// Those that the client sees something of, the oldest first; all where there are no rules.
std::vector<const archive::Run*> SeenRuns(const Sight& sight, const Overview* overview);
// What lies on the disk; where there are rules, of what the client may see.
std::uint64_t StoredBytes(const Sight& sight, const Overview* overview);
void WriteSum(JsonWriter& json, std::string_view name, const archive::CaptureSum& sum);

// What the logs of a crawl say of a run: files that pages need and the archive does not have, pages
// that look wrong.
void WriteCrawlNotes(JsonWriter& json, const Call& call, const archive::Run& run);

// The "url" of the call, absolute. Nothing after an answer that says that it is missing.
std::optional<std::string> UrlOf(const Call& call);

// Says of each capture of a URL, given from the oldest on, how it differs from the one before it
// that was no error. Not thread-safe.
class StateTeller {
 public:
  explicit StateTeller(const Sight& sight) : sight_(sight) {}
  // Errors: kCorrupt, kIo.
  Result<std::string_view> Tell(const catalog::HeldCapture& capture);

 private:
  const Sight& sight_;
  std::optional<catalog::HeldCapture> last_;
};

// One answer each. They are in several files by what they are about.
void SendCaptures(const Call& call);
void SendCapture(const Call& call);
void SendTimeline(const Call& call);
void SendBrowse(const Call& call, const Overview* overview);
void SendSites(const Call& call, const Overview* overview);
void SendSearch(const Call& call, const Overview* overview);
void SendStatistics(const Call& call, const Overview* overview);
void SendRuns(const Call& call, const Overview* overview);
void SendRun(const Call& call, std::string_view number, const Overview* overview);
void SendRunReport(const Call& call, std::string_view number, const Overview* overview);
void SendChanges(const Call& call, const Overview* overview);
void SendDiff(const Call& call);
void SendBatches(const Call& call);
void SendBatchCaptures(const Call& call, std::string_view number);
void SendCoherence(const Call& call);
void SendJobs(const Call& call, const JobWatch& watch, const Overview* overview);
void SendJobEvents(const Call& call, JobWatch& watch, const Overview* overview);

}  // namespace stele::access
