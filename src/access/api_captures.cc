// Answers about captures of one URL, and about single captures.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "access/api_parts.h"
#include "access/capture_content.h"
#include "access/downloads.h"
#include "access/payload_lengths.h"
#include "access/similar_url.h"
#include "access/wayback_path.h"
#include "archive/capture_text.h"
#include "archive/moment.h"
#include "archive/revisit_resolver.h"
#include "formats/html/extract_links.h"
#include "formats/url/url.h"
#include "util/base_encoding.h"
#include "util/digest.h"

namespace stele::access {
namespace {

using catalog::HeldCapture;
using Direction = NearestCaptures::Direction;

constexpr std::uint64_t kCapturesMax = 10'000;
constexpr std::size_t kPageBytesMax = std::size_t{8} << 20;
constexpr std::size_t kMissingShown = 100;
// So many captures are looked at on each side for one with another text.
constexpr int kNeighboursMax = 500;

// The capture that the parameters mean, by id or by URL and time. Nothing after an answer.
std::optional<HeldCapture> Meant(const Call& call) {
  if (const auto text = call.parameters.Get("id")) {
    const std::optional<catalog::CaptureId> id = archive::ParseCaptureId(*text);
    Result<HeldCapture> held = id ? call.sight.view().catalog().Get(*id)
                                  : Error{ErrorCode::kNotFound, "there is no such capture"};
    if (held && call.sight.Shows(KeyOfCapture(held->row), held->row)) return *std::move(held);
    SendNotFound(call, "This capture");
    return std::nullopt;
  }
  const std::optional<std::string> url = UrlOf(call);
  if (!url) return std::nullopt;
  Timestamp at = catalog::kTimeEnd;
  if (const std::string_view text = call.parameters.Get("at").value_or(""); !text.empty()) {
    const auto moments = archive::MomentsOf(text);
    if (!moments) {
      SendError(call, 400, "", "at is no time like 20140126");
      return std::nullopt;
    }
    at = moments->first;
  }
  Result<Nearest> nearest = FindNearest(call.sight, *url, at);
  if (!nearest) {
    SendError(call, nearest.error());
  } else if (nearest->blocked) {
    SendBlocked(call);
  } else if (!nearest->capture) {
    SendNotFound(call, *url);
  } else {
    return nearest->capture;
  }
  return std::nullopt;
}

// The neighbours of a capture on one side.
struct Neighbours {
  std::optional<std::string> next;    // the nearest
  std::optional<std::string> change;  // the nearest whose text is another
};

Result<Neighbours> LookAround(const Sight& sight, const HeldCapture& capture, Direction direction) {
  const bool back = direction == Direction::kBack;
  const std::int64_t at = capture.row.time.milliseconds;
  NearestCaptures captures(sight, KeyOfCapture(capture.row), Timestamp{back ? at - 1 : at + 1},
                           direction);
  Neighbours found;
  for (int i = 0; i < kNeighboursMax; ++i) {
    Result<const HeldCapture*> held = captures.Next();
    if (!held) return held.error();
    if (*held == nullptr) break;
    std::string time = FormatDigits14((*held)->row.time);
    if (!found.next) found.next = time;
    if (!archive::IsThere((*held)->row)) continue;
    Result<archive::ChangeState> state =
        back ? archive::CompareCaptures(sight.view(), **held, capture)
             : archive::CompareCaptures(sight.view(), capture, **held);
    if (!state) return state.error();
    if (*state == archive::ChangeState::kTextChanged) {
      found.change = std::move(time);
      break;
    }
  }
  return found;
}

void WriteOriginal(JsonWriter& json, const Sight& sight, const HeldCapture& capture) {
  json.Name("original");
  if ((capture.row.flags & catalog::kRevisit) == 0) {
    json.Null();
    return;
  }
  const Result<HeldCapture> original = archive::RevisitResolver(sight.view()).Resolve(capture);
  if (!original || !sight.Shows(KeyOfCapture(original->row), original->row)) {
    json.Null();
    return;
  }
  json.BeginObject()
      .Member("id", archive::FormatCaptureId(original->row.id))
      .Member("time", FormatIsoMillis(original->row.time))
      .Member("url", original->row.url)
      .EndObject();
}

Status WriteDetail(JsonWriter& json, const Sight& sight, const HeldCapture& capture) {
  WriteOriginal(json, sight, capture);
  json.Name("headers").BeginArray();
  Result<std::unique_ptr<CaptureContent>> content =
      CaptureContent::Open(sight, capture, [](std::string_view) { return true; });
  if (content) {
    for (const net::HeaderField& field : (*content)->head().fields) {
      json.BeginArray().Text(field.name).Text(field.value).EndArray();
    }
  }
  json.EndArray();
  Result<std::string> title = std::string();
  Result<HeldCapture> payload = capture;
  if ((capture.row.flags & catalog::kRevisit) != 0) {
    payload = archive::RevisitResolver(sight.view()).Resolve(capture);
  }
  if (payload && content) title = archive::TitleOfCapture(sight.view(), payload->row);
  json.Member("title", title ? *title : "");
  const Result<Neighbours> before = LookAround(sight, capture, Direction::kBack);
  if (!before) return before.error();
  const Result<Neighbours> after = LookAround(sight, capture, Direction::kForward);
  if (!after) return after.error();
  json.Optional("previous", before->next).Optional("next", after->next);
  json.Optional("previous_change", before->change).Optional("next_change", after->change);
  archive::CaptureQuery query;
  query.where.what = catalog::SelectKey(KeyOfCapture(capture.row));
  SeenCaptures all(sight, query);
  std::uint64_t count = 0;
  Timestamp first = capture.row.time;
  Timestamp last = capture.row.time;
  for (;; ++count) {
    Result<const HeldCapture*> held = all.Next();
    if (!held) return held.error();
    if (*held == nullptr) break;
    first = std::min(first, (*held)->row.time);
    last = std::max(last, (*held)->row.time);
  }
  json.Member("count", count);
  json.Member("first", FormatDigits14(first)).Member("last", FormatDigits14(last));
  return {};
}

}  // namespace

std::optional<std::string> UrlOf(const Call& call) {
  std::string url = AbsoluteUrl(call.parameters.Get("url").value_or(""));
  if (!url.empty()) return url;
  SendError(call, 400, "", "say which address: url=");
  return std::nullopt;
}

void WriteCapture(JsonWriter& json, const catalog::Capture& row, std::string_view state) {
  json.Member("id", archive::FormatCaptureId(row.id))
      .Member("time", FormatIsoMillis(row.time))
      .Member("timestamp", FormatDigits14(row.time))
      .Member("url", AddressOf(row))
      .Name("status");
  if (row.status == 0) {
    json.Null();
  } else {
    json.Number(row.status);
  }
  std::string digest;
  if (row.sha1) {
    digest = Digest(DigestAlgorithm::kSha1, {row.sha1->data(), row.sha1->size()}).Text();
  }
  json.Member("type", row.type)
      .Member("length", row.length)
      .Member("digest", digest)
      .Member("run", row.run)
      .Member("page", (row.flags & catalog::kPage) != 0)
      .Member("revisit", (row.flags & catalog::kRevisit) != 0)
      .Member("truncated", (row.flags & catalog::kTruncated) != 0);
  if (!state.empty()) json.Member("state", state);
}

void WriteCaptureObject(JsonWriter& json, const catalog::Capture& row, std::string_view state) {
  json.BeginObject();
  WriteCapture(json, row, state);
  json.EndObject();
}

Result<std::string_view> StateTeller::Tell(const HeldCapture& capture) {
  if (!archive::IsThere(capture.row)) return std::string_view("error");
  if ((capture.row.flags & catalog::kRedirect) != 0) return std::string_view("redirect");
  std::string_view name = "first";
  if (last_) {
    Result<archive::ChangeState> state = archive::CompareCaptures(sight_.view(), *last_, capture);
    // Where the record of a revisit cannot be read, its digest says what is known.
    if (!state) {
      name = "text";
    } else {
      name = archive::NameOf(*state);
    }
  }
  last_ = capture;
  return name;
}

void SendCaptures(const Call& call) {
  const std::optional<std::string> url = UrlOf(call);
  if (!url) return;
  Result<archive::CaptureQuery> query = SelectionOf(call.parameters);
  if (!query) return SendError(call, query.error());
  const Result<std::uint64_t> limit = call.parameters.Number("limit", kApiLimit, kCapturesMax);
  if (!limit) return SendError(call, limit.error());
  const std::optional<std::string> resume = HexDecode(call.parameters.Get("resume").value_or(""));
  if (!resume) return SendError(call, 400, "", "resume is none that an answer gave");
  query->where.resume = *resume;
  StateTeller states(call.sight);
  // What comes first here is compared with what was before it.
  SeenCaptures captures(call.sight, *query);
  PayloadLengths lengths(call.sight);
  JsonWriter json;
  json.BeginObject()
      .Member("url", *url)
      .Member("key", KeyOfUrl(*url))
      .Name("captures")
      .BeginArray();
  std::string next;
  bool first = true;
  for (std::uint64_t count = 0;; ++count) {
    std::string position = count == *limit ? captures.Resume() : "";
    Result<const HeldCapture*> held = captures.Next();
    if (!held) return SendError(call, held.error());
    if (*held == nullptr) break;
    if (count == *limit) {
      next = HexEncode(position);
      break;
    }
    if (first) {
      NearestCaptures before(call.sight, KeyOfCapture((*held)->row),
                             Timestamp{(*held)->row.time.milliseconds - 1}, Direction::kBack);
      const Result<const HeldCapture*> earlier = before.Next();
      if (earlier && *earlier != nullptr) static_cast<void>(states.Tell(**earlier));
      first = false;
    }
    const Result<std::string_view> state = states.Tell(**held);
    if (!state) return SendError(call, state.error());
    catalog::Capture row = (*held)->row;
    row.length = lengths.Of(**held);
    WriteCaptureObject(json, row, *state);
  }
  json.EndArray();
  if (!next.empty()) json.Member("resume", next);
  SendJson(call, json.EndObject().Take());
}

void SendCapture(const Call& call) {
  const std::optional<HeldCapture> capture = Meant(call);
  if (!capture) return;
  const archive::Container* container =
      call.sight.view().holdings().Find(capture->row.place.container);
  JsonWriter json;
  json.BeginObject();
  catalog::Capture row = capture->row;
  row.length = PayloadLengths(call.sight).Of(*capture);
  WriteCapture(json, row);
  json.Member("key", KeyOfCapture(capture->row))
      .Member("container", container == nullptr ? "" : std::string_view(container->name))
      .Member("offset", capture->row.place.offset)
      .Member("record_length", capture->row.place.length);
  if (const Status written = WriteDetail(json, call.sight, *capture); !written) {
    return SendError(call, written.error());
  }
  SendJson(call, json.EndObject().Take());
}

void SendTimeline(const Call& call) {
  const std::optional<std::string> url = UrlOf(call);
  if (!url) return;
  const std::string_view by = call.parameters.Get("by").value_or("month");
  const std::size_t size = by == "year" ? 4 : by == "month" ? 7 : by == "day" ? 10 : 0;
  if (size == 0) return SendError(call, 400, "", "by is none of year, month, day");
  archive::CaptureQuery query;
  query.where.what = catalog::SelectUrl(*url);
  SeenCaptures captures(call.sight, query);
  StateTeller states(call.sight);
  struct Period {
    std::string name;
    std::uint64_t captures = 0;
    std::uint64_t changed = 0;
  };
  std::vector<Period> periods;
  for (;;) {
    Result<const HeldCapture*> held = captures.Next();
    if (!held) return SendError(call, held.error());
    if (*held == nullptr) break;
    const Result<std::string_view> state = states.Tell(**held);
    if (!state) return SendError(call, state.error());
    std::string name = FormatIso((*held)->row.time).substr(0, size);
    if (periods.empty() || periods.back().name != name) periods.push_back({std::move(name)});
    ++periods.back().captures;
    if (*state == "text" || *state == "first") ++periods.back().changed;
  }
  JsonWriter json;
  json.BeginObject().Member("url", *url).Name("periods").BeginArray();
  for (const Period& period : periods) {
    json.BeginObject()
        .Member("period", period.name)
        .Member("captures", period.captures)
        .Member("changed", period.changed)
        .EndObject();
  }
  SendJson(call, json.EndArray().EndObject().Take());
}

void SendCoherence(const Call& call) {
  const std::optional<HeldCapture> page = Meant(call);
  if (!page) return;
  Result<std::unique_ptr<CaptureContent>> content =
      CaptureContent::Open(call.sight, *page, [](std::string_view) { return false; });
  if (!content) return SendError(call, content.error());
  Result<std::string> bytes = (*content)->ReadAll(kPageBytesMax);
  if (!bytes) return SendError(call, bytes.error());
  std::vector<std::string> missing;
  std::uint64_t embeds = 0;
  std::optional<Timestamp> earliest;
  std::optional<Timestamp> latest;
  html::ExtractLinks({.url = page->row.url,
                      .content = *bytes,
                      .content_type = (*content)->head().Find("Content-Type")},
                     [&](html::Link&& link) {
                       if (link.hop != html::Hop::kEmbed) return;
                       ++embeds;
                       const Result<Nearest> nearest =
                           FindNearestOrSimilar(call.sight, link.url, page->row.time);
                       if (!nearest || !nearest->capture) {
                         if (missing.size() < kMissingShown) missing.push_back(link.url);
                         return;
                       }
                       const Timestamp time = nearest->capture->row.time;
                       earliest = std::min(earliest.value_or(time), time);
                       latest = std::max(latest.value_or(time), time);
                     });
  const std::int64_t at = page->row.time.milliseconds;
  std::int64_t spread = 0;
  if (earliest) {
    spread = std::max(std::abs(at - earliest->milliseconds), std::abs(latest->milliseconds - at));
  }
  const auto time = [](const std::optional<Timestamp>& moment) {
    return moment ? std::optional(FormatIsoMillis(*moment)) : std::nullopt;
  };
  JsonWriter json;
  json.BeginObject()
      .Member("url", page->row.url)
      .Member("time", FormatIsoMillis(page->row.time))
      .Member("embeds", embeds)
      .Optional("earliest", time(earliest))
      .Optional("latest", time(latest))
      .Member("spread_seconds", spread / 1000)
      .Name("missing")
      .BeginArray();
  for (const std::string& url : missing) json.Text(url);
  SendJson(call, json.EndArray().EndObject().Take());
}

}  // namespace stele::access
