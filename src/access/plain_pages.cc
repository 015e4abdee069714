#include "access/plain_pages.h"

#include <fmt/format.h>

#include "access/memento.h"
#include "archive/moment.h"

namespace stele::access {
namespace {

using catalog::HeldCapture;

constexpr std::size_t kRowsMax = 1000;

// "2014" and "2010-2014" say which captures are meant; so does nothing at all.
void SetTimes(const WaybackPath& path, catalog::LocationQuery& query) {
  const auto moments = archive::MomentsOf(path.digits);
  const auto until = archive::MomentsOf(path.until);
  if (moments) query.from = moments->first;
  if (until) {
    query.to = until->last;
  } else if (moments) {
    query.to = moments->last;
  }
}

std::string Row(const Call& call, const catalog::Capture& row) {
  return fmt::format(
      "<tr><td><a href=\"{}\">{}</a></td><td>{}</td><td>{}</td><td>{}</td><td><a "
      "href=\"{}\">raw</a></td></tr>",
      EscapeHtml(MementoPath(call, row)), FormatIso(row.time),
      row.status == 0 ? "-" : fmt::to_string(row.status), EscapeHtml(row.type), row.length,
      EscapeHtml(MementoPath(call, row, "id_")));
}

}  // namespace

void SendHome(const Call& call, std::string_view software) {
  const archive::ArchiveConfig& config = call.sight.view().layout().config();
  const archive::Holdings& holdings = call.sight.view().holdings();
  std::string body;
  for (const std::string& text : {config.description, config.creator, config.rights}) {
    if (!text.empty()) body += fmt::format("<p>{}</p>", EscapeHtml(text));
  }
  body += fmt::format(
      "<form action=\"{}find\"><label>Address <input name=\"url\" size=\"50\"></label> "
      "<button>Show captures</button></form><p>{} runs brought what is here.</p><p>The pages of "
      "this archive are not installed; these are plain ones. {}</p><p><a "
      "href=\"{}api/v1/\">For programs</a></p>",
      EscapeHtml(call.prefix), holdings.runs().size(), EscapeHtml(software),
      EscapeHtml(call.prefix));
  SendText(call, kHtmlType, PlainPage(config.title.empty() ? "Archive" : config.title, body));
}

void SendCaptureList(const Call& call, const WaybackPath& path) {
  archive::CaptureQuery query;
  query.where.what = catalog::SelectUrl(path.url);
  SetTimes(path, query.where);
  SeenCaptures captures(call.sight, query);
  std::string rows;
  std::size_t count = 0;
  for (; count <= kRowsMax; ++count) {
    Result<const HeldCapture*> held = captures.Next();
    if (!held) return SendError(call, held.error());
    if (*held == nullptr) break;
    if (count < kRowsMax) rows += Row(call, (*held)->row);
  }
  if (count == 0) return SendNotFound(call, path.url);
  const std::string more =
      count > kRowsMax ? "<p>There are more; name a year, as in /web/2014*/ADDRESS.</p>" : "";
  SendText(call, kHtmlType,
           PlainPage(path.url, fmt::format("<table><tr><th>Captured</th><th>Status</th><th>Type"
                                           "</th><th>Bytes</th><th></th></tr>{}</table>{}",
                                           rows, more)));
}

void SendUrlList(const Call& call, const WaybackPath& path) {
  const bool hosts = path.kind == WaybackPath::Kind::kHosts;
  Result<catalog::Selection> what = hosts ? catalog::SelectDomain(DomainOf(path.url))
                                          : catalog::SelectPrefix(archive::PrefixKey(path.url));
  if (!what) return SendError(call, what.error());
  archive::CaptureQuery query;
  query.where.what = *std::move(what);
  SetTimes(path, query.where);
  SeenCaptures captures(call.sight, query);
  std::string items;
  std::string last;
  std::size_t count = 0;
  while (count <= kRowsMax) {
    Result<const HeldCapture*> held = captures.Next();
    if (!held) return SendError(call, held.error());
    if (*held == nullptr) break;
    if (captures.key() == last) continue;
    last = captures.key();
    if (++count > kRowsMax) break;
    const std::string url = EscapeHtml((*held)->row.url);
    items +=
        fmt::format("<li><a href=\"{}web/*/{}\">{}</a></li>", EscapeHtml(call.prefix), url, url);
  }
  const std::string asked = hosts ? path.url : path.url + "*";
  if (count == 0) return SendNotFound(call, asked);
  SendText(call, kHtmlType,
           PlainPage(asked, fmt::format("<ul>{}</ul>{}", items,
                                        count > kRowsMax ? "<p>There are more.</p>" : "")));
}

}  // namespace stele::access
