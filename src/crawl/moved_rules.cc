#include "crawl/moved_rules.h"

#include <fmt/format.h>

#include "crawl/robots_cache.h"

namespace stele::crawl {
namespace {

std::string MovedNote(const url::Url& robots) {
  return fmt::format("moved {}", robots.href_without_fragment());
}

}  // namespace

Result<bool> MovedRules::Begin(std::string_view url) {
  const Result<bool> seen = frontier_.WasSeen(url);
  if (!seen) return seen.error();
  return !*seen && under_way_.insert(SeenKey(url)).second;
}

bool MovedRules::IsBeingCaptured(std::string_view url) const {
  return !under_way_.empty() && under_way_.contains(SeenKey(url));
}

void MovedRules::Finish(const url::Url& url) {
  frontier_.MarkSeen(url.href_without_fragment());
  if (url.path_and_query() == kRobotsPath) frontier_.SetNote(MovedNote(url), "");
  under_way_.erase(SeenKey(url.href_without_fragment()));
}

Result<bool> MovedRules::Has(const url::Url& robots) const {
  if (IsBeingCaptured(robots.href_without_fragment())) return true;
  const Result<std::optional<std::string>> note = frontier_.Note(MovedNote(robots));
  if (!note) return note.error();
  return note->has_value();
}

}  // namespace stele::crawl
