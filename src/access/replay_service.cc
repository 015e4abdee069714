#include "access/replay_service.h"

#include <fmt/format.h>

#include "access/pages_service.h"
#include "access/replay.h"
#include "access/requested_url.h"
#include "access/wayback_path.h"

namespace stele::access {
namespace {

constexpr std::string_view kWorker = "sw.js";
// Binds what the worker itself may fetch.
constexpr std::string_view kWorkerPolicy = "default-src 'none'; connect-src 'self'";
constexpr std::string_view kOriginMark = "__APP_ORIGIN__";
// The scope of the worker, and the segment that it puts before names of collections.
constexpr std::string_view kScope = "r/w/";
constexpr std::string_view kFirstArchive = "main";

std::string ShellPolicy(const Origins& origins) {
  return fmt::format(
      "default-src 'none'; script-src 'self'; style-src 'self'; frame-src 'self'; worker-src "
      "'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors {}",
      origins.pages);
}

}  // namespace

void ReplayService::Handle(net::Request& request, net::ResponseWriter& response) {
  const std::optional<Origins> origins = addresses_.Of(request);
  const std::string_view method = request.head().method;
  if (!origins || !IsReplayedMethod(method)) {
    static_cast<void>(response.Reply(origins ? 405 : 421, kPlainType, "Not here.\n"));
    return;
  }
  // No challenge: an archived page could cause it. The shell brings who is let in.
  Gate::Entry entry = gate_.AtReplay(request);
  const bool let_in = entry.answer == Gate::Answer::kIn;
  std::string prefix;
  std::string_view path = request.path();
  const ServedArchive& archive = TakeArchive(archives_, path, prefix);
  const std::string target = TargetOf(path, request.query());
  Call call{
      request,  response,          Sight(archive.Now(), clock_.Now(), std::move(entry.viewer)),
      *origins, std::move(prefix), path,
      target,   Parameters()};
  if (!let_in && call.target.starts_with("web/")) {
    return SendMissing(call, 403, "refused", "Open this from the pages of the archive.");
  }
  Route(call);
}

void ReplayService::Route(Call& call) const {
  if (call.target.starts_with("web/")) {
    std::optional<WaybackPath> path = ParseWaybackPath(call.target.substr(4));
    if (path && path->kind == WaybackPath::Kind::kCapture && path->modifier == "rp_") {
      Result<std::string> url = RequestedUrl(call.request, path->url);
      if (!url) return SendError(call, url.error());
      path->url = *std::move(url);
      return SendForWorker(call, *path);
    }
  } else if (!call.is_read()) {
    return SendError(call, 405, "Not here", "Only what was archived is asked for with a body.");
  } else if (call.target.starts_with(kScope)) {
    return WithoutWorker(call);
  } else if (call.path == "shell") {
    return Shell(call);
  } else if (call.path != "shell.html") {
    return File(call, call.path);
  }
  SendError(call, 404, "There is nothing here", "This server is for the replay of pages only.");
}

void ReplayService::WithoutWorker(Call& call) const {
  std::string_view rest = call.target.substr(kScope.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view name = rest.substr(0, slash);
  rest.remove_prefix(std::min(slash + 1, rest.size()));
  const std::optional<WaybackPath> path = ParseWaybackPath(rest);
  const std::string_view mode = call.Header("Sec-Fetch-Mode");
  const bool known = name == kFirstArchive || archives_.Find(name) != nullptr;
  if (!path || !known || (!mode.empty() && mode != "navigate")) {
    return SendError(call, 404, "There is nothing here", "The replay has not been started.");
  }
  Redirect(call, fmt::format("{}/{}view/{}/{}", call.origins.pages,
                             name == kFirstArchive ? "" : fmt::format("{}/", name), path->digits,
                             path->url));
}

// Whoever comes from our pages brings a ticket, and gets a cookie for what the worker will fetch.
// It is good for this origin only: the pages know no cookies.
void ReplayService::Shell(Call& call) const {
  std::vector<net::HeaderField> fields;
  const Parameters parameters = Parameters::Parse(call.request.query());
  if (const auto ticket = parameters.Get(kTicketParameter)) {
    if (std::optional<std::string> cookie = gate_.CookieFor(*ticket)) {
      if (call.request.secure()) *cookie += "; Secure";
      fields.push_back({"Set-Cookie", *std::move(cookie)});
    }
  }
  File(call, "shell.html", std::move(fields));
}

void ReplayService::File(Call& call, std::string_view path,
                         std::vector<net::HeaderField> fields) const {
  std::optional<StaticFiles::File> file = files_.Read(path);
  if (!file) {
    return SendError(call, 404, "There is nothing here",
                     "This server is for the replay of pages only.");
  }
  if (file->is_html) {
    const std::size_t mark = file->content.find(kOriginMark);
    if (mark != std::string::npos) {
      file->content.replace(mark, kOriginMark.size(), call.origins.pages);
      // What is sent depends on the host that was asked for.
      file->tag.insert(file->tag.size() - 1, EncodeArgument(call.origins.pages));
    }
  }
  SendFile(call, *file, path == kWorker ? std::string(kWorkerPolicy) : ShellPolicy(call.origins),
           std::move(fields));
}

}  // namespace stele::access
