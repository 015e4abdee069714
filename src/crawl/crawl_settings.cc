#include "crawl/crawl_settings.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "crawl/seed.h"
#include "net/ip_address.h"
#include "util/ascii.h"

namespace stele::crawl {
namespace {

constexpr std::array<std::pair<std::string_view, RobotsPolicy>, 3> kPolicies = {
    {{"obey", RobotsPolicy::kObey},
     {"embeds", RobotsPolicy::kEmbeds},
     {"ignore", RobotsPolicy::kIgnore}}};

toml::array ArrayOf(const std::vector<std::string>& texts) {
  toml::array array;
  for (const std::string& text : texts) array.push_back(text);
  return array;
}

std::vector<std::string> TextsOf(const toml::table& table, std::string_view name) {
  std::vector<std::string> texts;
  if (const toml::array* array = table[name].as_array()) {
    for (const toml::node& node : *array) texts.push_back(node.value_or(std::string()));
  }
  return texts;
}

double Seconds(std::chrono::milliseconds time) { return static_cast<double>(time.count()) / 1000; }

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

constexpr double kDelaySecondsMax = 1e6;

struct Unit {
  char letter;
  std::int64_t seconds;
};
// The largest first.
constexpr std::array<Unit, 5> kUnits = {
    {{'w', 604'800}, {'d', 86'400}, {'h', 3'600}, {'m', 60}, {'s', 1}}};
constexpr std::uint64_t kEveryMax = 100'000'000;  // of a unit

// What a job file may have.
enum class Kind { kTexts, kText, kWhole, kFactor, kSeconds, kSwitch };
constexpr std::array<std::pair<std::string_view, Kind>, 33> kKeys = {
    {{"every", Kind::kText},
     {"max_rate", Kind::kWhole},
     {"max_file_time", Kind::kWhole},
     {"max_idle_time", Kind::kWhole},
     {"seeds", Kind::kTexts},
     {"rules", Kind::kTexts},
     {"resolve", Kind::kTexts},
     {"scope", Kind::kText},
     {"robots", Kind::kText},
     {"user_agent", Kind::kText},
     {"contact", Kind::kText},
     {"logins", Kind::kText},
     {"cookies", Kind::kText},
     {"proxy", Kind::kText},
     {"delay", Kind::kSeconds},
     {"sitemaps", Kind::kSwitch},
     {"favicons", Kind::kSwitch},
     {"depth", Kind::kWhole},
     {"max_pages", Kind::kWhole},
     {"max_bytes", Kind::kWhole},
     {"max_time", Kind::kWhole},
     {"max_file_bytes", Kind::kWhole},
     {"max_host_urls", Kind::kWhole},
     {"tries", Kind::kWhole},
     {"connections", Kind::kWhole},
     {"share", Kind::kText},
     {"max_query_urls", Kind::kWhole},
     {"max_same_pages", Kind::kWhole},
     {"max_same_answers", Kind::kWhole},
     {"delay_factor", Kind::kFactor},
     {"min_delay", Kind::kSeconds},
     {"max_delay", Kind::kSeconds},
     {"max_crawl_delay", Kind::kSeconds}}};

using Time = std::chrono::seconds CrawlSettings::*;
constexpr std::array<std::pair<std::string_view, Time>, 3> kTimes = {
    {{"max_time", &CrawlSettings::time_max},
     {"max_file_time", &CrawlSettings::file_time_max},
     {"max_idle_time", &CrawlSettings::idle_time_max}}};

using Delay = PolitenessOptions::Milliseconds PolitenessOptions::*;
constexpr std::array<std::pair<std::string_view, Delay>, 3> kDelays = {
    {{"min_delay", &PolitenessOptions::delay_min},
     {"max_delay", &PolitenessOptions::delay_max},
     {"max_crawl_delay", &PolitenessOptions::crawl_delay_max}}};

constexpr std::array<std::pair<std::string_view, Kind>, 12> kDedupKeys = {
    {{"dedup", Kind::kText},
     {"dedup_equivalent", Kind::kSwitch},
     {"dedup_mime", Kind::kText},
     {"dedup_whitelist", Kind::kSwitch},
     {"dedup_min_size", Kind::kWhole},
     {"dedup_before_links", Kind::kSwitch},
     {"dedup_origin", Kind::kText},
     {"dedup_index", Kind::kText},
     {"dedup_analyse", Kind::kText},
     {"dedup_headers", Kind::kText},
     {"dedup_abort", Kind::kSwitch},
     {"dedup_text", Kind::kSwitch}}};

std::optional<Kind> KindOf(std::string_view key) {
  for (const auto& [known, kind] : kKeys) {
    if (known == key) return kind;
  }
  for (const auto& [known, kind] : kDedupKeys) {
    if (known == key) return kind;
  }
  return std::nullopt;
}

bool IsA(Kind kind, const toml::node& node) {
  switch (kind) {
    case Kind::kTexts:
      return node.is_array() &&
             (node.as_array()->empty() || node.is_homogeneous(toml::node_type::string));
    case Kind::kText:
      return node.is_string();
    case Kind::kWhole:
      return node.is_integer() && node.value_or(std::int64_t{-1}) >= 0;
    case Kind::kFactor:
    case Kind::kSeconds: {
      const double number = node.value_or(-1.0);
      return node.is_number() && number >= 0 && number <= kDelaySecondsMax;
    }
    case Kind::kSwitch:
      return node.is_boolean();
  }
  return false;
}

std::string UnknownText() {
  std::string names;
  for (const auto& [name, kind] : kKeys) names += fmt::format("{}, ", name);
  for (const auto& [name, kind] : kDedupKeys) names += fmt::format("{}, ", name);
  names.resize(names.size() - 2);
  return "is no setting; there are " + names;
}

std::string WantedText(Kind kind) {
  switch (kind) {
    case Kind::kTexts:
      return "must be a list of texts, such as [\"one\", \"two\"]";
    case Kind::kText:
      return "must be a text, such as \"one\"";
    case Kind::kWhole:
      return "must be a whole number, 0 or more";
    case Kind::kFactor:
      return "must be a number, such as 2.5";
    case Kind::kSeconds:
      return "must be a number of seconds, such as 2.5";
    case Kind::kSwitch:
      return "must be true or false";
  }
  return "";
}

Status CheckKeys(const toml::table& table, const std::string& name) {
  for (const auto& [key, node] : table) {
    const std::optional<Kind> known = KindOf(key.str());
    if (known && IsA(*known, node)) continue;
    return Error{ErrorCode::kInvalid,
                 fmt::format("{}:{}: {} {}", name, node.source().begin.line, key.str(),
                             known ? WantedText(*known) : UnknownText())};
  }
  return {};
}

template <typename Number>
void PutNumber(toml::table& table, std::string_view name, Number value, Number fallback) {
  if (value != fallback) table.insert(name, static_cast<std::int64_t>(value));
}

template <typename Number>
void TakeNumber(const toml::table& table, std::string_view name, Number& value) {
  const std::optional<std::int64_t> found = table[name].value<std::int64_t>();
  if (found && *found >= 0) value = static_cast<Number>(*found);
}

void TakeNumbers(const toml::table& table, CrawlSettings& settings) {
  TakeNumber(table, "depth", settings.depth_max);
  TakeNumber(table, "max_pages", settings.pages_max);
  TakeNumber(table, "max_bytes", settings.bytes_max);
  for (const auto& [name, time] : kTimes) {
    std::int64_t seconds = (settings.*time).count();
    TakeNumber(table, name, seconds);
    settings.*time = std::chrono::seconds(seconds);
  }
  TakeNumber(table, "max_file_bytes", settings.file_bytes_max);
  TakeNumber(table, "max_host_urls", settings.host_urls_max);
  TakeNumber(table, "max_query_urls", settings.query_urls_max);
  TakeNumber(table, "max_same_pages", settings.same_pages_max);
  TakeNumber(table, "max_same_answers", settings.same_answers_max);
  TakeNumber(table, "max_rate", settings.rate_max);
  TakeNumber(table, "tries", settings.tries_max);
  TakeNumber(table, "connections", settings.connections);
}

void PutPoliteness(toml::table& table, const PolitenessOptions& options) {
  const PolitenessOptions fallback;
  if (options.delay) table.insert("delay", Seconds(*options.delay));
  if (options.delay_factor != fallback.delay_factor) {
    table.insert("delay_factor", options.delay_factor);
  }
  for (const auto& [name, delay] : kDelays) {
    if (options.*delay != fallback.*delay) table.insert(name, Seconds(options.*delay));
  }
}

void TakePoliteness(const toml::table& table, PolitenessOptions& options) {
  if (const std::optional<double> delay = table["delay"].value<double>()) {
    options.delay = Milliseconds(*delay);
  }
  options.delay_factor = table["delay_factor"].value_or(options.delay_factor);
  for (const auto& [name, delay] : kDelays) {
    const std::optional<double> seconds = table[name].value<double>();
    if (seconds) options.*delay = Milliseconds(*seconds);
  }
}

// False: one of them is no host with an address.
bool TakeResolve(const toml::table& table, CrawlSettings& settings) {
  for (const std::string& pair : TextsOf(table, "resolve")) {
    const std::size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos) return false;
    std::string address = pair.substr(equals + 1);
    if (!net::IpAddress::FromText(address)) return false;
    settings.resolve.emplace_back(pair.substr(0, equals), std::move(address));
  }
  return true;
}

void PutDuplicates(toml::table& table, const DuplicateSettings& settings) {
  const DuplicateSettings fallback;
  if (settings.match != fallback.match) table.insert("dedup", NameOf(settings.match));
  if (!settings.equivalent) table.insert("dedup_equivalent", false);
  for (const auto& [name, text] :
       {std::pair("dedup_mime", &settings.mime), std::pair("dedup_origin", &settings.origin),
        std::pair("dedup_index", &settings.index)}) {
    if (!text->empty()) table.insert(name, *text);
  }
  PutNumber(table, "dedup_min_size", settings.size_min, fallback.size_min);
  for (const auto& [name, value] :
       {std::pair("dedup_whitelist", settings.whitelist),
        std::pair("dedup_before_links", settings.before_links),
        std::pair("dedup_abort", settings.abort && settings.headers),
        std::pair("dedup_text", settings.headers_text && settings.headers)}) {
    if (value) table.insert(name, true);
  }
  if (settings.analysis != fallback.analysis) {
    table.insert("dedup_analyse", NameOf(settings.analysis));
  }
  if (settings.headers) table.insert("dedup_headers", dedup::HeaderSchemeName(*settings.headers));
}

// "job.toml:3": the first key about duplicates.
std::string DedupPlace(const toml::table& table, const std::string& name) {
  std::uint32_t line = 0;
  for (const auto& [key, kind] : kDedupKeys) {
    const toml::node* node = table.get(key);
    if (node == nullptr) continue;
    const std::uint32_t at = node->source().begin.line;
    line = line == 0 ? at : std::min(line, at);
  }
  return fmt::format("{}:{}", name, line);
}

Status TakeDuplicates(const toml::table& table, const std::string& name,
                      DuplicateSettings& settings) {
  const std::optional<Match> match = MatchByName(table["dedup"].value_or("url"));
  const std::optional<dedup::HeaderAnalysis> analysis =
      AnalysisByName(table["dedup_analyse"].value_or("none"));
  const std::string scheme = table["dedup_headers"].value_or("off");
  settings.headers = dedup::HeaderSchemeByName(scheme);
  if (!match || !analysis || (!settings.headers && scheme != "off")) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{}: dedup is off, url, digest or any; dedup_analyse is none, "
                             "timestamp or etag; dedup_headers is off, timestamp, etag, "
                             "timestamp-and-etag or timestamp-or-etag",
                             name)};
  }
  settings.match = *match;
  settings.analysis = *analysis;
  settings.equivalent = table["dedup_equivalent"].value_or(true);
  settings.mime = table["dedup_mime"].value_or("");
  settings.whitelist = table["dedup_whitelist"].value_or(false);
  TakeNumber(table, "dedup_min_size", settings.size_min);
  settings.before_links = table["dedup_before_links"].value_or(false);
  settings.origin = table["dedup_origin"].value_or("");
  settings.index = table["dedup_index"].value_or("");
  settings.abort = table["dedup_abort"].value_or(false);
  settings.headers_text = table["dedup_text"].value_or(false);
  if (!settings.headers && (settings.abort || settings.headers_text)) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{}: dedup_abort and dedup_text go with dedup_headers", name)};
  }
  const Result<dedup::DuplicateRules> rules = RulesOf(settings);
  if (!rules) return Error{ErrorCode::kInvalid, fmt::format("{}: {}", name, rules.error().text)};
  return {};
}

}  // namespace

std::optional<RobotsPolicy> RobotsPolicyByName(std::string_view name) {
  for (const auto& [known, policy] : kPolicies) {
    if (known == name) return policy;
  }
  return std::nullopt;
}

std::string_view NameOf(RobotsPolicy policy) {
  for (const auto& [name, known] : kPolicies) {
    if (known == policy) return name;
  }
  return "";
}

CrawlLimits LimitsOf(const CrawlSettings& settings) {
  CrawlLimits limits;
  limits.pages_max = settings.pages_max;
  limits.bytes_max = settings.bytes_max;
  limits.time_max = settings.time_max;
  limits.rate_max = settings.rate_max;
  limits.delay = settings.politeness.delay;
  limits.connections = settings.connections;
  return limits;
}

void SetLimits(const CrawlLimits& limits, CrawlSettings& settings) {
  settings.pages_max = limits.pages_max;
  settings.bytes_max = limits.bytes_max;
  settings.time_max = limits.time_max;
  settings.rate_max = limits.rate_max;
  settings.politeness.delay = limits.delay;
  settings.connections = limits.connections;
}

Result<ScopeOptions> ScopeOptionsOf(const CrawlSettings& settings) {
  ScopeOptions options;
  options.reach = settings.reach;
  options.depth_max = settings.depth_max;
  for (const std::string& text : settings.rules) {
    const bool include = text.starts_with('+');
    if (!include && !text.starts_with('-')) {
      return Error{ErrorCode::kInvalid, fmt::format("the rule {} must begin with + or -", text)};
    }
    Result<ScopeRule> rule = ScopeRule::Parse(std::string_view(text).substr(1), include);
    if (!rule) return rule.error();
    options.rules.push_back(*std::move(rule));
  }
  return options;
}

std::string UserAgentOf(const CrawlSettings& settings) {
  if (!settings.user_agent.empty()) return settings.user_agent;
  const std::string contact = settings.contact.empty() ? "" : "; +" + settings.contact;
  return fmt::format("Mozilla/5.0 (compatible; {}/" STELE_VERSION "{})", kProductToken, contact);
}

std::string ProductTokenOf(std::string_view user_agent) {
  constexpr std::string_view kCompatible = "compatible; ";
  const std::size_t at = user_agent.find(kCompatible);
  if (at != std::string_view::npos) user_agent.remove_prefix(at + kCompatible.size());
  const auto end = std::find_if_not(user_agent.begin(), user_agent.end(),
                                    [](char c) { return IsAsciiAlnum(c) || c == '-' || c == '_'; });
  std::string token(user_agent.begin(), end);
  // Every browser has this name.
  return token.empty() || AsciiLower(token) == "mozilla" ? std::string(kProductToken) : token;
}

namespace {

// What differs from the defaults.
toml::table TableOf(const CrawlSettings& settings) {
  const CrawlSettings fallback;
  toml::table table;
  table.insert("seeds", ArrayOf(settings.seeds));
  table.insert("scope", NameOf(settings.reach));
  table.insert("robots", NameOf(settings.robots));
  if (!settings.rules.empty()) table.insert("rules", ArrayOf(settings.rules));
  if (!settings.share.is_all()) table.insert("share", settings.share.Text());
  PutNumber(table, "depth", settings.depth_max, fallback.depth_max);
  PutPoliteness(table, settings.politeness);
  if (!settings.sitemaps) table.insert("sitemaps", false);
  if (!settings.favicons) table.insert("favicons", false);
  if (!settings.user_agent.empty()) table.insert("user_agent", settings.user_agent);
  if (!settings.contact.empty()) table.insert("contact", settings.contact);
  if (!settings.logins_file.empty()) table.insert("logins", settings.logins_file);
  if (!settings.cookies_file.empty()) table.insert("cookies", settings.cookies_file);
  PutDuplicates(table, settings.duplicates);
  PutNumber(table, "max_pages", settings.pages_max, fallback.pages_max);
  PutNumber(table, "max_bytes", settings.bytes_max, fallback.bytes_max);
  for (const auto& [name, time] : kTimes) {
    PutNumber(table, name, (settings.*time).count(), (fallback.*time).count());
  }
  PutNumber(table, "max_file_bytes", settings.file_bytes_max, fallback.file_bytes_max);
  PutNumber(table, "max_rate", settings.rate_max, fallback.rate_max);
  if (settings.every.count() > 0) table.insert("every", FormatEvery(settings.every));
  PutNumber(table, "max_host_urls", settings.host_urls_max, fallback.host_urls_max);
  PutNumber(table, "max_query_urls", settings.query_urls_max, fallback.query_urls_max);
  PutNumber(table, "max_same_pages", settings.same_pages_max, fallback.same_pages_max);
  PutNumber(table, "max_same_answers", settings.same_answers_max, fallback.same_answers_max);
  PutNumber(table, "tries", settings.tries_max, fallback.tries_max);
  PutNumber(table, "connections", settings.connections, fallback.connections);
  std::vector<std::string> resolve;
  for (const auto& [host, address] : settings.resolve) resolve.push_back(host + '=' + address);
  if (!resolve.empty()) table.insert("resolve", ArrayOf(resolve));
  if (settings.proxy) {
    table.insert("proxy", fmt::format("{}:{}", settings.proxy->host, settings.proxy->port));
  }
  return table;
}

std::string ValueText(const toml::table& table, std::string_view key) {
  std::ostringstream text;
  text << table[key];
  return text.str();
}

}  // namespace

std::string FormatSettings(const CrawlSettings& settings) {
  const toml::table table = TableOf(settings);
  std::ostringstream text;
  text << "# What `stele crawl` does in this archive when nothing else is said: docs/crawling.md\n"
       << table << '\n';
  return text.str();
}

Result<CrawlSettings> ParseSettings(const std::string& text, const std::string& name) {
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{}:{}: {}", name, error.source().begin.line, error.description())};
  }
  if (const Status checked = CheckKeys(table, name); !checked) return checked.error();
  const auto wrong = [&](std::string_view key, std::string_view problem) {
    return Error{
        ErrorCode::kInvalid,
        fmt::format("{}:{}: {}: {}", name, table.get(key)->source().begin.line, key, problem)};
  };
  CrawlSettings settings;
  const Status duplicates = TakeDuplicates(table, DedupPlace(table, name), settings.duplicates);
  if (!duplicates) return duplicates.error();
  settings.seeds = TextsOf(table, "seeds");
  settings.rules = TextsOf(table, "rules");
  const std::optional<Reach> reach = ReachByName(table["scope"].value_or("host"));
  const std::optional<RobotsPolicy> robots = RobotsPolicyByName(table["robots"].value_or("obey"));
  if (!reach) return wrong("scope", "say page, prefix, host, domain or any");
  if (!robots) return wrong("robots", "say obey, embeds or ignore");
  settings.reach = *reach;
  settings.robots = *robots;
  if (const std::optional<std::string> words = table["share"].value<std::string>()) {
    const Result<HostShare> share = HostShare::Parse(*words);
    if (!share) return wrong("share", share.error().text);
    settings.share = *share;
  }
  TakePoliteness(table, settings.politeness);
  if (settings.politeness.delay_min > settings.politeness.delay_max) {
    return wrong(table.contains("min_delay") ? "min_delay" : "max_delay",
                 "min_delay is more than max_delay");
  }
  settings.sitemaps = table["sitemaps"].value_or(true);
  settings.favicons = table["favicons"].value_or(true);
  settings.user_agent = table["user_agent"].value_or("");
  settings.contact = table["contact"].value_or("");
  settings.logins_file = table["logins"].value_or("");
  settings.cookies_file = table["cookies"].value_or("");
  TakeNumbers(table, settings);
  if (settings.connections == 0) return wrong("connections", "must be 1 or more");
  if (!TakeResolve(table, settings)) {
    return wrong("resolve", "write a host and its address, such as example.org=192.0.2.1");
  }
  if (const std::optional<std::string> address = table["proxy"].value<std::string>()) {
    Result<net::FetchProxy> proxy = ParseProxy(*address);
    if (!proxy) return wrong("proxy", proxy.error().text);
    settings.proxy = *std::move(proxy);
  }
  if (const std::optional<std::string> every = table["every"].value<std::string>()) {
    const Result<std::chrono::seconds> span = ParseEvery(*every);
    if (!span) return wrong("every", span.error().text);
    settings.every = *span;
  }
  for (const std::string& seed : settings.seeds) {
    if (const Result<url::Url> parsed = ParseSeed(seed); !parsed) {
      return wrong("seeds", parsed.error().text);
    }
  }
  if (const Result<ScopeOptions> scope = ScopeOptionsOf(settings); !scope) {
    return wrong("rules", scope.error().text);
  }
  return settings;
}

std::vector<std::string> DifferingKeys(const CrawlSettings& a, const CrawlSettings& b) {
  const toml::table one = TableOf(a);
  const toml::table other = TableOf(b);
  std::vector<std::string> keys;
  const auto compare = [&](std::string_view key) {
    if (ValueText(one, key) != ValueText(other, key)) keys.emplace_back(key);
  };
  for (const auto& [key, kind] : kKeys) compare(key);
  for (const auto& [key, kind] : kDedupKeys) compare(key);
  return keys;
}

Result<ResumedSettings> SettingsToGoOnWith(const CrawlSettings& job, const CrawlSettings& job_then,
                                           const CrawlSettings& began) {
  ResumedSettings resumed;
  resumed.options = DifferingKeys(job_then, began);
  toml::table merged = TableOf(job);
  const toml::table wanted = TableOf(began);
  for (const std::string& key : resumed.options) {
    merged.erase(key);
    const toml::node* node = wanted.get(key);
    if (node == nullptr) continue;
    node->visit([&](const auto& value) { merged.insert_or_assign(key, value); });
  }
  std::ostringstream text;
  text << merged;
  Result<CrawlSettings> settings = ParseSettings(text.str(), "the settings of the run");
  if (!settings) return settings.error();
  resumed.settings = *std::move(settings);
  resumed.settings.workers = job.workers;
  return resumed;
}

Result<net::FetchProxy> ParseProxy(std::string_view text) {
  const Result<url::Url> parsed = ParseSeed(text);
  const bool may_have_password = text.find('@') != std::string_view::npos;
  if (!parsed && may_have_password) return parsed.error();
  if (!parsed || parsed->scheme() != "http" || parsed->path_and_query() != "/") {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} is no proxy; write for example proxy.example:3128", text)};
  }
  net::FetchProxy proxy;
  proxy.host = parsed->host();
  proxy.port = *parsed->effective_port();
  return proxy;
}

Result<std::chrono::seconds> ParseEvery(std::string_view text) {
  const std::string_view number = text.substr(0, text.empty() ? 0 : text.size() - 1);
  const std::optional<std::uint64_t> count = ParseDecimal(number);
  for (const Unit& unit : kUnits) {
    if (!count || *count == 0 || *count > kEveryMax || text.back() != unit.letter) continue;
    return std::chrono::seconds(static_cast<std::int64_t>(*count) * unit.seconds);
  }
  return Error{ErrorCode::kInvalid,
               fmt::format("{} is no time; write for example 90m, 12h, 7d or 2w", text)};
}

std::string FormatEvery(std::chrono::seconds every) {
  for (const Unit& unit : kUnits) {
    if (every.count() % unit.seconds == 0) {
      return fmt::format("{}{}", every.count() / unit.seconds, unit.letter);
    }
  }
  return "";
}

}  // namespace stele::crawl
