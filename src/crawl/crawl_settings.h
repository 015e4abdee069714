#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "crawl/control/crawl_status.h"
#include "crawl/duplicate_settings.h"
#include "crawl/host_share.h"
#include "crawl/politeness.h"
#include "crawl/scope.h"
#include "net/fetch.h"

namespace stele::crawl {

enum class RobotsPolicy {
  kObey,
  kEmbeds,  // what pages need is fetched nevertheless
  kIgnore,
};
std::optional<RobotsPolicy> RobotsPolicyByName(std::string_view name);
std::string_view NameOf(RobotsPolicy policy);

// What a person asks of a crawl. Limits of 0 are none.
struct CrawlSettings {
  std::vector<std::string> seeds;  // seed.h
  Reach reach = Reach::kHost;
  std::size_t depth_max = 100;
  std::vector<std::string>
      rules;  // "+host:a.org", "-regex:.*\.iso"; the first that matches decides

  HostShare share;  // where others crawl the rest; pages of their hosts are left to them

  PolitenessOptions politeness;
  RobotsPolicy robots = RobotsPolicy::kObey;
  bool sitemaps = true;
  bool favicons = true;    // /favicon.ico of each host with pages is asked for, as browsers do
  std::string user_agent;  // empty: our own, with `contact`
  std::string contact;     // of whoever crawls: a URL or an address of mail

  // Files with secrets, which stay where they are: credentials.h.
  std::string logins_file;
  std::string cookies_file;

  DuplicateSettings duplicates;

  std::uint64_t pages_max = 0;
  std::uint64_t bytes_max = 0;
  std::chrono::seconds time_max{0};
  std::uint64_t file_bytes_max = 0;  // longer ones are cut
  // So is what takes longer in all, or is silent for so long; 0: never.
  std::chrono::seconds file_time_max{1'200};
  std::chrono::seconds idle_time_max{20};
  std::uint64_t host_urls_max = 0;
  // Against traps (docs/crawling.md): pages with one path and the same names of arguments; answers
  // in a row of one path, and pages of one folder, that are one and the same.
  std::uint64_t query_urls_max = 50'000;
  std::uint64_t same_answers_max = 25;
  std::uint64_t same_pages_max = 100;
  std::uint64_t rate_max = 0;  // bytes in a second, of each connection

  std::chrono::seconds every{0};  // between the begins of two runs, for `stele job run`; 0: by hand

  std::uint32_t tries_max = 3;  // of a fetch that fails
  std::size_t connections = 256;
  std::size_t workers = 2;
  std::vector<std::pair<std::string, std::string>> resolve;  // host, address: instead of asking
  std::optional<net::FetchProxy> proxy;                      // everything is asked of it
};

// What of it can be changed while a crawl runs.
CrawlLimits LimitsOf(const CrawlSettings& settings);
void SetLimits(const CrawlLimits& limits, CrawlSettings& settings);

// Errors: kInvalid, for rules that are none.
Result<ScopeOptions> ScopeOptionsOf(const CrawlSettings& settings);
// "proxy.example:3128", with or without http:// before it. Errors: kInvalid.
Result<net::FetchProxy> ParseProxy(std::string_view text);
// What is sent as User-Agent.
std::string UserAgentOf(const CrawlSettings& settings);

// The name that robots.txt files know us by, unless a person gave another User-Agent.
inline constexpr std::string_view kProductToken = "stele";
// That of a User-Agent: "foobot" of "foobot/1.0" and of "Mozilla/5.0 (compatible; foobot/1.0)".
std::string ProductTokenOf(std::string_view user_agent);

// As the file job.toml has it: what differs from the defaults.
std::string FormatSettings(const CrawlSettings& settings);
// Errors: kInvalid, naming `name`.
Result<CrawlSettings> ParseSettings(const std::string& text, const std::string& name);

// The keys of job.toml in which they differ.
std::vector<std::string> DifferingKeys(const CrawlSettings& a, const CrawlSettings& b);

// What holds for a run that goes on.
struct ResumedSettings {
  CrawlSettings settings;
  std::vector<std::string> options;  // keys of what it began with, and the job does not say
};
// `began` is what the run began with, when the job said `job_then`: where they differ, it holds;
// else what the job says now. Errors: kInvalid.
Result<ResumedSettings> SettingsToGoOnWith(const CrawlSettings& job, const CrawlSettings& job_then,
                                           const CrawlSettings& began);

// "90m", "12h", "7d", "2w". Errors: kInvalid.
Result<std::chrono::seconds> ParseEvery(std::string_view text);
// In the largest unit that fits.
std::string FormatEvery(std::chrono::seconds every);

}  // namespace stele::crawl
