#include "access/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "access/memento.h"
#include "access/redirect_chain.h"
#include "access/similar_url.h"
#include "archive/holdings.h"
#include "formats/html/charset.h"
#include "formats/http/accept_encoding.h"
#include "formats/http/media_type.h"
#include "io/part_source.h"
#include "net/byte_range.h"
#include "util/ascii.h"

namespace stele::access {
namespace {

using catalog::HeldCapture;

constexpr int kCandidatesMax = 16;
constexpr std::string_view kSandbox = "sandbox; default-src 'none'";
// Longer pages are not looked at for the character set that they do not name.
constexpr std::size_t kGuessedBytesMax = std::size_t{8} << 20;

// Digits of a whole second mean any moment of it, so that no neighbour is nearer.
std::int64_t SpanOf(std::string_view digits) { return digits.size() == 14 ? 999 : 0; }

bool IsMarked(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view one) { return EqualsIgnoreCase(name, one); });
}

// Headers that only describe the content.
bool IsHarmless(std::string_view name) {
  return IsMarked(name, {"Content-Type", "Content-Language", "Content-Disposition"});
}

// Headers of the site's own making, which its scripts may read. Those that a browser, the worker or
// a proxy before us understands are not: with one of the last, a page could have any file sent.
bool IsOwnHeader(std::string_view name) {
  if (!StartsWithIgnoreCase(name, "X-")) return false;
  constexpr std::string_view kUnderstood[] = {
      "orig",    "redirect",  "proxy",    "wabac",     "archive", "frame",
      "content", "dns",       "xss",      "ua",        "accel",   "sourcemap",
      "send",    "permitted", "lighttpd", "litespeed", "reproxy"};
  return std::none_of(std::begin(kUnderstood), std::end(kUnderstood), [&](std::string_view word) {
    return StartsWithIgnoreCase(name.substr(2), word);
  });
}

std::string EntityTag(const Replayed& replayed) {
  return fmt::format("\"{}{}\"", archive::FormatCaptureId(replayed.capture.row.id),
                     replayed.content->coding().empty() ? "" : "-" + replayed.content->coding());
}

Error InCircles(const HeldCapture& capture) {
  return Error{ErrorCode::kNotFound, fmt::format("The capture of {} from {} leads in a circle.",
                                                 capture.row.url, FormatIso(capture.row.time))};
}

// The nearest under `key`; `asked` is the key of what was asked for.
Result<std::optional<Replayed>> FindUnder(const Sight& sight, const std::string& key,
                                          std::string_view asked, std::string_view digits,
                                          const CaptureContent::KeepsCoding& keeps, bool& blocked) {
  NearestCaptures nearest(sight, key, MomentOf(digits), NearestCaptures::Direction::kBoth,
                          SpanOf(digits));
  std::optional<Error> unresolved;
  std::optional<Replayed> circular;  // where there is nothing better
  for (int i = 0; i < kCandidatesMax; ++i) {
    Result<const HeldCapture*> found = nearest.Next();
    if (!found) return found.error();
    if (*found == nullptr) break;
    Result<std::unique_ptr<CaptureContent>> content = CaptureContent::Open(sight, **found, keeps);
    if (!content) {
      // A revisit of what is not here: another capture may do.
      if (content.error().code != ErrorCode::kNotFound) return content.error();
      if (!unresolved) unresolved = content.error();
      continue;
    }
    Replayed replayed{**found, *std::move(content), "", false};
    replayed.location = LocationOf(replayed.capture, replayed.content->head());
    const std::string target = replayed.is_redirect() ? KeyOfUrl(replayed.location) : "";
    if (replayed.is_redirect() && (target == key || target == asked)) continue;
    if (replayed.is_redirect()) {
      const Way way = FollowRedirect(sight, key, {replayed.location, replayed.capture.row.time});
      if (way == Way::kNowhere && !unresolved) unresolved = InCircles(replayed.capture);
      if (way == Way::kCircle && !circular) circular = std::move(replayed);
      if (way != Way::kOn) continue;
    }
    return std::optional(std::move(replayed));
  }
  if (circular) return circular;
  blocked = nearest.met_blocked();
  if (unresolved) return *unresolved;
  return std::optional<Replayed>();
}

Status Reopen(const Call& call, Replayed& replayed) {
  Result<std::unique_ptr<CaptureContent>> again =
      CaptureContent::Open(call.sight, replayed.capture, [](std::string_view) { return false; });
  if (!again) return again.error();
  replayed.content = *std::move(again);
  return {};
}

// How long a content is after its coding was taken off, which is only known at its end: it is read
// once for that, and opened anew.
Status CountContent(const Call& call, Replayed& replayed, std::optional<std::uint64_t>& length) {
  std::string piece(64 << 10, '\0');
  std::uint64_t count = 0;
  for (;;) {
    const Result<std::size_t> size = replayed.content->Read(piece);
    if (!size) return size.error();
    if (*size == 0) break;
    count += *size;
  }
  length = count;
  return Reopen(call, replayed);
}

bool NamesNoCharset(std::string_view content_type) {
  const http::MediaType type = http::ParseMediaType(content_type);
  return type.type == "text/html" && type.charset.empty();
}

// The worker takes a page for UTF-8 that does not say what it is in, where a browser would guess:
// so it is told. False: the page is too long to be looked at, and nothing was sent.
Result<bool> SendWithCharset(const Call& call, net::ResponseStart& start, Replayed& replayed) {
  if (replayed.content->length().value_or(0) > kGuessedBytesMax) return false;
  const Result<std::string> page = replayed.content->ReadAll(kGuessedBytesMax);
  if (!page && page.error().code != ErrorCode::kFull) return page.error();
  if (!page) {
    if (const Status opened = Reopen(call, replayed); !opened) return opened.error();
    return false;
  }
  const html::EncodingChoice choice = html::ChooseEncoding(*page, "");
  const bool guessed = choice.source == html::EncodingSource::kDetected ||
                       choice.source == html::EncodingSource::kDefault;
  for (net::HeaderField& field : start.fields) {
    if (!guessed || !EqualsIgnoreCase(field.name, "Content-Type")) continue;
    field.value = fmt::format("text/html; charset={}", html::EncodingName(choice.encoding));
  }
  static_cast<void>(call.response.Reply(start, *page));
  return true;
}

// Cookies that the page's scripts could see.
std::string PresetCookies(const ArchivedHead& head) {
  std::string cookies;
  for (const net::HeaderField& field : head.fields) {
    if (!EqualsIgnoreCase(field.name, "Set-Cookie")) continue;
    if (AsciiLower(field.value).find("httponly") != std::string::npos) continue;
    if (!cookies.empty()) cookies += ',';
    cookies += field.value.substr(0, field.value.find(';'));
  }
  return cookies;
}

// What the worker rewrites: a part of it would be a part of other bytes.
bool IsRewritten(std::string_view content_type) {
  const std::string type = http::ParseMediaType(content_type).type;
  for (const std::string_view part :
       {"html", "css", "javascript", "ecmascript", "json", "xml", "mpegurl", "dash"}) {
    if (type.find(part) != std::string::npos) return true;
  }
  return false;
}

// Whether the address of the path is the capture's own.
bool IsItsOwn(const WaybackPath& path, const Replayed& replayed) {
  return NamesExactly(path, replayed.capture.row) && !replayed.is_similar;
}

// To the worker: why there is no capture.
void SendFailed(const Call& call, const Error& error) {
  if (error.code == ErrorCode::kNotFound) return SendMissing(call, 404, "missing", error.text);
  if (error.code == ErrorCode::kBusy) return SendMissing(call, 503, "away", error.text);
  SendMissing(call, 502, "damaged", error.text);
}

// Whether If-Range, where there is one, names what is sent now.
bool IsWanted(const Call& call, const net::ResponseStart& start) {
  const std::string_view wanted = call.Header("If-Range");
  return wanted.empty() ||
         std::any_of(start.fields.begin(), start.fields.end(), [&](const auto& field) {
           return field.name == "ETag" && field.value == wanted;
         });
}

}  // namespace

Result<std::optional<Replayed>> FindReplayed(const Sight& sight, const WaybackPath& path,
                                             const CaptureContent::KeepsCoding& keeps,
                                             bool& blocked) {
  const std::string key = KeyOfUrl(path.url);
  Result<std::optional<Replayed>> found = FindUnder(sight, key, key, path.digits, keeps, blocked);
  if (!found || *found || blocked) return found;
  const Result<std::optional<std::string>> similar =
      FindSimilarKey(sight, key, MomentOf(path.digits));
  if (!similar) return similar.error();
  if (!*similar) return found;
  found = FindUnder(sight, **similar, key, path.digits, keeps, blocked);
  if (found && *found) (*found)->is_similar = true;
  return found;
}

bool NamesExactly(const WaybackPath& path, const catalog::Capture& row) {
  return path.digits.size() >= 14 && FormatDigits17(row.time).starts_with(path.digits);
}

std::optional<std::string> LeadsTo(const Call& call, const WaybackPath& path,
                                   const Replayed& replayed) {
  if (!call.leads_to_exact || IsItsOwn(path, replayed)) return std::nullopt;
  return MementoPath(call, replayed.capture.row, path.modifier);
}

std::vector<net::HeaderField> CaptureFields(const Call& call, const WaybackPath& path,
                                            const Replayed& replayed) {
  const catalog::Capture& row = replayed.capture.row;
  std::vector<net::HeaderField> fields = MementoFields(call, row);
  const bool is_gate = path.kind == WaybackPath::Kind::kTimeGate;
  if (is_gate || (!call.leads_to_exact && !IsItsOwn(path, replayed))) {
    fields.push_back({"Content-Location", MementoPath(call, row, path.modifier)});
  }
  if (is_gate) fields.push_back({"Vary", "accept-datetime"});
  return fields;
}

int WireStatus(int archived) {
  // Not modified, partial and informational ones would be understood as ours.
  if (archived < 200 || archived > 599 || archived == 206 || archived == 304) return 200;
  return archived;
}

void SendContent(const Call& call, net::ResponseStart start, Replayed replayed, bool ranges) {
  const std::string_view range = ranges && IsWanted(call, start) ? call.Header("Range") : "";
  if (!range.empty() && start.status == 200 && !replayed.content->length()) {
    if (const Status counted = CountContent(call, replayed, start.length); !counted) {
      return SendError(call, counted.error());
    }
  } else {
    start.length = replayed.content->length();
  }
  if (ranges) start.fields.push_back({"Accept-Ranges", "bytes"});
  std::unique_ptr<io::Source> body = std::move(replayed.content);
  if (!range.empty() && start.status == 200) {
    net::ByteRange part;
    const std::uint64_t size = *start.length;
    const net::RangeOutcome outcome = net::ParseRange(range, size, part);
    if (outcome == net::RangeOutcome::kUnsatisfiable) {
      start.status = 416;
      start.length.reset();
      start.fields.push_back({"Content-Range", fmt::format("bytes */{}", size)});
      static_cast<void>(call.response.Reply(start, ""));
      return;
    }
    if (outcome == net::RangeOutcome::kPart) {
      start.status = 206;
      start.length = part.end - part.begin;
      start.fields.push_back(
          {"Content-Range", fmt::format("bytes {}-{}/{}", part.begin, part.end - 1, size)});
      body = std::make_unique<io::PartSource>(std::move(body), part.begin, *start.length);
    }
  }
  static_cast<void>(call.response.SendFrom(start, std::move(body)));
}

void SendMissing(const Call& call, int status, std::string_view mark, std::string_view text) {
  net::ResponseStart start;
  start.status = status;
  start.fields = {{"Content-Type", std::string(kHtmlType)},
                  {"Cache-Control", "no-store"},
                  {"Content-Security-Policy", std::string(kSandbox)}};
  if (status == 503) start.fields.push_back({"Retry-After", std::string(kRetryAfter)});
  const std::string page = fmt::format(
      "<!doctype html><html lang=\"en\" data-archive=\"{}\"><head><meta "
      "charset=\"utf-8\"><title>{}</title></head><body><p>{}</p></body></html>\n",
      mark, mark == "missing" ? "Not archived" : "Not shown", EscapeHtml(text));
  static_cast<void>(call.response.Reply(start, page));
}

void SendIdentity(const Call& call, const WaybackPath& path) {
  const http::Headers& headers = call.request.head().headers;
  bool blocked = false;
  Result<std::optional<Replayed>> found = FindReplayed(
      call.sight, path,
      [&](std::string_view coding) { return http::AcceptsCoding(headers, coding); }, blocked);
  if (!found) return SendError(call, found.error());
  if (!*found) return blocked ? SendBlocked(call) : SendNotFound(call, path.url);
  Replayed& replayed = **found;
  const catalog::Capture& row = replayed.capture.row;
  if (const std::optional<std::string> exact = LeadsTo(call, path, replayed)) {
    return Redirect(call, *exact, {{"Vary", "accept-datetime"}});
  }
  if (!replayed.content->may_be_taken()) return SendKept(call);
  const ArchivedHead& head = replayed.content->head();
  net::ResponseStart start;
  start.status = WireStatus(head.status);
  start.fields = CaptureFields(call, path, replayed);
  const std::string tag = EntityTag(replayed);
  start.fields.push_back({"Cache-Control", "no-cache"});
  start.fields.push_back({"Content-Security-Policy", std::string(kSandbox)});
  start.fields.push_back({"Vary", "Accept-Encoding"});
  start.fields.push_back({"ETag", tag});
  for (const net::HeaderField& field : head.fields) {
    if (IsHarmless(field.name)) start.fields.push_back(field);
    start.fields.push_back({"X-Archive-Orig-" + field.name, field.value});
  }
  if (!replayed.content->coding().empty()) {
    start.fields.push_back({"Content-Encoding", replayed.content->coding()});
  }
  if (replayed.is_redirect()) {
    start.fields.push_back(
        {"Location", fmt::format("{}web/{}id_/{}", call.prefix, FormatDigits14(row.time),
                                 CleanValue(replayed.location))});
  } else if (start.status >= 300 && start.status < 400) {
    start.status = 200;  // it leads nowhere
  }
  if (start.status == 200 && NamesTag(call.Header("If-None-Match"), tag)) {
    start.status = 304;
    static_cast<void>(call.response.Reply(start, ""));
    return;
  }
  SendContent(call, std::move(start), std::move(replayed), true);
}

void SendForWorker(const Call& call, const WaybackPath& path) {
  const std::string_view destination = call.Header("Sec-Fetch-Dest");
  if (!call.Header("Service-Worker").empty() || (!destination.empty() && destination != "empty")) {
    return SendMissing(call, 403, "refused", "This address is for the replay of pages only.");
  }
  bool blocked = false;
  Result<std::optional<Replayed>> found = FindReplayed(
      call.sight, path, [](std::string_view) { return false; }, blocked);
  if (!found) return SendFailed(call, found.error());
  if (!*found) {
    return SendMissing(call, blocked ? 451 : 404, blocked ? "blocked" : "missing", path.url);
  }
  Replayed& replayed = **found;
  const catalog::Capture& row = replayed.capture.row;
  const ArchivedHead& head = replayed.content->head();
  const std::string exact = FormatDigits14(row.time);
  net::ResponseStart start;
  start.fields = {{"Memento-Datetime", FormatHttpDate(row.time)},
                  {"Cache-Control", "no-store"},
                  {"Content-Security-Policy", std::string(kSandbox)}};
  for (const net::HeaderField& field : head.fields) {
    if (IsHarmless(field.name) || IsOwnHeader(field.name)) start.fields.push_back(field);
  }
  if (std::string cookies = PresetCookies(head); !cookies.empty()) {
    start.fields.push_back({"X-Proxy-Set-Cookie", std::move(cookies)});
  }
  const auto say = [&](int status, const std::string& reason) {
    start.fields.push_back({"X-Redirect-Status", fmt::to_string(status)});
    start.fields.push_back({"X-Redirect-StatusText", reason});
  };
  const auto lead = [&](const std::string& url) {
    start.fields.push_back({"X-Orig-Location", CleanValue(url)});
    start.fields.push_back({"X-Orig-Ts", exact});
    static_cast<void>(call.response.Reply(start, ""));
  };
  if (replayed.is_redirect()) {
    say(head.status, head.reason);
    return lead(replayed.location);
  }
  const bool is_document = call.Header("Accept").find("text/html") != std::string_view::npos;
  const bool elsewhere = replayed.is_similar || !call.is_read();
  if (is_document && (path.digits != exact || elsewhere)) {
    // A document is pinned to its capture, so that all it embeds is asked for at its time.
    say(call.is_read() ? 307 : 303, "Closest");
    return lead(elsewhere ? AddressOf(row) : path.url);
  }
  const int status = WireStatus(head.status);
  if (status != 200) say(status, head.reason);
  if (NamesNoCharset(head.Find("Content-Type"))) {
    const Result<bool> sent = SendWithCharset(call, start, replayed);
    if (!sent) return SendFailed(call, sent.error());
    if (*sent) return;
  }
  const bool ranges = status == 200 && !IsRewritten(replayed.content->head().Find("Content-Type"));
  SendContent(call, std::move(start), std::move(replayed), ranges);
}

}  // namespace stele::access
