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

// To whoever is not let in.
void Refuse(const net::Request& request, net::ResponseWriter& response, Gate::Answer answer) {
  struct Words {
    int status;
    std::string_view code;
    std::string_view title;
    std::string_view text;
  };
  Words words = {401, "login", "Log in", "Name and password, or token, are missing or wrong."};
  if (answer == Gate::Answer::kBusy) {
    words = {503, "busy", "Not now", "Too many try to log in at once; try again."};
  } else if (answer == Gate::Answer::kRefuse) {
    words = {403, "refused", "Not for you", "Only those may look whom the proxy before us names."};
  }
  const bool is_api = request.path().find("/api/") != std::string_view::npos;
  net::ResponseStart start = StartOf(words.status, is_api ? kJsonType : kHtmlType);
  if (answer == Gate::Answer::kBusy) start.fields.push_back({"Retry-After", "1"});
  if (answer == Gate::Answer::kLogIn) {
    start.fields.push_back({"WWW-Authenticate", "Basic realm=\"Stele\", charset=\"UTF-8\""});
    start.fields.push_back({"WWW-Authenticate", "Bearer"});
  }
  static_cast<void>(response.Reply(
      start, is_api
                 ? fmt::format("{{\"code\": \"{}\", \"error\": \"{}\"}}\n", words.code, words.text)
                 : PlainPage(words.title, fmt::format("<p>{}</p>", words.text))));
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
  // For monitors; it says nothing of what is here.
  if (request.path() == "/health") {
    static_cast<void>(response.Reply(StartOf(200, kJsonType), "{\"status\": \"ok\"}\n"));
    return;
  }
  Gate::Entry entry = gate_.AtPages(request);
  if (entry.answer != Gate::Answer::kIn) return Refuse(request, response, entry.answer);
  const std::string target = TargetOf(path, request.query());
  Call call{request,
            response,
            Sight(archive.Now(), clock_.Now(), std::move(entry.viewer)),
            *origins,
            std::move(prefix),
            path,
            target,
            Parameters::Parse(request.query()),
            options_.leads_to_exact};
  Route(call);
}

const std::vector<PagesService::Served>& PagesService::Table() {
  static const std::vector<Served> table = {
      {"api/v1/", &PagesService::Api},        {"api/v1", &PagesService::ApiHome},
      {"metrics", &PagesService::Metrics},    {"login", &PagesService::LogIn},
      {"record/", &PagesService::Record},     {"export.warc.gz", &PagesService::Warc},
      {"export.wacz", &PagesService::Wacz},   {"cdx", &PagesService::PywbCdx},
      {"web/cdx", &PagesService::PywbCdx},    {"cdx/search/cdx", &PagesService::Cdx},
      {"timemap/", &PagesService::TimeMap},   {"web/timemap/", &PagesService::TimeMap},
      {"timegate/", &PagesService::TimeGate}, {"web/", &PagesService::Wayback},
      {"find", &PagesService::Find},
  };
  return table;
}

std::vector<std::string_view> PagesService::Routes() {
  std::vector<std::string_view> paths;
  for (const Served& served : Table()) paths.push_back(served.path);
  return paths;
}

void PagesService::Route(Call& call) {
  if (!call.is_read()) return Wayback(call);  // nothing else takes a body
  for (const Served& served : Table()) {
    const bool fits =
        served.path.ends_with('/') ? call.path.starts_with(served.path) : call.path == served.path;
    if (fits) return (this->*served.send)(call);
  }
  Page(call);
}

void PagesService::Api(Call& call) {
  const ApiContext context{archives_, overviews_,        gate_,
                           jobs_,     options_.software, options_.has_worker};
  SendApi(call, context, call.path.substr(std::string_view("api/v1/").size()));
}

void PagesService::ApiHome(Call& call) { Redirect(call, call.prefix + "api/v1/"); }

void PagesService::Record(Call& call) {
  SendRecord(call, call.path.substr(std::string_view("record/").size()));
}

void PagesService::Warc(Call& call) { SendWarc(call, clock_); }

void PagesService::Wacz(Call& call) { SendWacz(call, clock_, options_.spool_directory); }

void PagesService::PywbCdx(Call& call) { SendCdx(call, CdxDialect::kPywb); }

void PagesService::Cdx(Call& call) { SendCdx(call, CdxDialect::kInternetArchive); }

void PagesService::TimeMap(Call& call) {
  constexpr std::string_view kName = "timemap/";
  SendTimeMap(call, call.target.substr(call.target.find(kName) + kName.size()));
}

void PagesService::TimeGate(Call& call) {
  const std::string url = AbsoluteUrl(call.target.substr(std::string_view("timegate/").size()));
  if (url.empty()) return SendError(call, 400, "This cannot be asked", "There is no address.");
  LeadInTime(call, url);
}

// A person's browser goes on from the exact address to the page that shows the capture.
void PagesService::LeadInTime(Call& call, const std::string& url) const {
  if (!files_.empty() && IsNavigation(call)) call.leads_to_exact = true;
  SendTimeGate(call, url);
}

// The form of the plain home page.
void PagesService::Find(Call& call) {
  const std::string url = AbsoluteUrl(call.parameters.Get("url").value_or(""));
  if (url.empty()) return SendError(call, 400, "This cannot be asked", "There is no address.");
  Redirect(call, fmt::format("{}web/*/{}", call.prefix, url));
}

void PagesService::Metrics(Call& call) {
  if (!gate_.ShowsMetrics(call.sight.viewer())) {
    return SendError(call, 403, "Not for you", "Metrics are for those who log in, and monitors.");
  }
  std::string text = monitor_.Metrics();
  text += "# HELP stele_captures Captures in containers.\n# TYPE stele_captures gauge\n";
  for (const auto& archive : archives_.all()) {
    text += fmt::format("stele_captures{{archive=\"{}\"}} {}\n", archive->name(),
                        archive->Now()->view.holdings().CaptureCount());
  }
  SendText(call, "text/plain; version=0.0.4; charset=utf-8", text);
}

void PagesService::LogIn(Call& call) {
  if (gate_.has_users() && call.sight.viewer().user.empty()) {
    return Refuse(call.request, call.response, Gate::Answer::kLogIn);
  }
  Redirect(call, call.prefix);
}

void PagesService::Wayback(Call& call) {
  std::optional<WaybackPath> path = ParseWaybackPath(call.target.substr(4));
  if (!path) {
    return SendError(call, 400, "This cannot be asked",
                     "An address here is like /web/20140126200624/http://example.org/");
  }
  if (!call.is_read()) return Submitted(call, *std::move(path));
  const bool has_pages = !files_.empty();
  switch (path->kind) {
    case WaybackPath::Kind::kTimeGate:
      return LeadInTime(call, path->url);
    case WaybackPath::Kind::kCaptures:
      if (has_pages) {
        const std::string year = path->digits.size() < 4 ? "" : "#" + path->digits.substr(0, 4);
        return Redirect(call, fmt::format("{}calendar/{}{}", call.prefix, path->url, year));
      }
      return SendCaptureList(call, *path);
    case WaybackPath::Kind::kPrefix:
    case WaybackPath::Kind::kHosts:
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
  SendError(call, 404, "There is no such page", "The address is none of this server.");
}

}  // namespace stele::access
