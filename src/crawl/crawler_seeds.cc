// Where a crawl begins, and by which scheme. A seed without one waits, taken from its queue, while
// it is asked for by https because http failed.
#include <fmt/format.h>

#include <algorithm>

#include "crawl/crawler.h"
#include "crawl/missing_embeds.h"

namespace stele::crawl {
namespace {

// Nobody is there who speaks http, as far as this tells.
bool IsSilence(net::FetchFailure failure) {
  return failure == net::FetchFailure::kConnect || failure == net::FetchFailure::kTimeout ||
         failure == net::FetchFailure::kLost || failure == net::FetchFailure::kNotHttp;
}

}  // namespace

Status Crawler::AddSeeds() {
  for (const std::string& text : settings_.seeds) {
    const Result<url::Url> seed = ParseSeed(text);
    if (!seed) return seed.error();
    scope_.AddSeed(*seed);
    seed_hosts_.emplace(seed->host());
    if (patches_) continue;
    schemeless_.Add(text);
    Candidate candidate;
    candidate.url = seed->href_without_fragment();
    candidate.source = candidate.url;
    candidate.seed = true;
    if (const Status added = AddCandidate(std::move(candidate)); !added) return added;
  }
  for (const std::string& text : more_seeds_) {
    schemeless_.Add(text);
    // Redirects lead to more than a person can name.
    const Result<url::Url> seed = NamesScheme(text) ? url::Parse(text) : ParseSeed(text);
    if (seed) scope_.AddSeed(*seed);
  }
  if (!patches_) return {};
  return patches_([&](Candidate candidate) { return AddCandidate(std::move(candidate)); });
}

Result<bool> Crawler::AskByHttps(const Visit& visit) {
  const bool is_robots = !visit.robots_origin.empty();
  const std::string origin = is_robots ? visit.robots_origin : visit.url.origin();
  const net::FetchFailure failure = visit.result.failure;
  // It answered before, maybe before an interruption.
  const bool has_answered = reachability_.HasAnswered(origin) || visit.kept;
  if (visit.robots_redirects > 0) return false;
  const std::vector<std::string> seeds =
      IsSilence(failure) && !has_answered
          ? schemeless_.Fail(origin, {net::HeritrixStatus(failure), visit.result.error})
          : std::vector<std::string>();
  for (const std::string& seed : seeds) {
    const url::Url by_https = ByHttps(seed);
    Candidate candidate;
    candidate.url = by_https.href_without_fragment();
    candidate.source = seed;
    candidate.seed = true;
    // Before an interruption.
    const Result<std::optional<std::uint32_t>> captured =
        RunThatHas(parts_.archive.View(), candidate.url, run_);
    if (!captured) return captured.error();
    if (*captured) reachability_.Answered(by_https);
    if (const Status added = AddCandidate(std::move(candidate)); !added) return added.error();
    const Result<bool> is_asked = parts_.frontier.WasSeen(by_https.href_without_fragment());
    if (!is_asked) return is_asked.error();
    // A rule may exclude it.
    if (!*is_asked) schemeless_.Fail(by_https.origin(), {});
  }
  return !seeds.empty();
}

bool Crawler::LeavesSeed(Frontier::Taken& taken, const url::Url& url) {
  const Candidate& candidate = taken.candidate;
  if (!candidate.seed || !candidate.hops.empty()) return false;
  if (url.scheme() == "http") {
    if (schemeless_.WhyByHttps(candidate.url) == nullptr) return false;
    const std::string by_https = ByHttps(candidate.url).origin();
    if (schemeless_.HasFailed(by_https) && !reachability_.HasAnswered(by_https)) return false;
    seeds_by_https_.push_back(std::move(taken));
    return true;
  }
  const Result<url::Url> source = url::Parse(candidate.source);
  if (!source || schemeless_.WhyByHttps(candidate.source) == nullptr) return false;
  if (reachability_.HasAnswered(source->origin())) {
    FinishTaken(std::move(taken), url);
    return true;
  }
  // Its robots.txt could not be had: it is the turn of http.
  const bool is_next = candidate.tries == 0 && candidate.waits == 0;
  if (!is_next || !schemeless_.HasFailed(url.origin())) return false;
  if (reachability_.HasAnswered(url.origin())) return false;
  parts_.frontier.Retry(taken, Frontier::Why::kPatience);
  return true;
}

void Crawler::SettleSeeds() {
  // What was to be asked by https had failed before an interruption.
  const bool is_all = fetching_ == 0 && working_ == 0 && parts_.frontier.waiting() == 0;
  std::erase_if(seeds_by_https_, [&](Frontier::Taken& taken) {
    const url::Url by_https = ByHttps(taken.candidate.url);
    if (is_all || reachability_.Why(by_https) != nullptr) schemeless_.Fail(by_https.origin(), {});
    const bool has_answered = reachability_.HasAnswered(by_https.origin());
    if (!has_answered && !schemeless_.HasFailed(by_https.origin())) return false;
    const url::Url url = *url::Parse(taken.candidate.url);
    touched_.emplace(url.host());
    if (has_answered) {
      const Reachability::Failure why = *schemeless_.WhyByHttps(taken.candidate.url);
      GiveTaken(std::move(taken), url, why, kByHttpsAnnotation);
    } else {
      parts_.frontier.Retry(taken);
    }
    return true;
  });
}

}  // namespace stele::crawl
