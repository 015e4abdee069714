#include "access/api.h"

#include <fmt/format.h>

#include "access/api_page.h"
#include "access/api_parts.h"

namespace stele::access {
namespace {

void SendArchives(const Call& call, const ApiContext& context) {
  JsonWriter json;
  json.BeginObject().Name("archives").BeginArray();
  const bool alone = context.archives.all().size() == 1;
  for (const auto& archive : context.archives.all()) {
    json.BeginObject()
        .Member("name", archive->name())
        .Member("title", archive->Now()->view.layout().config().title)
        .Member("prefix", alone ? "/" : fmt::format("/{}/", archive->name()))
        .EndObject();
  }
  SendJson(call, json.EndArray().EndObject().Take());
}

void SendArchive(const Call& call, const ApiContext& context, const Overview* overview) {
  const archive::ArchiveView& view = call.sight.view();
  const archive::ArchiveConfig& config = view.layout().config();
  const archive::Holdings& holdings = view.holdings();
  const Viewer& viewer = call.sight.viewer();
  const auto time = [&](const std::optional<Timestamp>& moment) {
    return moment ? std::optional(FormatIsoMillis(*moment)) : std::nullopt;
  };
  const std::vector<const archive::Run*> runs = SeenRuns(call.sight, overview);
  JsonWriter json;
  json.BeginObject()
      .Member("name", call.sight.snapshot()->name)
      .Member("title", config.title)
      .Member("description", config.description)
      .Member("creator", config.creator)
      .Member("rights", config.rights)
      .Member("contact", config.contact)
      .Member("language", config.language)
      .Member("prefix", call.prefix)
      .Member("replay_origin", call.origins.replay)
      .Member("replay_ticket", context.gate.TicketFor(viewer))
      .Member("service_worker", context.has_worker)
      .Member("user", viewer.user)
      .Member("login", context.gate.has_users())
      .Member("captures", overview != nullptr      ? overview->all.captures
                          : call.sight.has_rules() ? 0
                                                   : holdings.CaptureCount())
      .Member("pages", overview == nullptr ? 0 : overview->pages)
      .Member("hosts", overview == nullptr ? 0 : overview->sites.size())
      .Member("bytes", StoredBytes(call.sight, overview))
      .Member("payload_bytes", overview == nullptr ? 0 : overview->all.bytes)
      .Optional("first", overview == nullptr ? std::nullopt : time(overview->first))
      .Optional("last", overview == nullptr ? std::nullopt : time(overview->last))
      .Member("runs", runs.size())
      .Member("software", context.software)
      .Member("complete", overview != nullptr)
      .Name("last_run");
  if (runs.empty()) {
    json.Null();
  } else {
    WriteRun(json, call, *runs.back(), overview);
  }
  SendJson(call, json.EndObject().Take());
}

// What a path below /api/v1/ is answered by. `rest` is what stands in place of "{...}".
struct Request {
  const Call& call;
  const ApiContext& context;
  const Overview* overview;
  std::string_view rest;
};
struct Route {
  std::string_view path;  // as docs/access-api.yaml has it
  void (*send)(const Request& request);
};

constexpr Route kRoutes[] = {
    {"", [](const Request& r) { SendApiPage(r.call); }},
    {"openapi.yaml", [](const Request& r) { SendApiDocument(r.call); }},
    {"archives", [](const Request& r) { SendArchives(r.call, r.context); }},
    {"archive", [](const Request& r) { SendArchive(r.call, r.context, r.overview); }},
    {"sites", [](const Request& r) { SendSites(r.call, r.overview); }},
    {"captures", [](const Request& r) { SendCaptures(r.call); }},
    {"capture", [](const Request& r) { SendCapture(r.call); }},
    {"timeline", [](const Request& r) { SendTimeline(r.call); }},
    {"search", [](const Request& r) { SendSearch(r.call, r.overview); }},
    {"browse", [](const Request& r) { SendBrowse(r.call, r.overview); }},
    {"runs", [](const Request& r) { SendRuns(r.call, r.overview); }},
    {"runs/{run}", [](const Request& r) { SendRun(r.call, r.rest, r.overview); }},
    {"runs/{run}/report", [](const Request& r) { SendRunReport(r.call, r.rest, r.overview); }},
    {"changes", [](const Request& r) { SendChanges(r.call, r.overview); }},
    {"diff", [](const Request& r) { SendDiff(r.call); }},
    {"statistics", [](const Request& r) { SendStatistics(r.call, r.overview); }},
    {"batches", [](const Request& r) { SendBatches(r.call); }},
    {"batches/{batch}/captures", [](const Request& r) { SendBatchCaptures(r.call, r.rest); }},
    {"coherence", [](const Request& r) { SendCoherence(r.call); }},
    {"jobs", [](const Request& r) { SendJobs(r.call, r.context.jobs, r.overview); }},
    {"jobs/events", [](const Request& r) { SendJobEvents(r.call, r.context.jobs, r.overview); }},
};

// What stands in place of the "{...}" of a pattern; nothing where the path is another.
std::optional<std::string_view> Match(std::string_view pattern, std::string_view path) {
  const std::size_t begin = pattern.find('{');
  if (begin == std::string_view::npos) {
    return pattern == path ? std::optional(std::string_view()) : std::nullopt;
  }
  const std::string_view before = pattern.substr(0, begin);
  const std::string_view after = pattern.substr(pattern.find('}') + 1);
  const bool fits = path.size() >= before.size() + after.size() && path.starts_with(before) &&
                    path.ends_with(after);
  if (!fits) return std::nullopt;
  path.remove_prefix(before.size());
  path.remove_suffix(after.size());
  return path.find('/') == std::string_view::npos ? std::optional(path) : std::nullopt;
}

}  // namespace

std::vector<std::string_view> ApiRoutes() {
  std::vector<std::string_view> paths;
  for (const Route& route : kRoutes) paths.push_back(route.path);
  return paths;
}

void SendApi(const Call& call, const ApiContext& context, std::string_view rest) {
  for (const Route& route : kRoutes) {
    const std::optional<std::string_view> part = Match(route.path, rest);
    if (!part) continue;
    const std::shared_ptr<const Overview> overview = context.overviews.Of(call.sight);
    return route.send({call, context, overview.get(), *part});
  }
  SendError(call, 404, "There is no such page", "The API has no such address.");
}

}  // namespace stele::access
