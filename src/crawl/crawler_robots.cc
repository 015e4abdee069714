// What a crawl does with robots.txt files: asks for them, heeds them, and follows where they lead.
#include <fmt/format.h>

#include "crawl/crawler.h"

namespace stele::crawl {

std::string Crawler::WhyUnknown(const Visit& visit) {
  const net::FetchResult& result = visit.result;
  std::string why = result.error;
  if (why.empty() && visit.is_cut()) why = "the connection was lost";
  if (why.empty()) why = fmt::format("the server answered {}", result.status);
  return "its robots.txt could not be had: " + why;
}

Result<bool> Crawler::RobotsAllow(Frontier::Taken& taken, const url::Url& url) {
  if (settings_.robots == RobotsPolicy::kIgnore) return true;
  const std::string origin = url.origin();
  const Result<const robots::Robots*> rules = robots_.Find(origin, Now());
  if (!rules) return rules.error();
  if (*rules == nullptr) {
    const std::string via = taken.candidate.url;
    robots_pending_.insert(taken.host);
    parts_.frontier.Return(std::move(taken));
    const Status started = StartRobots(origin, *url::Parse(kRobotsPath, &url), 0, via);
    if (!started) return started.error();
    return false;
  }
  if (url.path_and_query() == kRobotsPath && !taken.candidate.seed) {
    FinishTaken(std::move(taken), url);
    return false;
  }
  if (const auto delay = (*rules)->crawl_delay()) {
    politeness_.SetCrawlDelay(taken.host, *delay);
  }
  const bool is_exempt = settings_.robots == RobotsPolicy::kEmbeds && !taken.candidate.is_page();
  if (is_exempt || (*rules)->Allows(url.path_and_query())) return true;
  GiveTaken(std::move(taken), url, {kRobotsPrecluded, robots_.WhyUnknown(origin)}, "robotExcluded");
  return false;
}

Status Crawler::StartRobots(const std::string& origin, const url::Url& at, int redirects,
                            const std::string& via) {
  const VisitPointer visit = std::make_shared<Visit>(at);
  visit->candidate.url = at.href_without_fragment();
  visit->candidate.via = via;
  visit->candidate.hops = "P";
  visit->kind = Politeness::Kind::kEmbed;
  visit->kept = kept_.Of(visit->candidate.url);
  visit->robots_origin = origin;
  visit->robots_redirects = redirects;
  if (redirects == 0) {
    const Result<bool> has = moved_rules_.Has(at);
    if (!has) return has.error();
    visit->is_surplus = *has;
    parts_.frontier.MarkSeen(visit->candidate.url);
  }
  Fetch(visit);
  return {};
}

Status Crawler::OnRobots(const VisitPointer& visit, robots::Access access) {
  const std::string& origin = visit->robots_origin;
  const url::Url whose = *url::Parse(origin);
  if (access == robots::Access::kFollow) {
    for (const Outlink& link : visit->outlinks.links) {
      const Result<url::Url> target = url::Parse(link.url);
      if (link.hop != 'R' || !target) continue;
      return StartRobots(origin, *target, visit->robots_redirects + 1, visit->candidate.url);
    }
    access = robots::Access::kAllowAll;
  }
  if (access == robots::Access::kDisallowAll) {
    const Result<bool> has_old = robots_.Prolong(origin, Now());
    if (!has_old) return has_old.error();
    if (*has_old) robots_tries_.erase(origin);
    if (*has_old || ++robots_tries_[origin] < static_cast<int>(settings_.tries_max)) {
      politeness_.BackOff(std::string(whose.host()), std::nullopt, visit->asked, Now());
      robots_pending_.erase(std::string(whose.host()));
      touched_.emplace(whose.host());
      return {};
    }
  }
  std::string text;
  if (access == robots::Access::kParse) text = visit->robots_text;
  if (access == robots::Access::kDisallowAll) text = WhyUnknown(*visit);
  visit->robots_note = robots_.Set(origin, access, text, Now());
  robots_tries_.erase(origin);
  robots_pending_.erase(std::string(whose.host()));
  touched_.emplace(whose.host());
  const Result<const robots::Robots*> rules = robots_.Find(origin, Now());
  if (!rules) return rules.error();
  return settings_.sitemaps && !patches_ ? AddSitemaps(*visit, **rules) : Status();
}

Status Crawler::AddSitemaps(const Visit& visit, const robots::Robots& rules) {
  for (const std::string& text : rules.sitemaps()) {
    const Result<url::Url> sitemap = url::Parse(text, &visit.url);
    if (!sitemap || !sitemap->is_http()) continue;
    Candidate candidate;
    candidate.url = sitemap->href_without_fragment();
    // Whose rules they are, wherever these were moved to.
    candidate.via = visit.robots_origin + std::string(kRobotsPath);
    candidate.hops = "M";
    if (const Status added = AddCandidate(std::move(candidate)); !added) return added;
  }
  return {};
}

Status Crawler::AddLinksOfMovedRules(const Visit& visit) {
  Candidate page = visit.candidate;
  page.hops = "L";
  return scope_.Decide(page, visit.url, YearOf(Now())).accepted ? AddLinks(visit) : Status();
}

}  // namespace stele::crawl
