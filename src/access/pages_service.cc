#include "access/pages_service.h"

#include <fmt/format.h>

#include "access/api.h"
#include "access/cdx_server.h"
#include "access/downloads.h"
#include "access/memento.h"
#include "access/plain_pages.h"
#include "access/replay.h"
#include "access/requested_url.h"
#include "access/rewritten_replay.h"
#include "access/wayback_path.h"

namespace stele::access {
namespace {

constexpr std::string_view kReplayFolder = "replay/";

// A person's browser that goes somewhere, and no picture or program.
bool IsNavigation(const Call& call) {
  const std::string_view destination = call.Header("Sec-Fetch-Dest");
  if (!destination.empty()) return destination == "document";
  return false;
}

bool WantsHtml(const Call& call) {
  return call.Header("Accept").find("text/html") != std::string_view::npos;
}

// A form, or a script, that sends a body.
void Submitted(const Call& call, WaybackPath path) {
  if (path.kind != WaybackPath::Kind::kCapture || path.modifier.empty() || path.modifier == "rp_") {
    return SendError(call, 405, "This cannot be asked", "A body is sent to a capture only.");
  }
  Result<std::string> url = RequestedUrl(call.request, path.url);
  if (!url) return SendError(call, url.error());
  path.url = *std::move(url);
  if (path.modifier == "id_") return SendIdentity(call, path);
  SendRewritten(call, path);
}

}  // namespace

ServedArchive& TakeArchive(ServedArchives& archives, std::string_view& path, std::string& prefix) {
  prefix = "/";
  path.remove_prefix(path.starts_with('/') ? 1 : 0);
  const std::size_t slash = path.find('/');
  const std::string_view name = path.substr(0, slash);
  ServedArchive* const named = archives.Find(name);
  if (named == nullptr || slash == std::string_view::npos) return *archives.all().front();
  path.remove_prefix(slash + 1);
  prefix = fmt::format("/{}/", name);
  return *named;
}

std::string TargetOf(std::string_view path, std::string_view query) {
  return query.empty() ? std::string(path) : fmt::format("{}?{}", path, query);
}

void PagesService::Handle(net::Request& request, net::ResponseWriter& response) {
  const std::optional<Origins> origins = addresses_.Of(request);
  if (!origins) {
    static_cast<void>(
        response.Reply(421, kPlainType, "This server does not have that host name.\n"));
    return;
  }
  std::string prefix;
  std::string_view path = request.path();
  const ServedArchive& archive = TakeArchive(archives_, path, prefix);
  const std::string_view method = request.head().method;
  const bool is_read = method == "GET" || method == "HEAD";
  if (!is_read && !(IsReplayedMethod(method) && path.starts_with("web/"))) {
    net::ResponseStart start = StartOf(405, kPlainType);
    start.fields.push_back({"Allow", "GET, HEAD"});
    static_cast<void>(response.Reply(start, "Everything here is read-only.\n"));
    return;
  }
  const std::string_view user =
      options_.user_header.empty() ? std::string_view()
                                   : request.head().headers.Find(options_.user_header).value_or("");
  const std::string target = TargetOf(path, request.query());
  Call call{request,
            response,
            Sight(archive.Now(), clock_.Now(), std::string(user)),
            *origins,
            std::move(prefix),
            path,
            target,
            Parameters::Parse(request.query())};
  Route(call);
}

void PagesService::Route(Call& call) {
  if (!call.is_read()) return Wayback(call);  // nothing else takes a body
  if (RouteMachine(call) || RouteDownload(call)) return;
  std::string_view target = call.target;
  if (call.path == "web/cdx" || call.path == "cdx") return SendCdx(call, CdxDialect::kPywb);
  if (call.path == "cdx/search/cdx") return SendCdx(call, CdxDialect::kInternetArchive);
  for (const std::string_view timemap : {"web/timemap/", "timemap/"}) {
    if (target.starts_with(timemap)) return SendTimeMap(call, target.substr(timemap.size()));
  }
  if (target.starts_with("timegate/")) {
    const std::string url = AbsoluteUrl(target.substr(9));
    if (url.empty()) return SendError(call, 400, "This cannot be asked", "There is no address.");
    return SendTimeGate(call, url);
  }
  if (target.starts_with("web/")) return Wayback(call);
  Page(call);
}

bool PagesService::RouteMachine(Call& call) const {
  constexpr std::string_view kApi = "api/v1/";
  if (call.path.starts_with(kApi)) {
    const ApiContext context{archives_, overviews_, jobs_, options_.software, options_.has_worker};
    SendApi(call, context, call.path.substr(kApi.size()));
  } else if (call.path == "health") {
    SendJson(call, "{\"status\": \"ok\"}\n");
  } else if (call.path == "metrics") {
    std::string text = monitor_.Metrics();
    text += "# HELP stele_captures Captures in containers.\n# TYPE stele_captures gauge\n";
    for (const auto& archive : archives_.all()) {
      text += fmt::format("stele_captures{{archive=\"{}\"}} {}\n", archive->name(),
                          archive->Now()->view.holdings().CaptureCount());
    }
    SendText(call, "text/plain; version=0.0.4; charset=utf-8", text);
  } else {
    return false;
  }
  return true;
}

bool PagesService::RouteDownload(Call& call) const {
  constexpr std::string_view kRecord = "record/";
  if (call.path.starts_with(kRecord)) {
    SendRecord(call, call.path.substr(kRecord.size()));
  } else if (call.path == "export.warc.gz") {
    SendWarc(call, clock_);
  } else if (call.path == "export.wacz") {
    SendWacz(call, clock_, options_.spool_directory);
  } else {
    return false;
  }
  return true;
}

void PagesService::Wayback(Call& call) const {
  std::optional<WaybackPath> path = ParseWaybackPath(call.target.substr(4));
  if (!path) {
    return SendError(call, 400, "This cannot be asked",
                     "An address here is like /web/20140126200624/http://example.org/");
  }
  if (!call.is_read()) return Submitted(call, *std::move(path));
  const bool has_pages = !files_.empty();
  switch (path->kind) {
    case WaybackPath::Kind::kTimeGate:
      return SendTimeGate(call, path->url);
    case WaybackPath::Kind::kCaptures:
      if (has_pages) return Redirect(call, fmt::format("{}calendar/{}", call.prefix, path->url));
      return SendCaptureList(call, *path);
    case WaybackPath::Kind::kPrefix:
      if (has_pages) return Redirect(call, fmt::format("{}browse/{}", call.prefix, path->url));
      return SendUrlList(call, *path);
    case WaybackPath::Kind::kCapture:
      break;
  }
  if (path->modifier == "rp_") return SendNotFound(call, "This");
  if (path->modifier.empty() && has_pages && IsNavigation(call)) {
    return Redirect(call, fmt::format("{}view/{}/{}", call.prefix, path->digits, path->url),
                    {{"Vary", "Sec-Fetch-Dest"}});
  }
  if (path->modifier == "id_") return SendIdentity(call, *path);
  SendRewritten(call, *path);
}

std::string PagesService::PagePolicy(const Call& call) const {
  return fmt::format(
      "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-src "
      "'self' {}; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'",
      call.origins.replay);
}

void PagesService::Page(Call& call) const {
  const std::string_view path = call.path;
  const bool is_home = path.empty() || path == "index.html";
  if (!is_home && !path.starts_with(kReplayFolder)) {
    if (const auto file = files_.Read(path)) return SendFile(call, *file, PagePolicy(call));
  }
  if (is_home || WantsHtml(call)) {
    // The pages know their own paths.
    if (const auto file = files_.Read("index.html")) return SendFile(call, *file, PagePolicy(call));
  }
  if (is_home) return SendHome(call, options_.software);
  if (path == "find") {
    const std::string url = AbsoluteUrl(call.parameters.Get("url").value_or(""));
    if (!url.empty()) return Redirect(call, fmt::format("{}web/*/{}", call.prefix, url));
  }
  SendError(call, 404, "There is no such page", "The address is none of this server.");
}

}  // namespace stele::access
