#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stele::dedup {

// When two URLs are taken for the same document, given that their payloads are identical.
enum class EquivalentRule {
  kNone,
  // The DeDuplicator's: without "www." and "www1." anywhere, without the query, without a slash at
  // the end. http://www.bok.hi.is/?lang=ice is http://bok.hi.is.
  kStrip,
  // The sort key of web archives: without scheme, "www.", session ids, order of arguments, case.
  kSurt,
};
std::optional<EquivalentRule> EquivalentRuleByName(std::string_view name);  // "strip"
std::string_view EquivalentRuleName(EquivalentRule rule);

// The same text for all URLs that are equivalent. Requires: rule is not kNone.
std::string NormalisedUrl(EquivalentRule rule, std::string_view url);

}  // namespace stele::dedup
