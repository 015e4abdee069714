#include "crawl/control/crawl_status.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "util/json.h"

namespace stele::crawl {
namespace {

using Json = nlohmann::json;

// In the order of CrawlState.
constexpr std::array<std::string_view, 6> kStates = {"running", "paused", "stopping",
                                                     "done",    "limit",  "stopped"};
// Seconds beyond that are no time that anybody means.
constexpr double kSecondsMax = 1e9;

std::string Quoted(std::string_view text) {
  std::string json;
  AppendJsonString(json, text);
  return json;
}

double Seconds(std::chrono::milliseconds time) { return static_cast<double>(time.count()) / 1000; }

std::string DelayJson(const std::optional<std::chrono::milliseconds>& delay) {
  return delay ? fmt::format("{:.3f}", Seconds(*delay)) : "null";
}

std::string LimitsJson(const CrawlLimits& limits) {
  return fmt::format(
      "{{\"max_pages\": {}, \"max_bytes\": {}, \"max_time\": {}, \"max_rate\": {}, \"delay\": {}, "
      "\"connections\": {}}}",
      limits.pages_max, limits.bytes_max, limits.time_max.count(), limits.rate_max,
      DelayJson(limits.delay), limits.connections);
}

Error Damaged(std::string_view what) {
  return {ErrorCode::kCorrupt, fmt::format("a crawl told something else than {}", what)};
}

// Members of an object from another process; what is missing or of another kind is as if it were
// not there.
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {}

  const Json* Find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  std::string Text(const char* name) const {
    const Json* value = Find(name);
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
  }
  std::uint64_t Whole(const char* name) const {
    const Json* value = Find(name);
    return value != nullptr && value->is_number_unsigned() ? value->get<std::uint64_t>() : 0;
  }
  // Not below 0.
  std::optional<double> Number(const char* name) const {
    const Json* value = Find(name);
    if (value == nullptr || !value->is_number()) return std::nullopt;
    const double number = value->get<double>();
    return std::isfinite(number) && number >= 0 ? std::optional(number) : std::nullopt;
  }
  Timestamp Time(const char* name) const { return ParseIso(Text(name)).value_or(Timestamp{}); }

 private:
  const Json& object_;
};

std::optional<std::chrono::milliseconds> Milliseconds(std::optional<double> seconds) {
  if (!seconds || *seconds > kSecondsMax) return std::nullopt;
  return std::chrono::milliseconds(std::llround(*seconds * 1000));
}

CrawlLimits LimitsOf(const Json& object) {
  const Members members(object);
  CrawlLimits limits;
  limits.pages_max = members.Whole("max_pages");
  limits.bytes_max = members.Whole("max_bytes");
  if (const auto time = Milliseconds(members.Number("max_time"))) {
    limits.time_max = std::chrono::duration_cast<std::chrono::seconds>(*time);
  }
  limits.rate_max = members.Whole("max_rate");
  limits.delay = Milliseconds(members.Number("delay"));
  limits.connections = members.Whole("connections");
  return limits;
}

}  // namespace

std::string_view NameOf(CrawlState state) { return kStates[static_cast<std::size_t>(state)]; }

bool IsOver(CrawlState state) {
  return state == CrawlState::kDone || state == CrawlState::kLimit || state == CrawlState::kStopped;
}

std::string StatusJson(const CrawlStatus& status) {
  const CrawlProgress& progress = status.progress;
  const CrawlCounts& counts = progress.counts;
  std::string json = fmt::format(
      "{{\"job\": {}, \"run\": {}, \"pid\": {}, \"state\": \"{}\", \"started\": \"{}\", \"time\": "
      "\"{}\", \"seconds\": {:.3f}, ",
      Quoted(status.job), status.run, status.pid, NameOf(progress.state),
      FormatIsoMillis(status.started), FormatIsoMillis(status.time),
      static_cast<double>(counts.milliseconds) / 1000);
  json += fmt::format(
      "\"pages\": {}, \"files\": {}, \"bytes\": {}, \"duplicates\": {}, \"failures\": {}, "
      "\"pages_per_second\": {:.2f}, \"files_per_second\": {:.2f}, \"bytes_per_second\": {:.0f}, ",
      counts.pages, counts.files, counts.bytes, counts.duplicates, counts.failures,
      status.rates.pages, status.rates.files, status.rates.bytes);
  json += fmt::format(
      "\"waiting\": {}, \"hosts\": {}, \"under_way\": {}, \"seconds_left\": {}, \"limit\": {}, "
      "\"limits\": {}}}",
      progress.waiting, progress.hosts, progress.under_way,
      status.left ? std::to_string(status.left->count()) : "null", Quoted(progress.limit),
      LimitsJson(progress.limits));
  return json;
}

Result<CrawlStatus> ParseStatus(std::string_view text) {
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) return Damaged("its status");
  const Members members(object);
  CrawlStatus status;
  status.job = members.Text("job");
  status.run = static_cast<std::uint32_t>(members.Whole("run"));
  status.pid = static_cast<std::int64_t>(members.Whole("pid"));
  status.started = members.Time("started");
  status.time = members.Time("time");
  CrawlProgress& progress = status.progress;
  const auto state = std::find(kStates.begin(), kStates.end(), members.Text("state"));
  if (state == kStates.end() || status.run == 0) return Damaged("its status");
  progress.state = static_cast<CrawlState>(state - kStates.begin());
  CrawlCounts& counts = progress.counts;
  counts.pages = members.Whole("pages");
  counts.files = members.Whole("files");
  counts.bytes = members.Whole("bytes");
  counts.duplicates = members.Whole("duplicates");
  counts.failures = members.Whole("failures");
  if (const auto time = Milliseconds(members.Number("seconds"))) {
    counts.milliseconds = static_cast<std::uint64_t>(time->count());
  }
  status.rates.pages = members.Number("pages_per_second").value_or(0);
  status.rates.files = members.Number("files_per_second").value_or(0);
  status.rates.bytes = members.Number("bytes_per_second").value_or(0);
  progress.waiting = members.Whole("waiting");
  progress.hosts = members.Whole("hosts");
  progress.under_way = members.Whole("under_way");
  if (const auto left = Milliseconds(members.Number("seconds_left"))) {
    status.left = std::chrono::duration_cast<std::chrono::seconds>(*left);
  }
  progress.limit = members.Text("limit");
  const Json* limits = members.Find("limits");
  if (limits != nullptr && limits->is_object()) progress.limits = LimitsOf(*limits);
  return status;
}

std::string StatusMetrics(const CrawlStatus& status) {
  const CrawlProgress& progress = status.progress;
  const CrawlCounts& counts = progress.counts;
  struct Metric {
    std::string_view name;
    std::string_view type;
    std::string_view help;
    double value;
  };
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  const Metric metrics[] = {
      {"pages_total", "counter", "HTML pages captured.", number(counts.pages)},
      {"files_total", "counter", "Responses captured.", number(counts.files)},
      {"bytes_total", "counter", "Bytes of payloads.", number(counts.bytes)},
      {"duplicates_total", "counter", "Responses that were known.", number(counts.duplicates)},
      {"failures_total", "counter", "URLs without an answer.", number(counts.failures)},
      {"seconds_total", "counter", "Time of the run, without pauses.",
       number(counts.milliseconds) / 1000},
      {"waiting", "gauge", "URLs in queues.", number(progress.waiting)},
      {"hosts_waiting", "gauge", "Hosts with URLs in queues.", number(progress.hosts)},
      {"under_way", "gauge", "Fetches at this moment.", number(progress.under_way)},
      {"paused", "gauge", "1 while nothing new is asked for.",
       progress.state == CrawlState::kPaused ? 1.0 : 0.0}};
  // Label values have quotes, backslashes and line ends escaped as JSON does it.
  const std::string labels = fmt::format("{{job={},run=\"{}\"}}", Quoted(status.job), status.run);
  std::string out;
  for (const Metric& metric : metrics) {
    out += fmt::format("# HELP stele_crawl_{} {}\n# TYPE stele_crawl_{} {}\nstele_crawl_{}{} {}\n",
                       metric.name, metric.help, metric.name, metric.type, metric.name, labels,
                       metric.value);
  }
  return out;
}

CrawlLimits Changed(CrawlLimits limits, const LimitChanges& changes) {
  limits.pages_max = changes.pages_max.value_or(limits.pages_max);
  limits.bytes_max = changes.bytes_max.value_or(limits.bytes_max);
  limits.time_max = changes.time_max.value_or(limits.time_max);
  limits.rate_max = changes.rate_max.value_or(limits.rate_max);
  limits.delay = changes.delay.value_or(limits.delay);
  limits.connections = changes.connections.value_or(limits.connections);
  return limits;
}

std::string LimitChangesJson(const LimitChanges& changes) {
  std::string json;
  const auto add = [&](std::string_view name, const std::string& value) {
    json += fmt::format("{}\"{}\": {}", json.empty() ? "{" : ", ", name, value);
  };
  if (changes.pages_max) add("max_pages", std::to_string(*changes.pages_max));
  if (changes.bytes_max) add("max_bytes", std::to_string(*changes.bytes_max));
  if (changes.time_max) add("max_time", std::to_string(changes.time_max->count()));
  if (changes.rate_max) add("max_rate", std::to_string(*changes.rate_max));
  if (changes.delay) add("delay", DelayJson(*changes.delay));
  if (changes.connections) add("connections", std::to_string(*changes.connections));
  return json.empty() ? "{}" : json + '}';
}

Result<LimitChanges> ParseLimitChanges(std::string_view text) {
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) {
    return Error{ErrorCode::kInvalid, "limits are a JSON object, such as {\"max_pages\": 1000}"};
  }
  LimitChanges changes;
  for (const auto& [name, value] : object.items()) {
    const std::optional<std::uint64_t> whole =
        value.is_number_unsigned() ? std::optional(value.get<std::uint64_t>()) : std::nullopt;
    const bool is_seconds =
        value.is_number() && value.get<double>() >= 0 && value.get<double>() <= kSecondsMax;
    if (name == "max_pages" && whole) {
      changes.pages_max = whole;
    } else if (name == "max_bytes" && whole) {
      changes.bytes_max = whole;
    } else if (name == "max_time" && whole && is_seconds) {
      changes.time_max = std::chrono::seconds(*whole);
    } else if (name == "max_rate" && whole) {
      changes.rate_max = whole;
    } else if (name == "connections" && whole && *whole > 0 && *whole <= kConnectionsMax) {
      changes.connections = whole;
    } else if (name == "delay" && (value.is_null() || is_seconds)) {
      changes.delay = value.is_null() ? std::nullopt : Milliseconds(value.get<double>());
    } else {
      return Error{
          ErrorCode::kInvalid,
          fmt::format("{} cannot be {}; limits are max_pages, max_bytes, max_time, "
                      "max_rate, delay (null: by the rules of politeness) and connections "
                      "(1 to {})",
                      Quoted(name), value.dump(-1, ' ', true, Json::error_handler_t::replace),
                      kConnectionsMax)};
    }
  }
  return changes;
}

std::string UrlsToAddJson(const UrlsToAdd& urls) {
  std::string json = "{\"urls\": [";
  for (const std::string& url : urls.urls) {
    if (!json.ends_with('[')) json += ", ";
    AppendJsonString(json, url);
  }
  return json + fmt::format("], \"seed\": {}}}", urls.seed);
}

Result<UrlsToAdd> ParseUrlsToAdd(std::string_view text) {
  const Error wrong{ErrorCode::kInvalid,
                    "say {\"urls\": [\"https://example.org/\"], \"seed\": false}"};
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) return wrong;
  const Members members(object);
  const Json* list = members.Find("urls");
  const Json* seed = members.Find("seed");
  if (list == nullptr || !list->is_array() || (seed != nullptr && !seed->is_boolean())) {
    return wrong;
  }
  UrlsToAdd urls;
  urls.seed = seed != nullptr && seed->get<bool>();
  for (const Json& url : *list) {
    if (!url.is_string()) return wrong;
    urls.urls.push_back(url.get<std::string>());
  }
  return urls;
}

std::string AddedUrlsJson(const AddedUrls& added) {
  std::string json =
      fmt::format("{{\"added\": {}, \"known\": {}, \"refused\": [", added.added, added.known);
  for (const auto& [url, reason] : added.refused) {
    json += fmt::format("{}{{\"url\": {}, \"reason\": {}}}", json.ends_with('[') ? "" : ", ",
                        Quoted(url), Quoted(reason));
  }
  return json + "]}";
}

Result<AddedUrls> ParseAddedUrls(std::string_view text) {
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) return Damaged("what it added");
  const Members members(object);
  AddedUrls added;
  added.added = members.Whole("added");
  added.known = members.Whole("known");
  const Json* refused = members.Find("refused");
  if (refused == nullptr || !refused->is_array()) return added;
  for (const Json& one : *refused) {
    if (!one.is_object()) continue;
    const Members parts(one);
    added.refused.emplace_back(parts.Text("url"), parts.Text("reason"));
  }
  return added;
}

std::string HostQueuesJson(const std::vector<HostQueue>& queues) {
  std::string json = "[";
  for (const HostQueue& queue : queues) {
    json += fmt::format("{}{{\"host\": {}, \"waiting\": {}}}", json.size() > 1 ? ", " : "",
                        Quoted(queue.host), queue.waiting);
  }
  return json + ']';
}

}  // namespace stele::crawl
