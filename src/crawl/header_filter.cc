// Only captures of this archive are compared with: of others nobody knows the links, nor whether
// what they have fits to the headers that came now.
#include "crawl/header_filter.h"

#include <algorithm>
#include <array>

#include "formats/http/media_type.h"
#include "util/ascii.h"

namespace stele::crawl {
namespace {

using dedup::HeaderScheme;
using dedup::KnownDocument;

constexpr int kOk = 200;

std::string TypeOf(const http::ResponseHead& head) {
  return http::ParseMediaType(head.headers.Find("Content-Type").value_or("")).type;
}

// What came cannot be the payload that the archive has, whatever else its headers say; or replay
// tools could not show that with these headers.
bool Contradicts(const http::ResponseHead& head, const KnownDocument& known) {
  if (!EqualsIgnoreCase(head.headers.Find("Content-Encoding").value_or(""), known.coding)) {
    return true;
  }
  const std::optional<std::string_view> text = head.headers.Find("Content-Length");
  const std::optional<std::uint64_t> length = text ? ParseDecimal(TrimSpace(*text)) : std::nullopt;
  return length && *length != known.length;
}

}  // namespace

bool HeaderFilter::IsText(std::string_view type) {
  constexpr std::array<std::string_view, 7> kLinked = {
      "xml", "json", "javascript", "ecmascript", "mpegurl", "pdf", "html"};
  const std::string lower = AsciiLower(type);
  return lower.starts_with("text/") || std::any_of(kLinked.begin(), kLinked.end(), [&](auto word) {
           return lower.find(word) != std::string::npos;
         });
}

void HeaderFilter::AskForChanges(Visit& visit, net::FetchRequest& request) const {
  const KnownDocument& known = *visit.known;
  const bool has_etag = !known.etag.empty();
  const bool has_time = !known.last_modified.empty();
  const HeaderScheme scheme = *settings_.headers;
  if (scheme == HeaderScheme::kTimestampAndEtag && !(has_etag && has_time)) return;
  if (scheme != HeaderScheme::kTimestamp && has_etag) {
    request.fields.push_back({"If-None-Match", known.etag});
    visit.asked_for_changes = true;
  }
  if (scheme != HeaderScheme::kEtag && has_time) {
    request.fields.push_back({"If-Modified-Since", known.last_modified});
    visit.asked_for_changes = true;
  }
}

Status HeaderFilter::Arrange(const VisitPointer& visit, net::FetchRequest& request) const {
  Result<std::optional<KnownDocument>> known = duplicates_.Known(visit->candidate.url);
  if (!known) return known.error();
  if (!*known) return {};
  const bool is_whole =
      (*known)->capture && (*known)->status == kOk && (*known)->length > 0 && (*known)->digest.sha1;
  if (!is_whole) return {};
  const bool is_text = IsText((*known)->type);
  if (is_text && !settings_.headers_text) return {};
  visit->known = *std::move(known);
  if (!settings_.abort) {
    AskForChanges(*visit, request);
    return {};
  }
  request.on_head = [visit, scheme = *settings_.headers,
                     text_too = settings_.headers_text](const http::ResponseHead& head) {
    const dedup::SentHeaders sent{head.headers.Find("Last-Modified").value_or(""),
                                  head.headers.Find("ETag").value_or("")};
    const bool may_end = head.status == kOk && (text_too || !IsText(TypeOf(head))) &&
                         !Contradicts(head, *visit->known) &&
                         dedup::MayBeLeftOut(scheme, sent, visit->known->seen, visit->known->etag);
    return may_end ? net::HeadVerdict::kAbort : net::HeadVerdict::kGoOn;
  };
  return {};
}

}  // namespace stele::crawl
