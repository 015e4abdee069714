#include "dedup/equivalent_url.h"

#include "formats/url/surt.h"
#include "util/ascii.h"
#include "util/check.h"

namespace stele::dedup {
namespace {

// The length of "www.", "www12." at the start; 0 where there is none.
std::size_t WwwLength(std::string_view text) {
  if (!text.starts_with("www")) return 0;
  std::size_t at = 3;
  while (at < text.size() && IsAsciiDigit(text[at])) ++at;
  return at < text.size() && text[at] == '.' ? at + 1 : 0;
}

std::string Strip(std::string_view url) {
  url = url.substr(0, url.find('?'));
  std::string out;
  while (!url.empty()) {
    if (const std::size_t www = WwwLength(url)) {
      url.remove_prefix(www);
    } else {
      out += url.front();
      url.remove_prefix(1);
    }
  }
  if (out.ends_with('/')) out.pop_back();
  return out;
}

}  // namespace

std::optional<EquivalentRule> EquivalentRuleByName(std::string_view name) {
  for (const EquivalentRule rule :
       {EquivalentRule::kNone, EquivalentRule::kStrip, EquivalentRule::kSurt}) {
    if (EquivalentRuleName(rule) == name) return rule;
  }
  return std::nullopt;
}

std::string_view EquivalentRuleName(EquivalentRule rule) {
  switch (rule) {
    case EquivalentRule::kNone:
      return "none";
    case EquivalentRule::kStrip:
      return "strip";
    case EquivalentRule::kSurt:
      return "surt";
  }
  return "";
}

std::string NormalisedUrl(EquivalentRule rule, std::string_view url) {
  Check(rule != EquivalentRule::kNone);
  return rule == EquivalentRule::kStrip ? Strip(url) : url::SurtKey(url);
}

}  // namespace stele::dedup
