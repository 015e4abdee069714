#include "access/access_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "util/ascii.h"
#include "util/checksum.h"

namespace stele::access {
namespace {

constexpr std::string_view kExactMark = "###";
constexpr std::string_view kEverything = "*,";
constexpr std::int64_t kDayMilliseconds = 24LL * 3600 * 1000;

Error Wrong(std::string text) { return Error{ErrorCode::kInvalid, std::move(text)}; }

Result<std::optional<Timestamp>> TimeMember(const nlohmann::json& object, const char* name) {
  if (!object.contains(name)) return std::optional<Timestamp>();
  const nlohmann::json& value = object[name];
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const std::optional<Timestamp> time = ParseDigits(text);
  if (!time) return Wrong(fmt::format("\"{}\" is no time", name));
  return std::optional(*time);
}

}  // namespace

Timestamp AccessRules::Age::Before(Timestamp now) const {
  using namespace std::chrono;
  const sys_time<std::chrono::milliseconds> moment{
      std::chrono::milliseconds(now.milliseconds - milliseconds)};
  const auto day = floor<days>(moment);
  year_month_day date(day);
  date -= std::chrono::months(months);
  // The last day of a month that has fewer.
  if (!date.ok()) date = date.year() / date.month() / last;
  const auto since = sys_days(date) + (moment - day);
  return Timestamp{since.time_since_epoch().count()};
}

Result<AccessRules::Age> AccessRules::ParseAge(std::string_view text) {
  const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object()) return Wrong("\"newer\" and \"older\" take {\"years\": 1} or the like");
  Age age;
  for (const auto& [unit, value] : object.items()) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > 10000) {
      return Wrong(fmt::format("\"{}\" must be a number up to 10000", unit));
    }
    const int count = value.get<int>();
    if (unit == "years") {
      age.months += 12 * count;
    } else if (unit == "months") {
      age.months += count;
    } else if (unit == "weeks") {
      age.milliseconds += 7 * kDayMilliseconds * count;
    } else if (unit == "days") {
      age.milliseconds += kDayMilliseconds * count;
    } else {
      return Wrong(fmt::format("\"{}\" is none of years, months, weeks, days", unit));
    }
  }
  return age;
}

Result<std::vector<net::IpRange>> AccessRules::ParseRanges(std::string_view text) {
  const nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  std::vector<net::IpRange> ranges;
  for (const nlohmann::json& one : value.is_array() ? value : nlohmann::json::array({value})) {
    const std::optional<net::IpRange> range =
        one.is_string() ? net::IpRange::FromText(one.get<std::string>()) : std::nullopt;
    if (!range) {
      return Wrong(fmt::format("\"ip\": {} is no range like \"192.0.2.0/24\"", one.dump()));
    }
    ranges.push_back(*range);
  }
  // A rule for nobody would otherwise be one for everybody.
  if (ranges.empty()) return Wrong("\"ip\" has no range");
  return ranges;
}

Result<AccessRules::Rule> AccessRules::ParseRule(std::string_view text) {
  const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object() || !object.contains("access") || !object["access"].is_string()) {
    return Wrong("behind the key stands no object with \"access\"");
  }
  Rule rule;
  const std::string access = object["access"].get<std::string>();
  if (access == "block") {
    rule.access = Access::kBlock;
  } else if (access == "exclude") {
    rule.access = Access::kExclude;
  } else if (access != "allow" && access != "allow_ignore_embargo") {
    return Wrong(fmt::format("\"{}\" is none of allow, block, exclude", access));
  }
  if (object.contains("user")) {
    // A rule for nobody would otherwise be one for everybody.
    if (object["user"].is_string()) rule.user = object["user"].get<std::string>();
    if (rule.user.empty()) return Wrong("\"user\" takes a name");
  }
  if (object.contains("ip")) {
    Result<std::vector<net::IpRange>> from = ParseRanges(object["ip"].dump());
    if (!from) return from.error();
    rule.from = *std::move(from);
  }
  if (object.contains("downloads")) {
    if (!object["downloads"].is_boolean()) return Wrong("\"downloads\" takes true or false");
    rule.downloads = object["downloads"].get<bool>();
  }
  Result<std::optional<Timestamp>> before = TimeMember(object, "before");
  if (!before) return before.error();
  rule.before = *before;
  Result<std::optional<Timestamp>> after = TimeMember(object, "after");
  if (!after) return after.error();
  rule.after = *after;
  for (const auto& [name, age] :
       {std::pair("newer", &rule.newer), std::pair("older", &rule.older)}) {
    if (!object.contains(name)) continue;
    Result<Age> parsed = ParseAge(object[name].dump());
    if (!parsed) return parsed.error();
    *age = *parsed;
  }
  return rule;
}

Result<AccessRules> AccessRules::Parse(std::string_view text, const std::string& name) {
  AccessRules rules;
  rules.checksum_ = ChecksumOf(text);
  std::size_t number = 0;
  for (const std::string_view raw : Split(text, '\n')) {
    ++number;
    const std::string_view line = TrimSpace(raw);
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t space = line.find(' ');
    const std::size_t brace = line.find('{');
    if (space == std::string_view::npos || brace == std::string_view::npos || brace < space) {
      return Wrong(
          fmt::format("{}: line {}: a rule is like: org,example)/ - {{\"access\": "
                      "\"block\"}}",
                      name, number));
    }
    Result<Rule> rule = ParseRule(line.substr(brace));
    if (!rule) return Wrong(fmt::format("{}: line {}: {}", name, number, rule.error().text));
    std::string_view key = line.substr(0, space);
    if (key.ends_with(kExactMark)) {
      rule->exact = true;
      key.remove_suffix(kExactMark.size());
    }
    if (key == kEverything) key = "";
    rules.has_ages_ |= rule->newer || rule->older;
    rules.by_length_[key.size()][std::string(key)].push_back(*std::move(rule));
  }
  return rules;
}

bool AccessRules::IsFor(const Rule& rule, const Viewer& viewer) {
  if (!rule.user.empty() && rule.user != viewer.user) return false;
  return rule.from.empty() ||
         (viewer.address && std::any_of(rule.from.begin(), rule.from.end(), [&](const auto& range) {
            return range.Contains(*viewer.address);
          }));
}

bool AccessRules::Applies(const Rule& rule, Timestamp captured, Timestamp now) {
  if (rule.before && captured >= *rule.before) return false;
  if (rule.after && captured <= *rule.after) return false;
  if (rule.newer && captured <= rule.newer->Before(now)) return false;
  return !rule.older || captured < rule.older->Before(now);
}

AccessRules::Verdict AccessRules::Judge(std::string_view key, Timestamp captured, Timestamp now,
                                        const Viewer& viewer) const {
  // A rule for one user goes before one for a place, that before those for everybody; and one for
  // this URL alone before others.
  const auto rank = [](const Rule& rule) {
    return (rule.user.empty() ? 0 : 4) + (rule.from.empty() ? 0 : 2) + (rule.exact ? 1 : 0);
  };
  for (const auto& [length, by_key] : by_length_) {
    if (length > key.size()) continue;
    const auto found = by_key.find(key.substr(0, length));
    if (found == by_key.end()) continue;
    const Rule* best = nullptr;
    for (const Rule& rule : found->second) {
      if (rule.exact && length != key.size()) continue;
      if (!IsFor(rule, viewer) || !Applies(rule, captured, now)) continue;
      if (best == nullptr || rank(rule) > rank(*best)) best = &rule;
    }
    if (best != nullptr) return {best->access, best->downloads};
  }
  return {};
}

std::string AccessRules::ClassOf(const Viewer& viewer) const {
  std::string names = fmt::format("{:x}:", checksum_);
  for (const auto& [length, by_key] : by_length_) {
    for (const auto& [key, rules] : by_key) {
      for (const Rule& rule : rules) {
        if (!rule.user.empty() || !rule.from.empty()) names += IsFor(rule, viewer) ? '1' : '0';
      }
    }
  }
  return names;
}

}  // namespace stele::access
