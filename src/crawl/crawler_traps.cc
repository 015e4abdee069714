// Places where contents repeat, as a crawl learns of them. What counts is captured, so that what is
// saved about a place and what is finished in the frontier become durable together.
#include <algorithm>

#include "crawl/crawler.h"

namespace stele::crawl {
namespace {

// Before the names of places, in the frontier.
constexpr std::string_view kAnswerNotes = "repeated answers ";
constexpr std::string_view kPageNotes = "repeated pages ";

void Save(RepeatedContents& contents, std::string_view notes, Frontier& frontier) {
  for (auto& [name, value] : contents.TakeLearned()) {
    frontier.SetNote(std::string(notes) + name, std::move(value));
  }
}

// A page that can lead on without end. What stands in for another page is none: the empty frame
// that scripts fill, or a challenge.
bool IsWholePage(const Visit& visit) {
  const Outlinks& outlinks = visit.outlinks;
  const bool leads_on = std::any_of(outlinks.links.begin(), outlinks.links.end(),
                                    [](const Outlink& link) { return link.hop == 'L'; });
  const bool is_html = visit.mime_type.find("html") != std::string::npos;
  return visit.candidate.is_page() && is_html && leads_on && !outlinks.trouble;
}

}  // namespace

Status Crawler::LoadTraps() {
  const Status answers = parts_.frontier.VisitNotes(
      kAnswerNotes, [&](auto name, auto value) { same_answers_.Restore(name, value); });
  if (!answers) return answers;
  return parts_.frontier.VisitNotes(
      kPageNotes, [&](auto name, auto value) { same_pages_.Restore(name, value); });
}

void Crawler::SaveTraps() {
  Save(same_answers_, kAnswerNotes, parts_.frontier);
  Save(same_pages_, kPageNotes, parts_.frontier);
}

void Crawler::LearnTraps(const Visit& visit) {
  const bool is_there = visit.result.status == 200 || visit.is_unchanged();
  const bool is_told_again = visit.again || visit.is_surplus || visit.is_line_only;
  if (!is_there || is_told_again || !visit.robots_origin.empty()) return;
  const auto tell = [&](std::string_view trap) {
    parts_.log.AddRejected(visit.candidate, std::string(trap) + std::string(kTrapBegins), Now());
  };
  if (same_answers_.Learn(visit.url, visit.payload_digest)) tell(kSameAnswersTrap);
  if (IsWholePage(visit) && same_pages_.Learn(visit.url, visit.payload_digest)) {
    tell(kSamePagesTrap);
  }
}

std::string_view Crawler::TrapOf(const Candidate& candidate, const url::Url& url) const {
  if (candidate.seed) return {};
  if (same_answers_.IsTrap(url)) return kSameAnswersTrap;
  return candidate.is_page() && same_pages_.IsTrap(url) ? kSamePagesTrap : std::string_view();
}

std::string_view Crawler::TrapOfWaiting(const Candidate& candidate, const url::Url& url) const {
  if (!candidate.is_page()) return {};
  const std::string_view trap = TrapOf(candidate, url);
  if (trap.empty()) return {};
  // What a page needs as well is not left alone, nor is what the archive has already.
  const bool is_wanted = parts_.log.HasEmbed(candidate.url) || kept_.Of(candidate.url);
  return is_wanted ? std::string_view() : trap;
}

}  // namespace stele::crawl
