#include "crawl/crawl_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "crawl/candidate.h"
#include "crawl/duplicate_report.h"
#include "crawl/reachability.h"
#include "crawl/run_log.h"
#include "crawl/seed.h"
#include "crawl/traps.h"
#include "crawl/visit_work.h"
#include "formats/crawl_log/duplicate.h"
#include "formats/crawl_log/line.h"
#include "formats/url/url.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::crawl {
namespace {

constexpr std::string_view kInACircle = "it is redirected in a circle";

bool Has(const crawl_log::Line& line, std::string_view annotation) {
  const std::vector<std::string_view> notes = line.AnnotationList();
  return std::find(notes.begin(), notes.end(), annotation) != notes.end();
}

// In the words of whoever failed, where the log has them.
std::string ProblemOf(const crawl_log::Line& line, int status) {
  std::string error = ExtraText(line, "error");
  return error.empty() ? MeaningOf(status) : error;
}

// Empty where the seed leads to a page.
std::string RedirectProblemOf(const crawl_log::Line& line) {
  for (const std::string_view note : line.AnnotationList()) {
    if (!note.starts_with(kRedirectLost)) continue;
    const std::string_view how = note.substr(kRedirectLost.size());
    if (how == "circle") return std::string(kInACircle);
    return how == "nowhere" ? "it is redirected to nowhere" : "it is redirected too often";
  }
  return "";
}

// What a URL is in that is left alone for this reason.
std::string TrapPlace(std::string_view text, std::string_view reason) {
  const Result<url::Url> url = url::Parse(text);
  if (!url) return std::string(text);
  if (reason == kSameAnswersTrap || reason == kCombinationsTrap) return PathWithArguments(*url);
  if (reason == kSamePagesTrap) return FirstFolder(*url);
  return reason == kQueriesTrap ? PathWithNames(*url) : url->origin() + '/';
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
    const std::string name = url ? std::string(url->host()) : "-";
    CrawlReport::HostSum& host = report.hosts[name];
    if (status == kRobotsPrecluded) ++host.robots;
    // It came by https.
    const bool is_replaced = Has(*line, kByHttpsAnnotation);
    if (status < 0 && status != kRobotsPrecluded && !is_replaced) {
      ++host.failures;
      TakeFailure(*line, status, url ? url->origin() : "-");
    }
    if (status > 0) {
      const std::optional<crawl_log::Duplicate> duplicate = crawl_log::FindDuplicate(*line);
      if (duplicate && duplicate->kind != crawl_log::DuplicateKind::kDigest) {
        ++host.not_modified_urls;
        host.not_modified_bytes += bytes;
      }
      for (CrawlReport::Sum* sum : {&report.all, static_cast<CrawlReport::Sum*>(&host),
                                    &report.types[AsciiLower(line->mime_type)]}) {
        ++sum->urls;
        sum->bytes += bytes;
        if (duplicate) ++sum->duplicate_urls;
        if (duplicate) sum->duplicate_bytes += bytes;
      }
    }
    CountDuplicates(*line, name, report.duplicates);
    TakeSeed(*line, status);
    AddMissing(missing_.TakeCrawl(*line));
    TakeSuspect(*line, status);
    for (const std::string_view note : line->AnnotationList()) {
      if (note == kRepeatsSecret) ++report.repeated_secrets;
      if (!note.starts_with(kLinksLeftOut)) continue;
      report.links_left_out += ParseDecimal(note.substr(kLinksLeftOut.size())).value_or(0);
    }
  }

  void TakeScopeLine(std::string_view text) {
    const std::optional<ScopeLine> line = ParseScopeLine(text);
    if (!line) return;
    ++report.rejected[std::string(line->reason)];
    TakeTrap(*line);
    TakeSeedLeft(*line);
    AddMissing(missing_.TakeScope(*line));
  }

  void TakeEmbedLine(std::string_view text) {
    if (const auto line = ParseScopeLine(text)) AddMissing(missing_.TakeEmbed(*line));
  }

  // After the last line of crawl.log.
  void FinishCrawl() {
    for (MissingEmbed& missing : missing_.TakeRedirected()) AddMissing(std::move(missing));
  }

  // After the last line.
  void Finish() { NameCircles(); }

  CrawlReport report;

 private:
  void AddMissing(std::optional<MissingEmbed> missing) {
    if (!missing) return;
    ++report.missing_count;
    if (report.missing.size() < CrawlReport::kMissingMax) {
      report.missing.push_back(*std::move(missing));
    }
  }

  void TakeTrap(const ScopeLine& line) {
    if (!line.reason.starts_with(kTrapWord)) return;
    const bool is_begin = line.reason.ends_with(kTrapBegins);
    const std::string_view reason =
        line.reason.substr(0, line.reason.size() - (is_begin ? kTrapBegins.size() : 0));
    const std::pair place(std::string(reason.substr(kTrapWord.size())),
                          TrapPlace(line.url, reason));
    auto trap = report.traps.find(place);
    if (trap == report.traps.end() && report.traps.size() < CrawlReport::kMissingMax) {
      trap = report.traps.emplace(place, CrawlReport::Trap{0, std::string(line.url)}).first;
    }
    if (is_begin) return;
    ++report.trapped_urls;
    if (trap != report.traps.end()) ++trap->second.urls;
  }

  void TakeSuspect(const crawl_log::Line& line, int status) {
    const std::optional<PageTrouble> trouble = TroubleIn(line);
    if (!trouble) return;
    ++report.suspect_count;
    if (report.suspects.size() < CrawlReport::kMissingMax) {
      report.suspects.push_back({line.uri, status, trouble->kind, trouble->why});
    }
  }

  void TakeFailure(const crawl_log::Line& line, int status, const std::string& origin) {
    if (Has(line, kGivenUpAnnotation)) {
      CrawlReport::GivenUp& place = report.given_up[origin];
      if (line.hops != "P") ++place.urls;
      if (place.problem.empty()) place.problem = ProblemOf(line, status);
    }
    // A robots.txt that cannot be had is no URL that somebody wanted.
    if (line.hops == "P") return;
    ++report.failed_count;
    if (report.failed.size() < CrawlReport::kMissingMax) {
      report.failed.push_back({line.uri, ProblemOf(line, status)});
    }
  }

  // A seed, or where one was redirected to: a way of R alone.
  void TakeSeed(const crawl_log::Line& line, int status) {
    if (line.hops.find_first_not_of('R') != std::string::npos || line.source.empty()) return;
    const auto [known, is_new] = seeds_.try_emplace(line.source, report.seeds.size());
    if (is_new) report.seeds.push_back({line.source, 0, {}, {}, {}});
    CrawlReport::Seed& seed = report.seeds[known->second];
    if (Has(line, kByHttpsAnnotation)) {
      seed.by_https = ProblemOf(line, status);
      seeds_.emplace(ByHttps(line.uri).href(), known->second);
      return;
    }
    // It failed by http and by https, where it is the same seed.
    const bool fails_again = seed.status < 0 && status < 0 && line.hops.empty();
    const std::string before = fails_again ? seed.problem + "; " : std::string();
    if (seed.status < 0 && status > 0 && line.uri == line.source) seed.redirect.clear();
    seed.status = status;
    seed.problem = RedirectProblemOf(line);
    if (seed.problem.empty() && !seed.is_good()) seed.problem = before + ProblemOf(line, status);
    if (line.uri != line.source) seed.redirect = line.uri;
    by_url_.insert_or_assign(line.uri, known->second);
    const bool is_redirected = status >= 300 && status < 400;
    const std::string target = is_redirected ? ExtraText(line, "redirect") : std::string();
    // What is asked for once more may lead to a page then.
    redirects_.erase(SeenKey(line.uri));
    if (target.empty() || BeginsSession(line.uri, target)) return;
    redirects_.emplace(SeenKey(line.uri), SeenKey(target));
  }

  // Seeds that are redirected to each other, and those that lead to such. When the first of them
  // was logged, nobody knew.
  void NameCircles() {
    for (const auto& [url, seed] : by_url_) {
      if (!report.seeds[seed].problem.empty()) continue;
      std::unordered_set<std::string> passed;
      std::string at = SeenKey(url);
      auto next = redirects_.find(at);
      for (; next != redirects_.end() && passed.insert(at).second; next = redirects_.find(at)) {
        at = next->second;
      }
      if (next != redirects_.end()) report.seeds[seed].problem = kInACircle;
    }
  }

  // A seed, or where one was redirected to, that a limit left.
  void TakeSeedLeft(const ScopeLine& line) {
    if (line.reason != "host-limit" && !line.reason.starts_with("limit ")) return;
    std::size_t at = report.seeds.size();
    if (line.hops == "-") {
      const auto [known, is_new] = seeds_.try_emplace(std::string(line.url), at);
      if (is_new) report.seeds.push_back({std::string(line.url), 0, {}, {}, {}});
      at = known->second;
      if (report.seeds[at].is_good()) return;
    } else if (line.hops.find_first_not_of('R') == std::string_view::npos) {
      const auto from = by_url_.find(std::string(line.via));
      if (from == by_url_.end()) return;
      at = from->second;
    } else {
      return;
    }
    report.seeds[at].status = 0;
    report.seeds[at].problem = MeaningOf(line.reason);
  }

  MissingFinder missing_;
  std::unordered_map<std::string, std::size_t> seeds_;  // where they are in the report
  // The same by all URLs on the way from them.
  std::unordered_map<std::string, std::size_t> by_url_;
  std::unordered_map<std::string, std::string> redirects_;  // of seeds, by keys, from and to
};

std::string ProblemField(const CrawlReport::Seed& seed) {
  if (!seed.problem.empty()) return seed.problem;
  return seed.by_https.empty() ? "-" : "by https: " + seed.by_https;
}

std::string SeedsText(const CrawlReport& report) {
  std::string out = "[code] [status] [seed] [redirect] [problem]\n";
  for (const CrawlReport::Seed& seed : report.seeds) {
    out += fmt::format("{} {} {} {} {}\n", seed.status, seed.is_good() ? "CRAWLED" : "NOTCRAWLED",
                       seed.url, seed.redirect.empty() ? "-" : seed.redirect, ProblemField(seed));
  }
  return out;
}

std::string HostsText(const CrawlReport& report) {
  std::string out =
      "[#urls] [#bytes] [host] [#robots] [#remaining] [#novel-urls] [#novel-bytes] "
      "[#dup-by-hash-urls] [#dup-by-hash-bytes] [#not-modified-urls] [#not-modified-bytes]\n";
  for (const auto& [host, sum] : report.hosts) {
    out += fmt::format("{} {} {} {} {} {} {} {} {} {} {}\n", sum.urls, sum.bytes, host, sum.robots,
                       sum.remaining, sum.urls - sum.duplicate_urls,
                       sum.bytes - sum.duplicate_bytes, sum.duplicate_urls - sum.not_modified_urls,
                       sum.duplicate_bytes - sum.not_modified_bytes, sum.not_modified_urls,
                       sum.not_modified_bytes);
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
    members.AddText("problem", seed.problem);
    if (!seed.by_https.empty()) members.AddText("by_https", seed.by_https);
    out += (out.size() > 1 ? ", " : "") + members.Text();
  }
  return out + ']';
}

std::string FailedJson(const CrawlReport& report) {
  std::string out = "[";
  for (const CrawlReport::Failed& failed : report.failed) {
    JsonMembers members;
    members.AddText("url", failed.url);
    members.AddText("problem", failed.problem);
    out += (out.size() > 1 ? ", " : "") + members.Text();
  }
  return out + ']';
}

std::string GivenUpJson(const CrawlReport& report) {
  JsonMembers all;
  for (const auto& [origin, place] : report.given_up) {
    JsonMembers members;
    members.Add("urls", std::to_string(place.urls));
    members.AddText("problem", place.problem);
    all.Add(origin, members.Text());
  }
  return all.Text();
}

std::string MissingJson(const CrawlReport& report) {
  std::string out = "[";
  for (const MissingEmbed& missing : report.missing) {
    JsonMembers members;
    members.AddText("url", missing.url);
    members.AddText("page", missing.page);
    members.AddText("why", NameOf(missing.why));
    members.AddText("reason", missing.reason);
    members.AddText("remedy", missing.remedy);
    out += (out.size() > 1 ? ", " : "") + members.Text();
  }
  return out + ']';
}

std::string TrapsJson(const CrawlReport& report) {
  std::string out = "[";
  for (const auto& [place, trap] : report.traps) {
    JsonMembers members;
    members.AddText("kind", place.first);
    members.AddText("place", place.second);
    members.Add("urls", std::to_string(trap.urls));
    members.AddText("example", trap.example);
    members.AddText("remedy", RemedyForTrap(place.first));
    out += (out.size() > 1 ? ", " : "") + members.Text();
  }
  return out + ']';
}

std::string SuspectsJson(const CrawlReport& report) {
  std::string out = "[";
  for (const CrawlReport::Suspect& suspect : report.suspects) {
    JsonMembers members;
    members.AddText("url", suspect.url);
    members.Add("status", std::to_string(suspect.status));
    members.AddText("trouble", NameOf(suspect.trouble));
    members.AddText("why", suspect.why);
    members.AddText("remedy", RemedyFor(suspect.trouble));
    out += (out.size() > 1 ? ", " : "") + members.Text();
  }
  return out + ']';
}

}  // namespace

std::string_view RemedyForTrap(std::string_view kind) {
  const auto is = [&](std::string_view reason) { return reason.substr(kTrapWord.size()) == kind; };
  if (is(kQueriesTrap) || is(kCombinationsTrap)) {
    return "a larger --max-query-urls, if these are pages that differ; 0 is no limit";
  }
  if (is(kSamePagesTrap)) {
    return "a larger --max-same-pages, if pages are behind it that differ; 0 is no limit";
  }
  if (is(kSameAnswersTrap)) {
    return "a larger --max-same-answers, if pages are behind it that differ; 0 is no limit";
  }
  return "name its URLs as seeds, if it is no trap";
}

Result<CrawlReport> ReadCrawlReport(io::FileSystem& fs, const std::string& folder) {
  Reader reader;
  const Status crawl = ReadLogLines(fs, RunLog::CrawlLogPath(folder),
                                    [&](std::string_view line) { reader.TakeCrawlLine(line); });
  if (!crawl) return crawl.error();
  reader.FinishCrawl();
  const Status scope = ReadLogLines(fs, RunLog::ScopeLogPath(folder),
                                    [&](std::string_view line) { reader.TakeScopeLine(line); });
  if (!scope) return scope.error();
  const Status embeds = ReadLogLines(fs, RunLog::EmbedLogPath(folder),
                                     [&](std::string_view line) { reader.TakeEmbedLine(line); });
  // Runs of an older program have none.
  if (!embeds && embeds.error().code != ErrorCode::kNotFound) return embeds.error();
  reader.Finish();
  return std::move(reader.report);
}

Status DropCaptured(const archive::ArchiveView& view, std::uint32_t run, CrawlReport& report) {
  Status status;
  const std::size_t before = report.missing.size();
  std::erase_if(report.missing, [&](const MissingEmbed& missing) {
    if (!status) return false;
    const Result<std::optional<std::uint32_t>> found = RunThatHas(view, missing, run);
    if (!found) status = found.error();
    return found && found->has_value();
  });
  report.came_later += before - report.missing.size();
  report.missing_count -= before - report.missing.size();
  return status;
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
  all.Add("failed_count", std::to_string(report.failed_count));
  all.Add("failed", FailedJson(report));
  all.Add("given_up", GivenUpJson(report));
  all.Add("missing_count", std::to_string(report.missing_count));
  all.Add("came_later_count", std::to_string(report.came_later));
  all.Add("missing", MissingJson(report));
  all.Add("suspect_count", std::to_string(report.suspect_count));
  all.Add("suspects", SuspectsJson(report));
  all.Add("trapped_urls", std::to_string(report.trapped_urls));
  all.Add("traps", TrapsJson(report));
  all.Add("links_left_out", std::to_string(report.links_left_out));
  all.Add("repeated_secrets", std::to_string(report.repeated_secrets));
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
