#include "cli/url_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "archive/capture_query.h"
#include "archive/host_tally.h"
#include "archive/moment.h"
#include "cli/archive_commands.h"
#include "crawl/crawl_job.h"
#include "crawl/crawl_settings.h"
#include "formats/url/surt.h"
#include "formats/url/url.h"

namespace stele::cli {
namespace {

// Hosts that a complaint names.
constexpr std::size_t kNamedHosts = 3;

bool IsPath(std::string_view text) { return text.starts_with('/') && !text.starts_with("//"); }

// "localhost:8080/a", which reads as a scheme and is filed as one.
bool BeginsWithHostAndPort(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::size_t behind = std::min(text.find_first_not_of("0123456789", colon + 1), text.size());
  return behind > colon + 1 && (behind == text.size() || text[behind] == '/');
}

// Also of what no browser would ask for, but an archive may have.
bool IsUrl(const std::string& text) {
  if (BeginsWithHostAndPort(text)) return false;
  if (url::Parse(text)) return true;
  const std::string host = archive::HostOfKey(url::SurtKey(text));
  if (text.find("://") != text.npos) return !host.empty();
  return !host.empty() && url::Parse("http://" + text).ok();
}

// What cannot be meant would find nothing, and a hold of it protect nothing. `option` is empty for
// URLs that are named without one.
Status CheckUrls(std::string_view option, const std::vector<std::string>& urls) {
  for (const std::string& url : urls) {
    if (url.empty()) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("{} is empty: name one", option.empty() ? "a URL" : option)};
    }
    const std::string named = option.empty() ? url : fmt::format("{} {}", option, url);
    if (url.find('*') != url.npos) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("{}: a * stands for nothing else here. For URLs that begin so "
                               "there is --prefix, for a host --host, with the hosts below it "
                               "--domain; a * in the URL itself is written %2A",
                               named)};
    }
    if (!IsUrl(url)) {
      return Error{
          ErrorCode::kInvalid,
          fmt::format("{} has no scheme or no host: https://example.org/news/ has both", named)};
    }
  }
  return {};
}

Status CheckHosts(const Arguments& arguments, std::string_view option) {
  for (const std::string& host : arguments.GetAll(option)) {
    if (BeginsWithHostAndPort(host)) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("{} {}: a host is meant with all its ports; leave out {}", option,
                               host, host.substr(host.find(':')))};
    }
    if (!host.empty() && host.find_first_of("/?#@* \t") == std::string::npos) continue;
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} {} is no host like example.org; for a URL use --prefix, for the "
                             "hosts below a host --domain",
                             option, host)};
  }
  return {};
}

// Where the crawls of an archive begin.
Result<std::set<std::string>> HostsOfSeeds(io::FileSystem& fs, const std::string& directory) {
  std::set<std::string> hosts;
  const Result<std::vector<std::string>> jobs = crawl::ListJobs(fs, directory);
  if (!jobs) return jobs.error();
  for (const std::string& job : *jobs) {
    const Result<crawl::CrawlSettings> settings =
        crawl::LoadSettings(fs, crawl::JobFolder(directory, job));
    if (!settings) return settings.error();
    for (const std::string& seed : settings->seeds) {
      hosts.insert(archive::HostOfKey(url::SurtKey(seed)));
    }
  }
  return hosts;
}

// Those with most pages first.
Result<std::vector<std::string>> HostsOfPages(const archive::ArchiveView& view) {
  archive::CaptureQuery query;
  query.where.what = catalog::SelectAll();
  query.pages_only = true;
  archive::HostTally tally(kNamedHosts + 1, archive::HostTally::By::kPages);
  archive::CaptureResults pages(view, query);
  for (;;) {
    Result<const catalog::HeldCapture*> page = pages.Next();
    if (!page) return page.error();
    if (*page == nullptr) break;
    tally.Add(pages.key(), (*page)->row);
  }
  std::vector<std::string> hosts;
  for (const archive::HostCount& host : tally.Largest()) hosts.push_back(host.host);
  return hosts;
}

Result<std::string> HostOfPaths(const std::string& directory, Context& context) {
  auto reader = archive::ArchiveReader::Open(context.fs, directory);
  if (!reader) return reader.error();
  const Result<std::set<std::string>> seeds = HostsOfSeeds(context.fs, directory);
  if (!seeds) return seeds.error();
  std::vector<std::string> hosts(seeds->begin(), seeds->end());
  if (hosts.empty()) {
    Result<std::vector<std::string>> found = HostsOfPages((*reader)->View());
    if (!found) return found.error();
    hosts = *std::move(found);
  }
  if (hosts.size() == 1) return hosts.front();
  if (hosts.empty()) {
    return Error{ErrorCode::kInvalid, "the archive has no pages; name a whole URL"};
  }
  const bool are_more = hosts.size() > kNamedHosts;
  hosts.resize(std::min(hosts.size(), kNamedHosts));
  return Error{ErrorCode::kInvalid,
               fmt::format("the archive has several sites ({}{}); name a whole URL",
                           fmt::join(hosts, ", "), are_more ? ", ..." : "")};
}

}  // namespace

std::vector<Option> WithUrlOptions(std::vector<Option> options) {
  const std::vector<Option> urls = {
      Repeatable({"--prefix", "URL", "URLs that begin so, behind the whole name of the host"}),
      Repeatable({"--host", "HOST", "URLs on this host"}),
      Repeatable({"--domain", "DOMAIN", "URLs on this host and the hosts below it"})};
  options.insert(options.end(), urls.begin(), urls.end());
  return options;
}

Result<Arguments> WithWholeUrls(Arguments arguments, Context& context) {
  std::vector<std::string*> paths;
  const auto collect = [&](std::vector<std::string>& texts) {
    for (std::string& text : texts) {
      if (IsPath(text)) paths.push_back(&text);
    }
  };
  collect(arguments.positionals);
  const auto prefixes = arguments.values.find("--prefix");
  if (prefixes != arguments.values.end()) collect(prefixes->second);
  if (paths.empty()) return arguments;
  const Result<std::string> host = HostOfPaths(ArchiveDirectory(arguments), context);
  if (!host) {
    return Error{host.error().code, fmt::format("{}: {}", *paths.front(), host.error().text)};
  }
  for (std::string* path : paths) *path = fmt::format("http://{}{}", *host, *path);
  return arguments;
}

Result<catalog::Selection> UrlsOf(const Arguments& arguments,
                                  const std::vector<std::string>& urls) {
  for (const Status& checked :
       {CheckUrls("", urls), CheckUrls("--prefix", arguments.GetAll("--prefix")),
        CheckHosts(arguments, "--host"), CheckHosts(arguments, "--domain")}) {
    if (!checked) return checked.error();
  }
  std::vector<catalog::KeyRange> ranges;
  const auto add = [&](const catalog::Selection& selection) {
    ranges.insert(ranges.end(), selection.ranges.begin(), selection.ranges.end());
  };
  for (const std::string& url : urls) add(catalog::SelectUrl(url));
  for (const std::string& url : arguments.GetAll("--prefix")) {
    Result<catalog::Selection> below = catalog::SelectPrefix(archive::PrefixKey(url));
    if (!below) return below.error();
    add(*below);
    // "/a/" is filed under "/a".
    add(catalog::SelectUrl(url));
  }
  for (const std::string& host : arguments.GetAll("--host")) add(catalog::SelectHost(host));
  for (const std::string& domain : arguments.GetAll("--domain")) {
    add(catalog::SelectDomain(domain));
  }
  return ranges.empty() ? catalog::SelectAll() : Union(std::move(ranges));
}

catalog::Selection Union(std::vector<catalog::KeyRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  catalog::Selection all;
  for (catalog::KeyRange& range : ranges) {
    if (!all.ranges.empty() && range.begin <= all.ranges.back().end) {
      all.ranges.back().end = std::max(all.ranges.back().end, range.end);
    } else {
      all.ranges.push_back(std::move(range));
    }
  }
  return all;
}

}  // namespace stele::cli
