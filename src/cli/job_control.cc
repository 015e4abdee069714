// The commands that talk to a crawl that runs.
#include <fmt/format.h>

#include "cli/amount.h"
#include "cli/archive_commands.h"
#include "cli/crawl_run.h"
#include "cli/job_commands.h"
#include "crawl/control/running_crawl.h"
#include "net/http_client.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

// A crawl to talk to, with what is needed for it.
struct Talk {
  std::unique_ptr<net::HttpClient> http;
  std::unique_ptr<crawl::CrawlClient> client;
};

Result<Talk> Find(const Arguments& arguments, Context& context) {
  const std::string directory = ArchiveDirectory(arguments);
  Result<std::optional<crawl::RunningCrawl>> running =
      crawl::FindRunningCrawl(context.fs, directory);
  if (!running) return running.error();
  if (!*running) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("no crawl runs in {}, or it was begun with --control off",
                             directory == "." ? "this directory" : directory)};
  }
  Result<std::unique_ptr<net::HttpClient>> http = net::HttpClient::Open({});
  if (!http) return http.error();
  Talk talk;
  talk.http = *std::move(http);
  talk.client = std::make_unique<crawl::CrawlClient>(context.fs, *talk.http, **std::move(running));
  return talk;
}

// What it answered, as JSON or in words.
ExitCode TellStatus(const Result<std::string>& answer, const Arguments& arguments,
                    Context& context) {
  if (!answer) return Fail(context, answer.error());
  std::string text = *answer;
  if (!arguments.Has("--json")) {
    const Result<crawl::CrawlStatus> status = crawl::ParseStatus(*answer);
    if (!status) return Fail(context, status.error());
    text = fmt::format("{}, run {}, {}: {}\n", status->job, status->run,
                       NameOf(status->progress.state), StatusLine(*status));
  }
  const Status written = context.out.Write(text);
  return written ? ExitCode::kDone : Fail(context, written.error());
}

// The events that come, whole lines at a time.
Status Watch(const crawl::CrawlClient& client,
             const std::function<Status(std::string_view)>& tell) {
  std::string pending;
  Status told;
  const Status read = client.Events([&](std::string_view piece) {
    pending += piece;
    for (std::size_t end = pending.find('\n'); told && end != std::string::npos;
         end = pending.find('\n')) {
      constexpr std::string_view kData = "data: ";
      const std::string_view line = std::string_view(pending).substr(0, end);
      if (line.starts_with(kData)) told = tell(line.substr(kData.size()));
      pending.erase(0, end + 1);
    }
    return told.ok();
  });
  return told ? read : told;
}

ExitCode RunStatus(const Arguments& arguments, Context& context) {
  const Result<Talk> talk = Find(arguments, context);
  if (!talk) return Fail(context, talk.error());
  if (!arguments.Has("--watch")) return TellStatus(talk->client->StatusText(), arguments, context);
  const Status watched = Watch(*talk->client, [&](std::string_view json) -> Status {
    const ExitCode told = TellStatus(std::string(json) + '\n', arguments, context);
    if (told != ExitCode::kDone) return Error{ErrorCode::kIo, "nobody reads what is told"};
    return {};
  });
  return watched ? ExitCode::kDone : Fail(context, watched.error());
}

ExitCode PostAndTell(std::string_view what, const Arguments& arguments, Context& context) {
  const Result<Talk> talk = Find(arguments, context);
  if (!talk) return Fail(context, talk.error());
  return TellStatus(talk->client->Post(what), arguments, context);
}

ExitCode RunPause(const Arguments& arguments, Context& context) {
  return PostAndTell("pause", arguments, context);
}

ExitCode RunResume(const Arguments& arguments, Context& context) {
  return PostAndTell("resume", arguments, context);
}

// Who waits watches before it is told to stop: its end is not missed then.
ExitCode RunStop(const Arguments& arguments, Context& context) {
  if (!arguments.Has("--wait")) return PostAndTell("stop", arguments, context);
  const Result<Talk> talk = Find(arguments, context);
  if (!talk) return Fail(context, talk.error());
  std::string last;
  const Status watched = Watch(*talk->client, [&](std::string_view json) -> Status {
    const bool is_first = last.empty();
    last = std::string(json) + '\n';
    const Result<std::string> answer = is_first ? talk->client->Post("stop") : std::string();
    return answer ? Status() : Status(answer.error());
  });
  return watched ? TellStatus(last, arguments, context) : Fail(context, watched.error());
}

ExitCode RunAdd(const Arguments& arguments, Context& context) {
  crawl::UrlsToAdd urls;
  urls.urls = arguments.positionals;
  urls.seed = arguments.Has("--seed");
  if (const std::optional<std::string> path = arguments.Get("--from")) {
    const Result<std::string> text = io::ReadFile(context.fs, *path);
    if (!text) return Fail(context, text.error());
    for (const std::string_view line : Split(*text, '\n')) {
      if (const std::string_view url = TrimSpace(line); !url.empty()) urls.urls.emplace_back(url);
    }
  }
  if (urls.urls.empty()) {
    return Fail(context, {ErrorCode::kInvalid, "say which URLs: stele job add https://a.example/"});
  }
  const Result<Talk> talk = Find(arguments, context);
  if (!talk) return Fail(context, talk.error());
  const Result<std::string> answer = talk->client->Post("urls", UrlsToAddJson(urls));
  if (!answer) return Fail(context, answer.error());
  const Result<crawl::AddedUrls> added = crawl::ParseAddedUrls(*answer);
  if (!added) return Fail(context, added.error());
  const std::string words = fmt::format("{} added, {} known already, {} refused\n", added->added,
                                        added->known, added->refused.size());
  const Status written = context.out.Write(arguments.Has("--json") ? *answer : words);
  if (!written) return Fail(context, written.error());
  for (const auto& [url, reason] : added->refused) {
    Complain(context, fmt::format("{} is not added: {}", url, reason));
  }
  return added->refused.empty() ? ExitCode::kDone : ExitCode::kDefects;
}

Result<crawl::LimitChanges> ChangesOf(const Arguments& arguments) {
  crawl::LimitChanges changes;
  std::optional<std::uint64_t> connections;
  for (const auto& [option, number] :
       {std::pair("--max-pages", &changes.pages_max), std::pair("--max-bytes", &changes.bytes_max),
        std::pair("--max-rate", &changes.rate_max), std::pair("--connections", &connections)}) {
    const std::optional<std::string> text = arguments.Get(option);
    if (!text) continue;
    *number = ParseByteCount(*text);
    if (!*number) return WrongValue(option, *text, "a number such as 1000 or 20MB");
  }
  changes.connections = connections;
  if (const std::optional<std::string> text = arguments.Get("--max-time")) {
    const std::optional<std::chrono::milliseconds> time = ParseDuration(*text);
    if (!time) return WrongValue("--max-time", *text, "a time such as 30s, 10m or 2h");
    changes.time_max = std::chrono::duration_cast<std::chrono::seconds>(*time);
  }
  if (const std::optional<std::string> text = arguments.Get("--delay")) {
    const std::optional<std::chrono::milliseconds> delay = ParseDuration(*text);
    if (!delay && *text != "polite")
      return WrongValue("--delay", *text, "seconds such as 2.5, or polite");
    changes.delay = delay;
  }
  return changes;
}

ExitCode RunSet(const Arguments& arguments, Context& context) {
  const Result<crawl::LimitChanges> changes = ChangesOf(arguments);
  if (!changes) return Fail(context, changes.error());
  const std::string json = LimitChangesJson(*changes);
  if (json == "{}") {
    return Fail(context, {ErrorCode::kInvalid, "say what to change: stele job set --delay 5"});
  }
  const Result<Talk> talk = Find(arguments, context);
  if (!talk) return Fail(context, talk.error());
  return TellStatus(talk->client->Post("limits", json), arguments, context);
}

Command Simple(std::string_view name, std::string_view summary, std::string_view details) {
  Command command;
  command.name = name;
  command.summary = summary;
  command.details = details;
  command.options = WithArchiveOption({{"--json", "", "What it answers, as a JSON object"}});
  return command;
}

}  // namespace

Command JobStatusCommand() {
  Command command = Simple("status", "How far a running crawl is",
                           "Pages, bytes, rates, queues, duplicates, failures, and the time that "
                           "what is known will still take. docs/formats/crawl-status.md explains "
                           "the JSON.");
  command.options.push_back({"--watch", "", "Every second, until it is over"});
  command.examples = {{"stele job status", "Of the crawl in this archive"},
                      {"stele job status --watch --json", "For a program, line by line"}};
  command.run = RunStatus;
  return command;
}

Command JobPauseCommand() {
  Command command = Simple("pause", "Let a running crawl pause",
                           "What is under way is finished; nothing new is asked for until stele "
                           "job resume. Time that is limited does not run on.");
  command.examples = {{"stele job pause --archive example.org", "While their site is busy"}};
  command.run = RunPause;
  return command;
}

Command JobResumeCommand() {
  Command command = Simple("resume", "Let a paused crawl go on", "");
  command.examples = {{"stele job resume", "After stele job pause"}};
  command.run = RunResume;
  return command;
}

Command JobStopCommand() {
  Command command = Simple("stop", "Stop a running crawl",
                           "As Ctrl-C does: what is under way is finished, everything that was "
                           "captured is safe, and the next stele crawl goes on with the run.");
  command.options.push_back({"--wait", "", "Return when it has ended"});
  command.examples = {{"stele job stop --wait", "And be sure"}};
  command.run = RunStop;
  return command;
}

Command JobAddCommand() {
  Command command = Simple("add", "Give URLs to a running crawl",
                           "They must belong to the crawl by its scope; with --seed they do in any "
                           "case, and so does what they lead to. What is added is durable when the "
                           "command returns. The exit code is 1 where a URL was refused.");
  command.arguments = "[URL]...";
  command.options.push_back({"--seed", "", "As seeds, with their hosts"});
  command.options.push_back({"--from", "FILE", "More URLs, one in each line"});
  command.examples = {{"stele job add --seed https://news.example/", "Another site"}};
  command.run = RunAdd;
  return command;
}

Command JobSetCommand() {
  Command command = Simple("set", "Change the limits of a running crawl",
                           "They hold until the run is over, also where it is interrupted and gone "
                           "on with; what a job has for all its runs is in its job.toml. 0 is no "
                           "limit.");
  command.options.insert(
      command.options.begin(),
      {{"--max-pages", "N", "Stop after so many pages, those it has included"},
       {"--max-bytes", "SIZE", "Stop after so many bytes: 500MB"},
       {"--max-time", "TIME", "Stop after this time: 10m, 2h"},
       {"--max-rate", "SIZE", "Bytes in a second, of each connection"},
       {"--delay", "SECONDS", "Between two pages of a host; or polite, for the usual rules"},
       {"--connections", "N", "At most so many at a time"}});
  command.examples = {{"stele job set --delay 10 --connections 4", "Be gentle"},
                      {"stele job set --max-pages 20000", "Go further"}};
  command.run = RunSet;
  return command;
}

}  // namespace stele::cli
