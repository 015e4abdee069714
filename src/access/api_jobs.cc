// Answers about crawls: those that run now, and what the logs of one say that is over.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "access/api_parts.h"
#include "access/job_watch.h"

namespace stele::access {
namespace {

using nlohmann::json;

constexpr std::string_view kCrawl = "crawl";
constexpr std::size_t kNotesShown = 1000;

// The job of a run that a crawl wrote; empty where it was something else.
std::string_view JobOf(const archive::Run& run) {
  if (run.kind != kCrawl) return "";
  return std::string_view(run.note).substr(0, run.note.find(": "));
}

std::string JobsJson(const Call& call, const std::vector<WatchedJob>& jobs,
                     const Overview* overview) {
  JsonWriter out;
  out.BeginObject().Name("jobs").BeginArray();
  const std::vector<const archive::Run*> runs = SeenRuns(call.sight, overview);
  for (const WatchedJob& job : jobs) {
    const archive::Run* last = nullptr;
    for (const archive::Run* run : runs) {
      if (JobOf(*run) == job.name) last = run;
    }
    // No job's folder, or one of which rules hide everything that it brought.
    if (last == nullptr && (job.status.empty() || call.sight.has_rules())) continue;
    out.BeginObject().Member("job", job.name).Member("running", !job.status.empty());
    out.Name("status").Raw(job.status.empty() ? "null" : job.status);
    // They name hosts, which rules may hide.
    const bool shown = !job.queues.empty() && !call.sight.has_rules();
    out.Name("queues").Raw(shown ? job.queues : "[]").Name("last_run");
    if (last == nullptr) {
      out.Null();
    } else {
      WriteRun(out, call, *last, overview);
    }
    out.EndObject();
  }
  return out.EndArray().EndObject().Take();
}

// The members of each entry of a list in report.json.
void WriteNotes(JsonWriter& out, std::string_view name, const json& report, const char* count,
                const char* list, std::initializer_list<const char*> members) {
  out.Name(name).BeginObject();
  const auto number = report.find(count);
  const bool counted = number != report.end() && number->is_number_unsigned();
  out.Member("count", counted ? number->get<std::uint64_t>() : 0).Name("first").BeginArray();
  const auto entries = report.find(list);
  std::size_t shown = 0;
  if (entries != report.end() && entries->is_array()) {
    for (const json& entry : *entries) {
      if (shown++ == kNotesShown) break;
      out.BeginObject();
      for (const char* member : members) {
        const auto value = entry.find(member);
        const bool is_text = value != entry.end() && value->is_string();
        out.Member(member, is_text ? value->get<std::string>() : "");
      }
      out.EndObject();
    }
  }
  out.EndArray().EndObject();
}

}  // namespace

void WriteCrawlNotes(JsonWriter& out, const Call& call, const archive::Run& run) {
  json report = json::object();
  const std::string_view job = JobOf(run);
  if (!job.empty() && job.find('/') == std::string_view::npos && !call.sight.has_rules()) {
    const Result<std::string> text =
        io::ReadFile(call.sight.view().fs(),
                     fmt::format("{}/crawl/{}/run-{}/report.json",
                                 call.sight.view().layout().directory(), job, run.number));
    if (text) report = json::parse(*text, nullptr, false);
    if (!report.is_object()) report = json::object();
  }
  WriteNotes(out, "missing", report, "missing_count", "missing",
             {"url", "page", "reason", "remedy"});
  WriteNotes(out, "suspects", report, "suspect_count", "suspects",
             {"url", "trouble", "why", "remedy"});
}

void SendJobs(const Call& call, const JobWatch& watch, const Overview* overview) {
  SendJson(call, JobsJson(call, watch.JobsOf(call.sight.view()), overview));
}

void SendJobEvents(const Call& call, JobWatch& watch, const Overview* overview) {
  JobWatch::Stream stream(watch);
  if (!stream.is_open()) {
    return SendError(call, 503, "Not now", "Too many are watching; ask for /api/v1/jobs instead.");
  }
  net::ResponseStart start = StartOf(200, "text/event-stream");
  if (!call.response.Start(start) || call.is_head()) return;
  std::string last;
  std::optional<std::size_t> running;
  do {
    const std::vector<WatchedJob> jobs = watch.JobsOf(call.sight.view());
    std::string now = JobsJson(call, jobs, overview);
    // A comment where nothing is new: only so is it noticed that the client went away.
    std::string event = ":\n\n";
    if (now != last) event = fmt::format("retry: 2000\nevent: jobs\ndata: {}\n", now);
    last = std::move(now);
    if (!call.response.Write(event) || !call.response.Flush()) return;
    // What a run that has just ended brought is seen by whoever asks anew, as browsers do.
    const auto count = static_cast<std::size_t>(std::count_if(
        jobs.begin(), jobs.end(), [](const WatchedJob& job) { return !job.status.empty(); }));
    if (count != running.value_or(count)) return;
    running = count;
  } while (stream.Wait());
}

}  // namespace stele::access
