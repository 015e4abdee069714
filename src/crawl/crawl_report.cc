#include "crawl/crawl_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "crawl/candidate.h"
#include "crawl/run_log.h"
#include "formats/crawl_log/duplicate.h"
#include "formats/crawl_log/line.h"
#include "formats/url/url.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::crawl {
namespace {

constexpr int kRobotsPrecluded = -9998;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

// Gives all lines of a file without their ends.
Status ReadLines(io::FileSystem& fs, const std::string& path,
                 const std::function<void(std::string_view line)>& take) {
  const Result<std::unique_ptr<io::ReadableFile>> file = fs.OpenForReading(path);
  if (!file) return file.error();
  std::string text;
  std::string piece(kPieceBytes, '\0');
  for (std::uint64_t offset = 0;;) {
    const Result<std::size_t> size = (*file)->ReadAt(offset, piece);
    if (!size) return size.error();
    if (*size == 0) return {};
    offset += *size;
    text.append(piece, 0, *size);
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         end = text.find('\n', begin)) {
      take(std::string_view(text).substr(begin, end - begin));
      begin = end + 1;
    }
    text.erase(0, begin);
  }
}

bool IsEmbed(std::string_view hops) {
  Candidate candidate;
  candidate.hops = hops;
  return !candidate.is_page() && hops != "P";
}

// Why something that a page needs is not there, and what a person can do; by the status of the log.
std::pair<std::string, std::string> ReasonOf(int status) {
  if (status == kRobotsPrecluded) {
    return {"robots.txt forbids it", "stele crawl --robots embeds fetches what pages need"};
  }
  switch (status) {
    case -1:
      return {"its host has no address", "nothing, if the host is gone"};
    case -2:
      return {"its host could not be reached", "crawl again later"};
    case -3:
      return {"the connection was lost", "crawl again later"};
    case -4:
      return {"its host was too slow", "crawl again later"};
    case -5001:
      return {"its address is not public", "make its host a seed, if you trust the page"};
    default:
      break;
  }
  if (status >= 400) {
    return {fmt::format("the server answered {}", status),
            status >= 500 || status == 429 ? "crawl again later" : "nothing, if it is gone"};
  }
  return {fmt::format("it could not be fetched ({})", status), "crawl again later"};
}

std::string RemedyOf(std::string_view scope_reason) {
  if (scope_reason.starts_with("rule")) return "change the rules of the job";
  if (scope_reason.starts_with("trap")) return "add --include for it, if it is none";
  return "add --include for it";
}

class Reader {
 public:
  void TakeCrawlLine(std::string_view text) {
    const Result<crawl_log::Line> line = crawl_log::ParseLine(text);
    if (!line) return;
    const int status = line->StatusCode().value_or(0);
    ++report.statuses[status];
    const std::uint64_t bytes = line->SizeBytes().value_or(0);
    const Result<url::Url> url = url::Parse(line->uri);
    CrawlReport::HostSum& host = report.hosts[url ? std::string(url->host()) : "-"];
    if (status == kRobotsPrecluded) ++host.robots;
    if (status < 0 && status != kRobotsPrecluded) ++host.failures;
    if (status > 0) {
      const bool duplicate = crawl_log::IsDuplicate(*line);
      for (CrawlReport::Sum* sum : {&report.all, static_cast<CrawlReport::Sum*>(&host),
                                    &report.types[AsciiLower(line->mime_type)]}) {
        ++sum->urls;
        sum->bytes += bytes;
        if (duplicate) ++sum->duplicate_urls;
        if (duplicate) sum->duplicate_bytes += bytes;
      }
    }
    TakeSeed(*line, status);
    if (IsEmbed(line->hops) && (status < 0 || status >= 400)) {
      const auto [reason, remedy] = ReasonOf(status);
      AddMissing({line->uri, line->via, reason, remedy});
    }
  }

  void TakeScopeLine(std::string_view text) {
    const std::vector<std::string_view> words = Split(text, ' ');
    constexpr std::size_t kWords = 5;  // time, URL, hops, via, and the reason to the end
    if (words.size() < kWords) return;
    const std::string_view reason =
        text.substr(static_cast<std::size_t>(words[kWords - 1].data() - text.data()));
    ++report.rejected[std::string(reason)];
    if (IsEmbed(words[2])) {
      AddMissing({std::string(words[1]), std::string(words[3]),
                  fmt::format("it is outside of the crawl ({})", reason), RemedyOf(reason)});
    }
  }

  CrawlReport report;

 private:
  void AddMissing(CrawlReport::Missing missing) {
    ++report.missing_count;
    if (report.missing.size() < CrawlReport::kMissingMax) {
      report.missing.push_back(std::move(missing));
    }
  }

  // A seed, or where one was redirected to: a way of R alone.
  void TakeSeed(const crawl_log::Line& line, int status) {
    if (line.hops.find_first_not_of('R') != std::string::npos || line.source.empty()) return;
    const auto known = std::find_if(report.seeds.begin(), report.seeds.end(),
                                    [&](const auto& seed) { return seed.url == line.source; });
    CrawlReport::Seed& seed =
        known != report.seeds.end()
            ? *known
            : report.seeds.emplace_back(CrawlReport::Seed{line.source, 0, {}});
    seed.status = status;
    if (line.uri != line.source) seed.redirect = line.uri;
  }
};

std::string SeedsText(const CrawlReport& report) {
  std::string out = "[code] [status] [seed] [redirect]\n";
  for (const CrawlReport::Seed& seed : report.seeds) {
    out += fmt::format("{} {} {} {}\n", seed.status, seed.is_good() ? "CRAWLED" : "NOTCRAWLED",
                       seed.url, seed.redirect.empty() ? "-" : seed.redirect);
  }
  return out;
}

std::string HostsText(const CrawlReport& report) {
  std::string out =
      "[#urls] [#bytes] [host] [#robots] [#remaining] [#novel-urls] [#novel-bytes] "
      "[#dup-by-hash-urls] [#dup-by-hash-bytes] [#not-modified-urls] [#not-modified-bytes]\n";
  for (const auto& [host, sum] : report.hosts) {
    out += fmt::format("{} {} {} {} 0 {} {} {} {} 0 0\n", sum.urls, sum.bytes, host, sum.robots,
                       sum.urls - sum.duplicate_urls, sum.bytes - sum.duplicate_bytes,
                       sum.duplicate_urls, sum.duplicate_bytes);
  }
  return out;
}

std::string TypesText(const CrawlReport& report) {
  std::string out = "[#urls] [#bytes] [mime-types]\n";
  for (const auto& [type, sum] : report.types) {
    out += fmt::format("{} {} {}\n", sum.urls, sum.bytes, type);
  }
  return out;
}

std::string StatusesText(const CrawlReport& report) {
  std::string out = "[#urls] [rescode]\n";
  for (const auto& [status, urls] : report.statuses) out += fmt::format("{} {}\n", urls, status);
  return out;
}

std::string ScopeText(const CrawlReport& report) {
  std::string out = "[#urls] [reason]\n";
  for (const auto& [reason, urls] : report.rejected) out += fmt::format("{} {}\n", urls, reason);
  return out;
}

// {"a": 1, "b": 2} of texts that are JSON already.
class JsonMembers {
 public:
  void Add(std::string_view name, std::string_view json) {
    text_ += text_.empty() ? "{" : ", ";
    AppendJsonString(text_, name);
    text_ += ": ";
    text_ += json;
  }
  void AddText(std::string_view name, std::string_view text) {
    std::string json;
    AppendJsonString(json, text);
    Add(name, json);
  }
  std::string Text() const { return text_.empty() ? "{}" : text_ + '}'; }

 private:
  std::string text_;
};

std::string SumJson(const CrawlReport::Sum& sum) {
  return fmt::format(
      "{{\"urls\": {}, \"bytes\": {}, \"duplicate_urls\": {}, \"duplicate_bytes\": {}}}", sum.urls,
      sum.bytes, sum.duplicate_urls, sum.duplicate_bytes);
}

std::string HostJson(const CrawlReport::HostSum& sum) {
  std::string json = SumJson(sum);
  json.pop_back();
  return json + fmt::format(", \"robots\": {}, \"failures\": {}}}", sum.robots, sum.failures);
}

std::string SeedsJson(const CrawlReport& report) {
  std::string out = "[";
  for (const CrawlReport::Seed& seed : report.seeds) {
    JsonMembers members;
    members.AddText("url", seed.url);
    members.Add("status", std::to_string(seed.status));
    members.AddText("redirect", seed.redirect);
    out += (out.size() > 1 ? ", " : "") + members.Text();
  }
  return out + ']';
}

std::string MissingJson(const CrawlReport& report) {
  std::string out = "[";
  for (const CrawlReport::Missing& missing : report.missing) {
    JsonMembers members;
    members.AddText("url", missing.url);
    members.AddText("page", missing.page);
    members.AddText("reason", missing.reason);
    members.AddText("remedy", missing.remedy);
    out += (out.size() > 1 ? ", " : "") + members.Text();
  }
  return out + ']';
}

}  // namespace

Result<CrawlReport> ReadCrawlReport(io::FileSystem& fs, const std::string& folder) {
  Reader reader;
  const Status crawl = ReadLines(fs, RunLog::CrawlLogPath(folder),
                                 [&](std::string_view line) { reader.TakeCrawlLine(line); });
  if (!crawl) return crawl.error();
  const Status scope = ReadLines(fs, RunLog::ScopeLogPath(folder),
                                 [&](std::string_view line) { reader.TakeScopeLine(line); });
  if (!scope) return scope.error();
  return std::move(reader.report);
}

std::string ReportJson(const CrawlReport& report) {
  JsonMembers hosts, types, statuses, rejected, all;
  for (const auto& [host, sum] : report.hosts) hosts.Add(host, HostJson(sum));
  for (const auto& [type, sum] : report.types) types.Add(type, SumJson(sum));
  for (const auto& [status, urls] : report.statuses) {
    statuses.Add(std::to_string(status), std::to_string(urls));
  }
  for (const auto& [reason, urls] : report.rejected) rejected.Add(reason, std::to_string(urls));
  all.Add("all", SumJson(report.all));
  all.Add("seeds", SeedsJson(report));
  all.Add("hosts", hosts.Text());
  all.Add("types", types.Text());
  all.Add("statuses", statuses.Text());
  all.Add("rejected", rejected.Text());
  all.Add("missing_count", std::to_string(report.missing_count));
  all.Add("missing", MissingJson(report));
  return all.Text() + '\n';
}

Status WriteReports(io::FileSystem& fs, const std::string& folder, const CrawlReport& report) {
  const std::pair<std::string_view, std::string> files[] = {
      {"seeds-report.txt", SeedsText(report)},    {"hosts-report.txt", HostsText(report)},
      {"mimetype-report.txt", TypesText(report)}, {"responsecode-report.txt", StatusesText(report)},
      {"scope-report.txt", ScopeText(report)},    {"report.json", ReportJson(report)}};
  for (const auto& [name, text] : files) {
    const Status written = io::ReplaceFile(fs, fmt::format("{}/{}", folder, name), text);
    if (!written) return written;
  }
  return {};
}

}  // namespace stele::crawl
