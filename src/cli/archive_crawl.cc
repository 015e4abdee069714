#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/amount.h"
#include "cli/archive_commands.h"
#include "cli/crawl_duplicates.h"
#include "cli/crawl_run.h"
#include "cli/file_jobs.h"
#include "cli/stop_signals.h"
#include "crawl/crawl_job.h"
#include "crawl/seed.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

using crawl::CrawlSettings;

// What is crawled, and where it goes.
struct Plan {
  std::string directory;
  bool is_new_archive = false;
  std::string job;
  CrawlSettings settings;
  std::vector<std::string> options;  // of an interrupted run, which hold
};

constexpr std::string_view kCount = "a number such as 1000";
constexpr std::string_view kSize = "a size such as 1000 or 20MB";

Status TakeNumber(const Arguments& arguments, std::string_view option, std::string_view wanted,
                  std::uint64_t& number) {
  const std::optional<std::string> text = arguments.Get(option);
  if (!text) return {};
  const std::optional<std::uint64_t> value = ParseByteCount(*text);
  if (!value) return WrongValue(option, *text, wanted);
  number = *value;
  return {};
}

Status TakeDurations(const Arguments& arguments, CrawlSettings& settings) {
  if (const std::optional<std::string> text = arguments.Get("--delay")) {
    const std::optional<std::chrono::milliseconds> delay = ParseDuration(*text);
    if (!delay) return WrongValue("--delay", *text, "seconds such as 2.5");
    settings.politeness.delay = *delay;
  }
  for (const auto& [option, limit] : {std::pair("--max-time", &settings.time_max),
                                      std::pair("--max-file-time", &settings.file_time_max),
                                      std::pair("--max-idle-time", &settings.idle_time_max)}) {
    const std::optional<std::string> text = arguments.Get(option);
    if (!text) continue;
    const std::optional<std::chrono::milliseconds> time = ParseDuration(*text);
    if (!time) return WrongValue(option, *text, "a time such as 30s, 10m or 2h");
    // 0 is no limit, so that a part of a second is one.
    *limit = std::chrono::ceil<std::chrono::seconds>(*time);
  }
  return {};
}

Status TakeScope(const Arguments& arguments, CrawlSettings& settings) {
  if (const std::optional<std::string> name = arguments.Get("--scope")) {
    const std::optional<crawl::Reach> reach = crawl::ReachByName(*name);
    if (!reach) return WrongValue("--scope", *name, "page, prefix, host, domain or any");
    settings.reach = *reach;
  }
  if (const std::optional<std::string> name = arguments.Get("--robots")) {
    const std::optional<crawl::RobotsPolicy> policy = crawl::RobotsPolicyByName(*name);
    if (!policy) return WrongValue("--robots", *name, "obey, embeds or ignore");
    settings.robots = *policy;
  }
  if (const std::optional<std::string> text = arguments.Get("--share")) {
    const Result<crawl::HostShare> share = crawl::HostShare::Parse(*text);
    if (!share) return share.error();
    settings.share = *share;
  }
  // What is excluded wins over what is included, and both over what the job says.
  std::vector<std::string> rules;
  for (const std::string& rule : arguments.GetAll("--exclude")) rules.push_back('-' + rule);
  for (const std::string& rule : arguments.GetAll("--include")) rules.push_back('+' + rule);
  // A run that goes on may have them already.
  std::erase_if(settings.rules, [&](const std::string& rule) {
    return std::find(rules.begin(), rules.end(), rule) != rules.end();
  });
  settings.rules.insert(settings.rules.begin(), rules.begin(), rules.end());
  std::uint64_t depth = settings.depth_max;
  const Status taken = TakeNumber(arguments, "--depth", kCount, depth);
  if (!taken) return taken;
  settings.depth_max = depth;
  return {};
}

// Changes the settings as the options say.
Status TakeOptions(const Arguments& arguments, CrawlSettings& settings) {
  if (const Status taken = TakeScope(arguments, settings); !taken) return taken;
  if (const Status taken = TakeDurations(arguments, settings); !taken) return taken;
  const Status duplicates = TakeDuplicateOptions(arguments, settings.duplicates);
  if (!duplicates) return duplicates;
  std::uint64_t connections = settings.connections;
  for (const auto& [option, number] : {std::pair("--max-pages", &settings.pages_max),
                                       std::pair("--max-host-urls", &settings.host_urls_max),
                                       std::pair("--max-query-urls", &settings.query_urls_max),
                                       std::pair("--max-same-pages", &settings.same_pages_max),
                                       std::pair("--max-same-answers", &settings.same_answers_max),
                                       std::pair("--connections", &connections)}) {
    const Status taken = TakeNumber(arguments, option, kCount, *number);
    if (!taken) return taken;
  }
  for (const auto& [option, number] : {std::pair("--max-bytes", &settings.bytes_max),
                                       std::pair("--max-file-size", &settings.file_bytes_max),
                                       std::pair("--max-rate", &settings.rate_max)}) {
    const Status taken = TakeNumber(arguments, option, kSize, *number);
    if (!taken) return taken;
  }
  settings.connections = std::max<std::uint64_t>(1, connections);
  settings.user_agent = arguments.Get("--user-agent").value_or(settings.user_agent);
  settings.contact = arguments.Get("--contact").value_or(settings.contact);
  for (const auto& [option, file] : {std::pair("--logins", &settings.logins_file),
                                     std::pair("--cookies", &settings.cookies_file)}) {
    const std::optional<std::string> path = arguments.Get(option);
    if (path) *file = std::filesystem::absolute(*path).lexically_normal();
  }
  if (arguments.Has("--no-sitemaps")) settings.sitemaps = false;
  if (arguments.Has("--no-favicons")) settings.favicons = false;
  for (const std::string& pair : arguments.GetAll("--resolve")) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos) {
      return WrongValue("--resolve", pair, "a host and its address such as example.org=192.0.2.1");
    }
    std::pair entry(pair.substr(0, equals), pair.substr(equals + 1));
    const auto known = std::find(settings.resolve.begin(), settings.resolve.end(), entry);
    if (known == settings.resolve.end()) settings.resolve.push_back(std::move(entry));
  }
  if (const std::optional<std::string> text = arguments.Get("--proxy")) {
    Result<net::FetchProxy> proxy = crawl::ParseProxy(*text);
    if (!proxy) return proxy.error();
    settings.proxy = *std::move(proxy);
  }
  return {};
}

// The one job of an archive, or that with this name.
Result<std::string> JobToRepeat(const Arguments& arguments, Context& context,
                                const std::string& directory) {
  const Result<std::vector<std::string>> jobs = crawl::ListJobs(context.fs, directory);
  if (!jobs) return jobs.error();
  if (const std::optional<std::string> name = arguments.Get("--job")) {
    if (std::find(jobs->begin(), jobs->end(), *name) != jobs->end()) return *name;
    return Error{ErrorCode::kInvalid,
                 fmt::format("there is no job {}; there are: {}", *name, fmt::join(*jobs, ", "))};
  }
  if (jobs->size() == 1) return jobs->front();
  if (jobs->empty()) {
    return Error{
        ErrorCode::kInvalid,
        "this archive has crawled nothing yet; say what: stele crawl https://example.org/"};
  }
  return Error{ErrorCode::kInvalid,
               fmt::format("which job? Say --job with one of: {}", fmt::join(*jobs, ", "))};
}

// An archive that is named or that this is; else the directory with the name of the host.
Result<std::string> DirectoryOf(const Arguments& arguments, Context& context,
                                const std::vector<url::Url>& seeds, bool& is_new) {
  std::string directory = ArchiveDirectory(arguments);
  const Result<bool> there = archive::IsArchive(context.fs, directory);
  if (!there) return there.error();
  is_new = !*there;
  if (*there) return directory;
  if (seeds.empty()) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} is no archive; say what to crawl: stele crawl "
                             "https://example.org/",
                             directory == "." ? "this directory" : directory)};
  }
  if (directory != ".") return directory;
  directory = "./" + crawl::JobNameOf(seeds.front());
  const Result<bool> host_there = archive::IsArchive(context.fs, directory);
  if (!host_there) return host_there.error();
  is_new = !*host_there;
  return directory;
}

// What was typed, and the lines of a file.
Result<std::vector<std::string>> SeedsOf(const Arguments& arguments, Context& context) {
  std::vector<std::string> seeds = arguments.positionals;
  const std::optional<std::string> path = arguments.Get("--seeds");
  if (!path) return seeds;
  const Result<std::string> text = io::ReadFile(context.fs, *path);
  if (!text) return text.error();
  for (const std::string_view line : Split(*text, '\n')) {
    const std::string_view seed = TrimSpace(line);
    if (!seed.empty() && !seed.starts_with('#')) seeds.emplace_back(seed);
  }
  return seeds;
}

// Of a job that is there.
Result<crawl::ResumedSettings> SettingsOf(const Plan& plan, Context& context) {
  if (plan.is_new_archive) return Error{ErrorCode::kNotFound, "there is no job yet"};
  const auto reader = archive::ArchiveReader::Open(context.fs, plan.directory);
  // It may have been killed when it was made; whoever writes to it says what is wrong.
  if (!reader) {
    Result<CrawlSettings> job =
        crawl::LoadSettings(context.fs, crawl::JobFolder(plan.directory, plan.job));
    if (!job) return job.error();
    return crawl::ResumedSettings{*std::move(job), {}};
  }
  return crawl::LoadSettingsToRun(context.fs, plan.directory, (*reader)->View().holdings(),
                                  plan.job);
}

Result<Plan> PlanOf(const Arguments& arguments, Context& context) {
  std::vector<url::Url> seeds;
  std::vector<std::string> texts;
  Result<std::vector<std::string>> named = SeedsOf(arguments, context);
  if (!named) return named.error();
  for (const std::string& text : *named) {
    Result<url::Url> seed = crawl::ParseSeed(text);
    if (!seed) return seed.error();
    texts.push_back(*crawl::SeedText(text));
    seeds.push_back(*std::move(seed));
  }
  Plan plan;
  Result<std::string> directory = DirectoryOf(arguments, context, seeds, plan.is_new_archive);
  if (!directory) return directory.error();
  plan.directory = *std::move(directory);
  if (seeds.empty()) {
    Result<std::string> job = JobToRepeat(arguments, context, plan.directory);
    if (!job) return job.error();
    plan.job = *std::move(job);
  } else {
    plan.job = arguments.Get("--job").value_or(crawl::JobNameOf(seeds.front()));
  }
  if (!crawl::IsJobName(plan.job))
    return WrongValue("--job", plan.job, "a name such as news-sites");
  Result<crawl::ResumedSettings> known = SettingsOf(plan, context);
  if (!known && known.error().code != ErrorCode::kNotFound) return known.error();
  if (known && (seeds.empty() || crawl::AreSameSeeds(known->settings.seeds, texts))) {
    plan.settings = std::move(known->settings);
    plan.options = std::move(known->options);
  } else if (known) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("the job {} of this archive has other seeds; give this one a name of "
                             "its own with --job, or change {}",
                             plan.job, crawl::JobFolder(plan.directory, plan.job).Settings())};
  } else {
    plan.settings.seeds = texts;
  }
  const CrawlSettings before = plan.settings;
  if (const Status taken = TakeOptions(arguments, plan.settings); !taken) return taken.error();
  const std::vector<std::string> changed = crawl::DifferingKeys(before, plan.settings);
  std::erase_if(plan.options, [&](const std::string& key) {
    return std::find(changed.begin(), changed.end(), key) != changed.end();
  });
  return plan;
}

std::string_view RobotsWord(crawl::RobotsPolicy policy) {
  switch (policy) {
    case crawl::RobotsPolicy::kObey:
      return "obeyed";
    case crawl::RobotsPolicy::kEmbeds:
      return "obeyed but for embeds";
    case crawl::RobotsPolicy::kIgnore:
      return "ignored";
  }
  return "";
}

Status MakeArchive(const Plan& plan, const Arguments& arguments, Context& context) {
  if (!plan.is_new_archive) return {};
  archive::ArchiveConfig config;
  config.title = arguments.Get("--title").value_or(
      std::filesystem::absolute(plan.directory).lexically_normal().filename().string());
  config.volumes = {{.name = "main", .path = ""}};
  const Result<bool> made = archive::ArchiveWriter::Create(context.fs, plan.directory, config);
  if (!made) return made.error();
  if (*made && !arguments.Has("--quiet")) {
    static_cast<void>(context.err.Write(
        fmt::format("Created archive {}   (robots {}; {} scope; embeds anywhere)\n", plan.directory,
                    RobotsWord(plan.settings.robots), NameOf(plan.settings.reach))));
  }
  return {};
}

Result<CrawlRunOptions> RunOptionsOf(const Arguments& arguments, Context& context) {
  CrawlRunOptions options;
  options.quiet = arguments.Has("--quiet");
  options.json = arguments.Has("--json");
  options.progress = ShowsProgress(arguments, context);
  const std::string control = arguments.Get("--control").value_or("0");
  if (control == "off") return options;
  const std::optional<std::uint64_t> port = ParseDecimal(control);
  if (!port || *port > 65535)
    return WrongValue("--control", control, "a port such as 8090, 0 or off");
  options.control.emplace();
  options.control->port = static_cast<std::uint16_t>(*port);
  options.control->token = crawl::NewToken(context.random);
  return options;
}

ExitCode Run(const Arguments& arguments, Context& context) {
  Result<Plan> plan = PlanOf(arguments, context);
  if (!plan) return Fail(context, plan.error());
  const Result<CrawlRunOptions> options = RunOptionsOf(arguments, context);
  if (!options) return Fail(context, options.error());
  plan->settings.workers = static_cast<std::size_t>(std::max(1, context.cores));
  const Status usable = crawl::CheckSettings(context.fs, context.clock, plan->settings);
  if (!usable) return Fail(context, usable.error());
  if (const Status made = MakeArchive(*plan, arguments, context); !made) {
    return Fail(context, made.error());
  }
  CrawlRun run(context, *options);
  const StopWatcher watcher(context, [&] { run.Stop(); });
  const auto purpose = arguments.Has("--patch") ? crawl::CrawlJob::Purpose::kPatch
                                                : crawl::CrawlJob::Purpose::kCrawl;
  return run.Run({plan->directory, plan->job, plan->settings, purpose, plan->options});
}

constexpr std::string_view kDetails =
    "Fetches the URLs and all that they lead to on the same host, with the pictures, styles and "
    "scripts of each page from wherever they are. Where there is no archive, one is made in a "
    "directory with the name of the host. In an archive, and without URLs, the same is crawled "
    "again in a new run; a run that was interrupted is gone on with. What did not change is "
    "stored as a reference to what the archive has.\n\n"
    "robots.txt is obeyed, and a host gets one page at a time, with a pause of five times what "
    "the last one took, at least a second. Ctrl-C stops; everything that was captured is "
    "safe. stele job watches and changes a crawl that runs.\n\n"
    "Rules for --include and --exclude: host:HOST, domain:DOMAIN, prefix:URL, surt:KEY, "
    "regex:EXPRESSION (of the whole URL). The settings of a job are kept in crawl/JOB/job.toml "
    "in the archive, the logs and reports of each run beside them. Passwords, tokens and cookies "
    "from --logins and --cookies are sent and never stored; what a server repeats of them in its "
    "answers is kept, and told. The exit code is 1 where a seed could not be fetched.\n\n"
    "--patch fetches what stele report names as missing, in a run of its own that changes "
    "nothing else: what failed, and what a limit cut off. What robots.txt or the scope kept "
    "away is fetched where --robots, --scope or --include say so. Where nothing is missing, no "
    "run begins.";

}  // namespace

Command CrawlCommand() {
  Command command;
  command.name = "crawl";
  command.summary = "Capture web sites, again and again; only what changed is stored";
  command.details = kDetails;
  command.arguments = "[URL]...";
  command.options = WithArchiveOption(
      {{"--job", "NAME", "The job, where an archive has several", "the host"},
       {"--patch", "", "Only what pages of the last run need and it did not bring"},
       {"--scope", "SCOPE", "page, prefix, host, domain or any", "host"},
       Repeatable({"--include", "RULE", "Also what matches"}),
       Repeatable({"--exclude", "RULE", "Not what matches; wins over --include"}),
       {"--depth", "N", "So many links away from the URLs", "100"},
       {"--share", "K/N", "Of N nodes this is the Kth: leave the pages of other hosts to others"},
       {"--robots", "POLICY", "obey, embeds (what pages need is fetched) or ignore", "obey"},
       {"--delay", "SECONDS", "Between two pages of a host, whatever else would hold"},
       {"--max-pages", "N", "Stop after so many pages"},
       {"--max-bytes", "SIZE", "Stop after so many bytes: 500MB"},
       {"--max-time", "TIME", "Stop after this time: 10m, 2h"},
       {"--max-file-size", "SIZE", "Cut longer files"},
       {"--max-file-time", "TIME", "Cut files that take longer; 0: never", "20m"},
       {"--max-idle-time", "TIME", "Cut files of which nothing comes for so long; 0: never", "20s"},
       {"--max-host-urls", "N", "At most so many URLs of each host"},
       {"--max-query-urls", "N",
        "So many pages that differ only in values of arguments; 0: any number", "50000"},
       {"--max-same-pages", "N",
        "So many of a folder in a row that are one and the same are a trap; 0: never", "100"},
       {"--max-same-answers", "N", "So many of a path with arguments in a row, likewise", "25"},
       {"--contact", "TEXT", "Of whoever crawls, for the User-Agent: a URL or an address"},
       {"--user-agent", "TEXT", "Instead of our own"},
       {"--logins", "FILE",
        "Lines of HOST[:PORT] basic USER:PASSWORD, HOST bearer TOKEN, HOST form URL "
        "NAME=VALUE&..."},
       {"--cookies", "FILE", "A cookies.txt, as browsers export it"},
       {"--seeds", "FILE", "More URLs, one in each line"},
       {"--no-sitemaps", "", "Do not ask for the sitemaps that robots.txt names"},
       {"--no-favicons", "", "Do not ask each host with pages for /favicon.ico"},
       Repeatable({"--resolve", "HOST=ADDRESS", "Do not ask for the address of a host"}),
       {"--proxy", "HOST:PORT", "Ask an HTTP proxy for everything"},
       {"--connections", "N", "At most so many at a time", "256"},
       {"--max-rate", "SIZE", "Bytes in a second, of each connection"},
       {"--control", "PORT", "Where stele job talks to it, on 127.0.0.1; 0 is any, or off", "0"},
       {"--title", "TEXT", "The title of an archive that is made", "the directory's name"},
       {"--json", "", "The summary as a JSON object"},
       {"--quiet", "", "No messages but complaints"}});
  for (Option& option : DuplicateOptions()) command.options.push_back(std::move(option));
  command.examples = {
      {"stele crawl example.org", "A site, into the archive ./example.org"},
      {"cd example.org && stele crawl", "Next week: the same again, or on with an interrupted one"},
      {"stele crawl --patch", "Fetch what stele report says is missing"},
      {"stele crawl --scope prefix https://example.org/blog/", "Only a part of it"},
      {"stele crawl --exclude 'regex:.*\\.iso' --max-time 2h example.org", "With limits"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
