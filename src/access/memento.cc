#include "access/memento.h"

#include <fmt/format.h>

#include <algorithm>

#include "access/rewritten_replay.h"
#include "access/wayback_path.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::access {
namespace {

using catalog::HeldCapture;

// Inside <>: what could end it, or a header, as %XX.
void AppendTarget(std::string& out, std::string_view url) {
  const auto ends_it = [](char c) {
    return c == '<' || c == '>' || c == '"' || c == ' ' || static_cast<unsigned char>(c) < 0x20 ||
           c == 0x7F;
  };
  if (std::none_of(url.begin(), url.end(), ends_it)) {
    out += url;
    return;
  }
  for (const char c : url) {
    if (ends_it(c)) {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
}

std::string LinkTarget(std::string_view url) {
  std::string out;
  AppendTarget(out, url);
  return out;
}

// `web` is what ends with "/web/".
void AppendPath(std::string& out, std::string_view web, const catalog::Capture& row,
                std::string_view modifier) {
  out.append(web).append(FormatDigits14(row.time)).append(modifier);
  out += '/';
  AppendTarget(out, AddressOf(row));
}

std::string Uri(const Call& call, const catalog::Capture& row) {
  std::string uri;
  AppendPath(uri, call.Absolute("web/"), row, "");
  return uri;
}

// The relations of one URL that do not depend on a capture.
std::string CommonLinks(std::string_view web, std::string_view url) {
  const std::string target = LinkTarget(url);
  return fmt::format(
      "<{0}>; rel=\"original\", <{1}{0}>; rel=\"timegate\", <{1}timemap/link/{0}>; "
      "rel=\"timemap\"; type=\"{2}\"",
      target, web, kLinkFormat);
}

// The begin of the second that a moment is in, in milliseconds.
std::int64_t SecondOf(Timestamp time) {
  return time.milliseconds - (time.milliseconds % 1000 + 1000) % 1000;
}

// What a relation is called where one capture is the first, the last, or both.
std::string_view Relation(bool first, bool last) {
  if (first) return last ? "first last memento" : "first memento";
  return last ? "last memento" : "memento";
}

// One page of a TimeMap.
struct TimeMap {
  std::string url;
  std::vector<HeldCapture> mementos;
  std::uint64_t page = 1;
  bool more = false;
  std::string format;

  bool IsFirst(std::size_t i) const { return page == 1 && i == 0; }
  bool IsLast(std::size_t i) const { return !more && i + 1 == mementos.size(); }
  std::string PageUri(const Call& call, std::uint64_t number, std::string_view as) const {
    return call.Absolute(fmt::format("web/timemap/{}{}/{}", as,
                                     number == 1 ? "" : fmt::format("/page{}", number), url));
  }
};

Result<TimeMap> Load(const Call& call, std::string url, std::uint64_t page, std::string format) {
  TimeMap map;
  map.url = std::move(url);
  map.page = page;
  map.format = std::move(format);
  archive::CaptureQuery query;
  query.where.what = catalog::SelectUrl(map.url);
  SeenCaptures captures(call.sight, query);
  std::uint64_t skip = (page - 1) * kTimeMapMementos;
  std::optional<std::int64_t> last;
  for (;;) {
    Result<const HeldCapture*> held = captures.Next();
    if (!held) return held.error();
    if (*held == nullptr) return map;
    // Captures of one second have one address.
    const std::int64_t second = SecondOf((*held)->row.time);
    if (second == last) continue;
    last = second;
    if (skip > 0) {
      --skip;
      continue;
    }
    if (map.mementos.size() == kTimeMapMementos) {
      map.more = true;
      return map;
    }
    map.mementos.push_back(**held);
  }
}

std::string LinkText(const Call& call, const TimeMap& map) {
  const std::string web = call.Absolute("web/");
  std::string out;
  AppendOriginalLinks(out, web, map.url);
  const auto page = [&](std::uint64_t number, std::string_view rel) {
    AppendTimeMapLink(out, map.PageUri(call, number, "link"), rel);
  };
  page(map.page, "self");
  out += fmt::format("; from=\"{}\"; until=\"{}\"", FormatHttpDate(map.mementos.front().row.time),
                     FormatHttpDate(map.mementos.back().row.time));
  if (map.page > 1) {
    out += ",\n";
    page(map.page - 1, "prev timemap");
  }
  if (map.more) {
    out += ",\n";
    page(map.page + 1, "next timemap");
  }
  for (std::size_t i = 0; i < map.mementos.size(); ++i) {
    out += ",\n";
    AppendMementoLink(out, web, map.mementos[i].row, Relation(map.IsFirst(i), map.IsLast(i)));
  }
  return out + "\n";
}

void AppendMemento(std::string& out, const Call& call, const catalog::Capture& row) {
  out += fmt::format("{{\"datetime\": \"{}\", \"uri\": ", FormatIso(row.time));
  AppendJsonString(out, Uri(call, row));
  out += '}';
}

// The names and forms that MemGator gave its TimeMaps.
std::string JsonText(const Call& call, const TimeMap& map) {
  std::string out = "{\"original_uri\": ";
  AppendJsonString(out, map.url);
  out += ", \"self\": ";
  AppendJsonString(out, map.PageUri(call, map.page, "json"));
  out += ", \"timegate_uri\": ";
  AppendJsonString(out, call.Absolute(fmt::format("web/{}", map.url)));
  out += ", \"timemap_uri\": {";
  for (const std::string_view format : {"link", "json", "cdxj"}) {
    out += fmt::format("{}\"{}_format\": ", format == "link" ? "" : ", ", format);
    AppendJsonString(out, map.PageUri(call, 1, format));
  }
  out += "}, \"pages\": {";
  if (map.page > 1) {
    out += "\"prev\": ";
    AppendJsonString(out, map.PageUri(call, map.page - 1, "json"));
  }
  if (map.more) {
    out += map.page > 1 ? ", \"next\": " : "\"next\": ";
    AppendJsonString(out, map.PageUri(call, map.page + 1, "json"));
  }
  out += "}, \"mementos\": {\"list\": [";
  for (std::size_t i = 0; i < map.mementos.size(); ++i) {
    if (i > 0) out += ",\n";
    AppendMemento(out, call, map.mementos[i].row);
  }
  out += ']';
  if (map.page == 1) {
    out += ", \"first\": ";
    AppendMemento(out, call, map.mementos.front().row);
  }
  if (!map.more) {
    out += ", \"last\": ";
    AppendMemento(out, call, map.mementos.back().row);
  }
  return out + "}}\n";
}

std::string CdxjText(const Call& call, const TimeMap& map) {
  std::string out = "!context [\"https://tools.ietf.org/html/rfc7089\"]\n!id {\"uri\": ";
  AppendJsonString(out, map.PageUri(call, map.page, "cdxj"));
  out += "}\n!keys [\"memento_datetime_YYYYMMDDhhmmss\"]\n!meta {\"original_uri\": ";
  AppendJsonString(out, map.url);
  out += ", \"timegate_uri\": ";
  AppendJsonString(out, call.Absolute(fmt::format("web/{}", map.url)));
  if (map.page > 1) {
    out += ", \"prev\": ";
    AppendJsonString(out, map.PageUri(call, map.page - 1, "cdxj"));
  }
  if (map.more) {
    out += ", \"next\": ";
    AppendJsonString(out, map.PageUri(call, map.page + 1, "cdxj"));
  }
  out += "}\n";
  for (std::size_t i = 0; i < map.mementos.size(); ++i) {
    const catalog::Capture& row = map.mementos[i].row;
    out += FormatDigits14(row.time) + " {\"uri\": ";
    AppendJsonString(out, Uri(call, row));
    out += fmt::format(", \"rel\": \"{}\", \"datetime\": \"{}\"}}\n",
                       Relation(map.IsFirst(i), map.IsLast(i)), FormatHttpDate(row.time));
  }
  return out;
}

// "/page2/" before the URL; 1 where there is none.
std::uint64_t TakePage(std::string_view& rest) {
  constexpr std::string_view kPage = "page";
  const std::size_t slash = rest.find('/');
  if (!rest.starts_with(kPage) || slash == std::string_view::npos) return 1;
  const std::optional<std::uint64_t> number =
      ParseDecimal(rest.substr(kPage.size(), slash - kPage.size()));
  if (!number || *number == 0 || *number > 1'000'000) return 1;
  rest.remove_prefix(slash + 1);
  return *number;
}

}  // namespace

std::string MementoPath(const Call& call, const catalog::Capture& row, std::string_view modifier) {
  std::string path;
  AppendPath(path, call.prefix + "web/", row, modifier);
  return path;
}

void AppendOriginalLinks(std::string& out, std::string_view web, std::string_view url) {
  const std::string target = LinkTarget(url);
  out += fmt::format("<{0}>; rel=\"original\",\n<{1}{0}>; rel=\"timegate\",\n", target, web);
}

void AppendTimeMapLink(std::string& out, std::string_view uri, std::string_view rel) {
  out += fmt::format("<{}>; rel=\"{}\"; type=\"{}\"", LinkTarget(uri), rel, kLinkFormat);
}

void AppendMementoLink(std::string& out, std::string_view web, const catalog::Capture& row,
                       std::string_view rel) {
  out += '<';
  AppendPath(out, web, row, "");
  out.append(">; rel=\"").append(rel).append("\"; datetime=\"");
  out.append(FormatHttpDate(row.time)).append("\"");
}

std::vector<net::HeaderField> MementoFields(const Call& call, const catalog::Capture& row) {
  CaptureFinder captures(call.sight, KeyOfCapture(row));
  const std::string web = call.Absolute("web/");
  std::string links = CommonLinks(web, AddressOf(row));
  // Those of one second have one address, so that neighbours are of other seconds.
  const std::int64_t second = SecondOf(row.time);
  using Found = Result<std::optional<HeldCapture>>;
  const Found prev = captures.Before(Timestamp{second - 1});
  const Found next = captures.After(Timestamp{second + 1000});
  const bool has_prev = prev && *prev;
  const bool has_next = next && *next;
  const auto add = [&](const Found& found, std::string_view rel) {
    if (!found || !*found) return;
    links += ", ";
    AppendMementoLink(links, web, (*found)->row, rel);
  };
  if (has_prev) add(captures.After(catalog::kTimeBegin), "first memento");
  add(prev, "prev memento");
  links += ", ";
  AppendMementoLink(links, web, row, Relation(!has_prev, !has_next));
  add(next, "next memento");
  if (has_next) add(captures.Before(catalog::kTimeEnd), "last memento");
  return {{"Memento-Datetime", FormatHttpDate(row.time)}, {"Link", std::move(links)}};
}

void SendTimeMap(const Call& call, std::string_view rest) {
  std::string format = "link";
  for (const std::string_view known : {"link", "json", "cdxj"}) {
    if (!rest.starts_with(known) || rest.substr(known.size(), 1) != "/") continue;
    format = known;
    rest.remove_prefix(known.size() + 1);
    break;
  }
  const std::uint64_t page = TakePage(rest);
  // "*/URL", as pywb also writes it.
  if (rest.starts_with("*/")) rest.remove_prefix(2);
  std::string url = AbsoluteUrl(rest);
  if (url.empty()) {
    return SendError(call, 400, "This cannot be asked", "There is no address behind timemap/.");
  }
  Result<TimeMap> map = Load(call, url, page, format);
  if (!map) return SendError(call, map.error());
  if (map->mementos.empty()) return SendNotFound(call, url);
  if (format == "json") return SendJson(call, JsonText(call, *map));
  if (format == "cdxj") return SendText(call, "application/cdxj+ors", CdxjText(call, *map));
  SendText(call, kLinkFormat, LinkText(call, *map));
}

void SendTimeGate(const Call& call, const std::string& url) {
  Timestamp at = catalog::kTimeEnd;
  if (const std::string_view asked = call.Header("Accept-Datetime"); !asked.empty()) {
    const std::optional<Timestamp> time = ParseHttpDate(asked);
    if (!time) {
      return SendError(call, 400, "This cannot be asked",
                       "Accept-Datetime is no date like: Sun, 26 Jan 2014 20:06:24 GMT");
    }
    at = *time;
  }
  Result<Nearest> nearest = FindNearest(call.sight, url, at);
  if (!nearest) return SendError(call, nearest.error());
  if (nearest->blocked) return SendBlocked(call);
  if (!nearest->capture) return SendNotFound(call, url);
  const catalog::Capture& row = nearest->capture->row;
  if (!call.leads_to_exact) {
    return SendRewritten(
        call, {WaybackPath::Kind::kTimeGate, FormatDigits14(row.time), "", "", AddressOf(row)});
  }
  std::vector<net::HeaderField> fields = MementoFields(call, row);
  // The TimeGate itself is no memento.
  fields.erase(fields.begin());
  fields.push_back({"Vary", "accept-datetime"});
  Redirect(call, MementoPath(call, row), std::move(fields));
}

}  // namespace stele::access
