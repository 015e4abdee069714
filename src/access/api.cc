#include "access/api.h"

#include "access/api_parts.h"

namespace stele::access {
namespace {

constexpr std::string_view kRuns = "runs/";
constexpr std::string_view kBatches = "batches/";

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
  std::uint64_t bytes = 0;
  for (const auto& [number, container] : holdings.containers()) bytes += container.bytes;
  const auto time = [&](const std::optional<Timestamp>& moment) {
    return moment ? std::optional(FormatIsoMillis(*moment)) : std::nullopt;
  };
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
      .Member("service_worker", context.has_worker)
      .Member("captures", overview != nullptr      ? overview->all.captures
                          : call.sight.has_rules() ? 0
                                                   : holdings.CaptureCount())
      .Member("pages", overview == nullptr ? 0 : overview->pages)
      .Member("hosts", overview == nullptr ? 0 : overview->sites.size())
      .Member("bytes", bytes)
      .Member("payload_bytes", overview == nullptr ? 0 : overview->all.bytes)
      .Optional("first", overview == nullptr ? std::nullopt : time(overview->first))
      .Optional("last", overview == nullptr ? std::nullopt : time(overview->last))
      .Member("runs", holdings.runs().size())
      .Member("software", context.software)
      .Member("complete", overview != nullptr)
      .Name("last_run");
  if (holdings.runs().empty()) {
    json.Null();
  } else {
    WriteRun(json, call, holdings.runs().rbegin()->second, overview);
  }
  SendJson(call, json.EndObject().Take());
}

}  // namespace

void SendApi(const Call& call, const ApiContext& context, std::string_view rest) {
  const std::shared_ptr<const Overview> overview =
      context.overviews.Of(call.sight.snapshot()->name);
  if (rest == "archives") return SendArchives(call, context);
  if (rest == "archive") return SendArchive(call, context, overview.get());
  if (rest == "sites") return SendSites(call, overview.get());
  if (rest == "captures") return SendCaptures(call);
  if (rest == "capture") return SendCapture(call);
  if (rest == "timeline") return SendTimeline(call);
  if (rest == "search") return SendSearch(call, overview.get());
  if (rest == "browse") return SendBrowse(call, overview.get());
  if (rest == "runs") return SendRuns(call, overview.get());
  if (rest == "changes") return SendChanges(call);
  if (rest == "diff") return SendDiff(call);
  if (rest == "statistics") return SendStatistics(call, overview.get());
  if (rest == "batches") return SendBatches(call);
  if (rest == "coherence") return SendCoherence(call);
  if (rest == "jobs") return SendJobs(call, context.jobs, overview.get());
  if (rest == "jobs/events") return SendJobEvents(call, context.jobs, overview.get());
  if (rest.starts_with(kRuns)) return SendRun(call, rest.substr(kRuns.size()), overview.get());
  if (rest.starts_with(kBatches)) return SendBatchCaptures(call, rest.substr(kBatches.size()));
  SendError(call, 404, "There is no such page", "The API has no such address.");
}

}  // namespace stele::access
