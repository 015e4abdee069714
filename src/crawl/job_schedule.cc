#include "crawl/job_schedule.h"

#include "crawl/crawl_job.h"

namespace stele::crawl {

std::optional<Timestamp> NextRun(std::chrono::seconds every, const archive::Run* last) {
  if (every.count() <= 0) return std::nullopt;
  if (last == nullptr) return Timestamp{};
  if (!last->end) return last->begin;
  return Timestamp{last->begin.milliseconds + std::chrono::milliseconds(every).count()};
}

Result<std::vector<ScheduledJob>> LoadSchedule(io::FileSystem& fs, const std::string& archive,
                                               const archive::Holdings& holdings) {
  const Result<std::vector<std::string>> names = ListJobs(fs, archive);
  if (!names) return names.error();
  std::vector<ScheduledJob> jobs;
  for (const std::string& name : *names) {
    ScheduledJob job{name, LoadSettings(fs, JobFolder(archive, name)), {}, {}};
    // One of an older time, of which only the runs are left.
    if (!job.settings && job.settings.error().code == ErrorCode::kNotFound) continue;
    for (const auto& [number, run] : holdings.runs()) {
      // One that fills the gaps of another does not count.
      if (JobOf(run) == name && !PatchedRun(run)) job.last = run;
    }
    if (job.settings) job.next = NextRun(job.settings->every, job.last ? &*job.last : nullptr);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace stele::crawl
