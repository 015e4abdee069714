#include "cli/record_selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "archive/moment.h"
#include "formats/cdx/capture_rules.h"
#include "formats/http/media_type.h"
#include "formats/url/surt.h"
#include "util/ascii.h"
#include "util/timestamp.h"

namespace stele::cli {
namespace {

using record::Record;

bool HasPrefix(std::string_view key, std::string_view prefix) {
  // "/a/" is filed under "/a".
  return key.starts_with(prefix) ||
         (prefix.ends_with('/') && key == prefix.substr(0, prefix.size() - 1));
}

bool IsOnHost(std::string_view key, std::string_view host, std::string_view behind) {
  return key.size() > host.size() && key.starts_with(host) &&
         behind.find(key[host.size()]) != std::string_view::npos;
}

template <typename Test>
bool AnyOrNone(const std::vector<std::string>& wanted, const Test& test) {
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), test);
}

bool MatchesDate(const RecordSelection& selection, const Record& record) {
  if (selection.from.empty() && selection.to.empty()) return true;
  if (!record.date) return false;
  const std::string digits = FormatDigits17(*record.date);
  return (selection.from.empty() || digits >= selection.from) &&
         (selection.to.empty() || digits.substr(0, selection.to.size()) <= selection.to);
}

bool MatchesUrl(const RecordSelection& selection, const Record& record) {
  if (selection.url_keys.empty() && selection.prefixes.empty() && selection.hosts.empty() &&
      selection.domains.empty()) {
    return true;
  }
  if (record.target_uri.empty()) return false;
  const std::string key = url::SurtKey(record.target_uri);
  return AnyOrNone(selection.url_keys, [&](const std::string& url) { return key == url; }) &&
         AnyOrNone(selection.prefixes,
                   [&](const std::string& prefix) { return HasPrefix(key, prefix); }) &&
         AnyOrNone(selection.hosts,
                   [&](const std::string& host) { return IsOnHost(key, host, ":)"); }) &&
         AnyOrNone(selection.domains,
                   [&](const std::string& domain) { return IsOnHost(key, domain, ":),"); });
}

bool MatchesHead(const RecordSelection& selection, const Record& record) {
  return AnyOrNone(
             selection.types,
             [&](const std::string& type) { return EqualsIgnoreCase(type, record.type_name); }) &&
         MatchesDate(selection, record) && MatchesUrl(selection, record);
}

bool MatchesBlock(const RecordSelection& selection, const Record& record,
                  const record::PayloadStream& payload) {
  std::optional<std::uint32_t> status;
  std::string_view content_type;
  if (const http::ResponseHead* head = payload.response()) {
    status = static_cast<std::uint32_t>(head->status);
    content_type = head->headers.Find("Content-Type").value_or("");
  } else if (const http::RequestHead* request = payload.request()) {
    content_type = request->headers.Find("Content-Type").value_or("");
  } else if (record::BlockKindOf(record) == record::BlockKind::kOther) {
    content_type = record.content_type;
  }
  const std::string type = http::ParseMediaType(content_type).type;
  return AnyOrNone(selection.mimes,
                   [&](const std::string& mime) { return cdx::MatchesType(mime, type); }) &&
         AnyOrNone(selection.statuses, [&](const std::string& wanted) {
           return status && cdx::MatchesStatus(wanted, *status);
         });
}

}  // namespace

std::vector<Option> WithSelectionOptions(std::vector<Option> options) {
  const std::vector<Option> selection = {
      Repeatable({"--type", "TYPE", "Only records of this type (response, request, ...)"}),
      Repeatable({"--url", "URL", "Only records of this URL, compared as replay tools do"}),
      Repeatable({"--prefix", "URL", "Only URLs that begin so"}),
      Repeatable({"--host", "HOST", "Only URLs on this host"}),
      Repeatable({"--domain", "DOMAIN", "Only URLs on this host and the hosts below it"}),
      Repeatable({"--mime", "TYPE", "Only this media type: text/html, image/*"}),
      Repeatable({"--status", "CODE", "Only this HTTP status: 200, 4xx"}),
      {"--from", "TIME", "Not before: 2014, 20140126200624, 2014-01-26T20:06:24Z"},
      {"--to", "TIME", "Not after; 2014 includes the whole year"},
      {"--invert", "", "The records that are not so"}};
  options.insert(options.end(), selection.begin(), selection.end());
  return options;
}

Result<RecordSelection> SelectionOf(const Arguments& arguments) {
  RecordSelection selection;
  selection.types = arguments.GetAll("--type");
  for (const std::string& url : arguments.GetAll("--url")) {
    selection.url_keys.push_back(url::SurtKey(url));
  }
  for (const std::string& url : arguments.GetAll("--prefix")) {
    selection.prefixes.push_back(archive::PrefixKey(url));
  }
  for (const std::string& host : arguments.GetAll("--host")) {
    selection.hosts.push_back(url::SurtHost(host));
  }
  for (const std::string& domain : arguments.GetAll("--domain")) {
    selection.domains.push_back(url::SurtHost(domain));
  }
  for (const std::string& mime : arguments.GetAll("--mime")) {
    selection.mimes.push_back(AsciiLower(mime));
  }
  selection.statuses = arguments.GetAll("--status");
  for (const std::string& status : selection.statuses) {
    if (!cdx::IsStatusPattern(status)) {
      return Error{ErrorCode::kInvalid, fmt::format("--status {} is not like 404 or 4xx", status)};
    }
  }
  for (const auto& [option, digits] :
       {std::pair("--from", &selection.from), std::pair("--to", &selection.to)}) {
    const std::optional<std::string> text = arguments.Get(option);
    if (!text) continue;
    const std::optional<std::string> moment = archive::MomentDigits(*text);
    if (!moment) {
      return Error{
          ErrorCode::kInvalid,
          fmt::format("{} {} is no time like 20140126 or 2014-01-26T20:06:24Z", option, *text)};
    }
    *digits = *moment;
  }
  selection.invert = arguments.Has("--invert");
  return selection;
}

PeekedBlock::PeekedBlock(record::RecordReader& reader, const Record& record)
    : record_(record), block_(reader, record) {}

Result<const record::PayloadStream*> PeekedBlock::Peek() {
  if (peeked_) return &payload_;
  peeked_ = true;
  seen_is_read_ = false;
  payload_.Begin(record_);
  while (!payload_.head_is_known()) {
    Result<std::string_view> piece = block_.Read();
    if (!piece && piece.error().code != ErrorCode::kCorrupt) return piece.error();
    if (!piece) damage_ = piece.error();
    if (!piece || piece->empty()) {
      payload_.Finish(nullptr);
      break;
    }
    const std::size_t had = seen_.size();
    seen_ += *piece;
    payload_.Feed(std::string_view(seen_).substr(had), nullptr);
  }
  return &payload_;
}

Result<std::string_view> PeekedBlock::Read() {
  if (!seen_is_read_) {
    seen_is_read_ = true;
    if (!seen_.empty()) return std::string_view(seen_);
  }
  if (damage_) return *damage_;
  return block_.Read();
}

Result<bool> Selects(const RecordSelection& selection, const Record& record, PeekedBlock& block) {
  bool matches = MatchesHead(selection, record);
  if (matches && selection.needs_block()) {
    Result<const record::PayloadStream*> payload = block.Peek();
    if (!payload) return payload.error();
    matches = MatchesBlock(selection, record, **payload);
  }
  return matches != selection.invert;
}

}  // namespace stele::cli
