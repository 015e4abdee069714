// The jobs of an archive: which are there, and whether their files are right.
#include <fmt/format.h>

#include <filesystem>

#include "cli/archive_commands.h"
#include "cli/job_commands.h"
#include "crawl/crawl_job.h"
#include "crawl/job_schedule.h"
#include "util/json.h"

namespace stele::cli {
namespace {

using crawl::ScheduledJob;

Result<std::vector<ScheduledJob>> Load(const Arguments& arguments, Context& context) {
  const std::string directory = ArchiveDirectory(arguments);
  auto reader = archive::ArchiveReader::Open(context.fs, directory);
  if (!reader) return reader.error();
  return crawl::LoadSchedule(context.fs, directory, (*reader)->View().holdings());
}

std::string LastText(const ScheduledJob& job) {
  if (!job.last) return "never ran";
  if (job.is_interrupted()) return fmt::format("run {} not ended", job.last->number);
  return fmt::format("run {}  {}", job.last->number, FormatIso(job.last->begin));
}

std::string NextText(const ScheduledJob& job, Timestamp now) {
  if (!job.settings) return "its file is wrong: stele job check";
  if (!job.next) return "by hand";
  return job.is_due(now) ? "due" : FormatIso(*job.next);
}

std::string EveryText(const ScheduledJob& job) {
  const bool has_any = job.settings && job.settings->every.count() > 0;
  return has_any ? crawl::FormatEvery(job.settings->every) : "";
}

std::string JobLine(const ScheduledJob& job, Timestamp now) {
  return fmt::format("{:<30} {:>5}  last: {:<30}  next: {}\n", job.name,
                     EveryText(job).empty() ? "-" : EveryText(job), LastText(job),
                     NextText(job, now));
}

std::string JobJson(const ScheduledJob& job, Timestamp now) {
  std::string json = "{\"job\": ";
  AppendJsonString(json, job.name);
  json += ", \"every\": ";
  AppendJsonString(json, EveryText(job));
  json += ", \"last\": ";
  if (job.last) {
    json += fmt::format("{{\"run\": {}, \"begin\": \"{}\", \"end\": {}}}", job.last->number,
                        FormatIso(job.last->begin),
                        job.last->end ? fmt::format("\"{}\"", FormatIso(*job.last->end)) : "null");
  } else {
    json += "null";
  }
  // A job that is due has been since some time in the past, which is of no use.
  json += ", \"next\": ";
  json += job.next && !job.is_due(now) ? fmt::format("\"{}\"", FormatIso(*job.next)) : "null";
  json += fmt::format(", \"due\": {}, \"error\": ", job.is_due(now));
  AppendJsonString(json, job.settings ? std::string() : job.settings.error().text);
  json += ", \"seeds\": [";
  for (std::size_t i = 0; job.settings && i < job.settings->seeds.size(); ++i) {
    if (i > 0) json += ", ";
    AppendJsonString(json, job.settings->seeds[i]);
  }
  return json + "]}\n";
}

ExitCode RunLs(const Arguments& arguments, Context& context) {
  const Result<std::vector<ScheduledJob>> jobs = Load(arguments, context);
  if (!jobs) return Fail(context, jobs.error());
  const Timestamp now = context.clock.Now();
  for (const ScheduledJob& job : *jobs) {
    const Status written =
        context.out.Write(arguments.Has("--json") ? JobJson(job, now) : JobLine(job, now));
    if (!written) return Fail(context, written.error());
  }
  return ExitCode::kDone;
}

ExitCode RunShow(const Arguments& arguments, Context& context) {
  const Result<std::vector<ScheduledJob>> jobs = Load(arguments, context);
  if (!jobs) return Fail(context, jobs.error());
  const Timestamp now = context.clock.Now();
  std::vector<std::string> names = arguments.positionals;
  if (names.empty()) {
    for (const ScheduledJob& job : *jobs) names.push_back(job.name);
  }
  for (const std::string& name : names) {
    const auto job = std::find_if(jobs->begin(), jobs->end(),
                                  [&](const ScheduledJob& one) { return one.name == name; });
    if (job == jobs->end()) {
      return Fail(context, {ErrorCode::kInvalid,
                            fmt::format("there is no job {}; stele job ls lists them", name)});
    }
    if (!job->settings) return Fail(context, job->settings.error());
    std::string text = JobJson(*job, now);
    if (!arguments.Has("--json")) {
      const crawl::JobFolder folder(ArchiveDirectory(arguments), name);
      text = fmt::format("{}# {}\n{}", JobLine(*job, now), folder.Settings(),
                         FormatSettings(*job->settings));
    }
    const Status written = context.out.Write(text);
    if (!written) return Fail(context, written.error());
  }
  return ExitCode::kDone;
}

// Files that were named, else those of all jobs.
Result<std::vector<std::string>> FilesOf(const Arguments& arguments, Context& context) {
  if (!arguments.positionals.empty()) return arguments.positionals;
  const std::string directory = ArchiveDirectory(arguments);
  const Result<std::vector<std::string>> names = crawl::ListJobs(context.fs, directory);
  if (!names) return names.error();
  std::vector<std::string> files;
  for (const std::string& name : *names) {
    files.push_back(crawl::JobFolder(directory, name).Settings());
  }
  return files;
}

// A job without seeds has nothing to do.
Result<crawl::CrawlSettings> Read(Context& context, const std::string& file, std::string& text) {
  Result<std::string> read = io::ReadFile(context.fs, file);
  if (!read) return read.error();
  text = *std::move(read);
  Result<crawl::CrawlSettings> settings = crawl::ParseSettings(text, file);
  if (settings && settings->seeds.empty()) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{}: seeds are missing; write for example seeds = "
                             "[\"https://example.org/\"]",
                             file)};
  }
  return settings;
}

ExitCode RunCheck(const Arguments& arguments, Context& context) {
  const Result<std::vector<std::string>> files = FilesOf(arguments, context);
  if (!files) return Fail(context, files.error());
  ExitCode code = ExitCode::kDone;
  for (const std::string& file : *files) {
    std::string text;
    const Result<crawl::CrawlSettings> settings = Read(context, file, text);
    if (!settings) {
      Complain(context, settings.error().text);
      code = ExitCode::kDefects;
      continue;
    }
    const Status usable = crawl::CheckSettings(context.fs, context.clock, *settings);
    if (!usable) {
      Complain(context, fmt::format("{}: {}", file, usable.error().text));
      code = ExitCode::kDefects;
      continue;
    }
    const Status written = context.out.Write(fmt::format("{}: good\n", file));
    if (!written) return Fail(context, written.error());
  }
  return code;
}

ExitCode RunInstall(const Arguments& arguments, Context& context) {
  const std::string directory = ArchiveDirectory(arguments);
  const Result<bool> is_archive = archive::IsArchive(context.fs, directory);
  if (!is_archive) return Fail(context, is_archive.error());
  if (!*is_archive) {
    archive::ArchiveConfig config;
    config.title = std::filesystem::absolute(directory).lexically_normal().filename().string();
    config.volumes = {{.name = "main", .path = ""}};
    const Result<bool> made = archive::ArchiveWriter::Create(context.fs, directory, config);
    if (!made) return Fail(context, made.error());
    // Which makes its catalog, so that others can read it.
    ExitCode code = ExitCode::kDone;
    if (OpenArchiveToWrite(directory, "job install", context, code) == nullptr) return code;
  }
  for (const std::string& file : arguments.positionals) {
    std::string text;
    const Result<crawl::CrawlSettings> settings = Read(context, file, text);
    if (!settings) return Fail(context, settings.error());
    const std::string name = std::filesystem::path(file).stem().string();
    if (!crawl::IsJobName(name)) {
      return Fail(context,
                  {ErrorCode::kInvalid,
                   fmt::format("{}: a job is called after its file, such as news.toml", file)});
    }
    const crawl::JobFolder folder(directory, name);
    const Result<bool> there = context.fs.Exists(folder.Settings());
    if (!there) return Fail(context, there.error());
    if (*there && !arguments.Has("--replace")) {
      return Fail(context, {ErrorCode::kInvalid,
                            fmt::format("there is a job {}; --replace takes its place", name)});
    }
    if (const Status made = folder.Make(context.fs); !made) return Fail(context, made.error());
    const Status saved = io::ReplaceFile(context.fs, folder.Settings(), text);
    if (!saved) return Fail(context, saved.error());
  }
  return ExitCode::kDone;
}

}  // namespace

Command JobLsCommand() {
  Command command;
  command.name = "ls";
  command.summary = "List the jobs of an archive, with their last and next runs";
  command.options = WithArchiveOption({{"--json", "", "A JSON object for each"}});
  command.examples = {{"stele job ls", "Which are there, and which are due?"}};
  command.run = RunLs;
  return command;
}

Command JobShowCommand() {
  Command command;
  command.name = "show";
  command.summary = "Show what jobs do, and when; all where none is named";
  command.arguments = "[JOB]...";
  command.options = WithArchiveOption({{"--json", "", "A JSON object for each"}});
  command.examples = {{"stele job show news", "Its seeds, scope, limits and schedule"}};
  command.run = RunShow;
  return command;
}

Command JobCheckCommand() {
  Command command;
  command.name = "check";
  command.summary = "Check job files";
  command.details =
      "Without a FILE those of all jobs of the archive. What is wrong is named with file, line and "
      "key; the exit code is 1 then.";
  command.arguments = "[FILE]...";
  command.options = WithArchiveOption({});
  command.examples = {{"stele job check news.toml", "Before it is installed"}};
  command.run = RunCheck;
  return command;
}

Command JobInstallCommand() {
  Command command;
  command.name = "install";
  command.summary = "Make jobs of files";
  command.details =
      "news.toml becomes the job news of the archive, which is made where there is none. The file "
      "has seeds, scope, limits and, for stele job run, every = \"7d\": docs/crawling.md has all "
      "keys. `stele crawl --job news` runs it by hand.";
  command.arguments = "FILE...";
  command.options =
      WithArchiveOption({{"--replace", "", "Take the place of jobs with the same names"}});
  command.examples = {{"stele job install --archive press news.toml", "As the job news"}};
  command.run = RunInstall;
  return command;
}

}  // namespace stele::cli
