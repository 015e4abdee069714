#include "access/cdx_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "access/wayback_path.h"
#include "archive/moment.h"
#include "formats/url/surt.h"
#include "formats/url/url.h"
#include "util/ascii.h"
#include "util/base_encoding.h"

namespace stele::access {
namespace {

struct FieldNames {
  CdxField field;
  std::string_view pywb;
  std::string_view internet_archive;
  char letter;
};
constexpr FieldNames kFields[kCdxFields] = {
    {CdxField::kKey, "urlkey", "urlkey", 'N'},
    {CdxField::kTimestamp, "timestamp", "timestamp", 'b'},
    {CdxField::kUrl, "url", "original", 'a'},
    {CdxField::kMime, "mime", "mimetype", 'm'},
    {CdxField::kStatus, "status", "statuscode", 's'},
    {CdxField::kDigest, "digest", "digest", 'k'},
    {CdxField::kRedirect, "redirect", "redirect", 'r'},
    {CdxField::kMeta, "robotflags", "robotflags", 'M'},
    {CdxField::kLength, "length", "length", 'S'},
    {CdxField::kOffset, "offset", "offset", 'V'},
    {CdxField::kFilename, "filename", "filename", 'g'},
};

constexpr std::uint64_t kPageBlocks = 5;
constexpr std::uint64_t kNumberMax = 1'000'000'000;

Error Wrong(std::string text) { return Error{ErrorCode::kInvalid, std::move(text)}; }

Result<CdxField> FieldNamed(std::string_view name) {
  const std::optional<CdxField> field = CdxFieldByName(name);
  if (!field) return Wrong(fmt::format("there is no field {}", name.substr(0, 50)));
  return *field;
}

// "*.example.org" and "example.org/news/*" say what to match by themselves; some clients say it
// twice.
Status FillUrl(const Parameters& parameters, CdxQuery& query) {
  std::string url(parameters.Get("url").value_or(""));
  const std::string_view match = parameters.Get("matchType").value_or("");
  if (match == "prefix") {
    query.match = CdxQuery::Match::kPrefix;
  } else if (match == "host") {
    query.match = CdxQuery::Match::kHost;
  } else if (match == "domain") {
    query.match = CdxQuery::Match::kDomain;
  } else if (!match.empty() && match != "exact") {
    return Wrong("matchType is none of exact, prefix, host, domain");
  } else if (match.empty() && url.starts_with("*.")) {
    query.match = CdxQuery::Match::kDomain;
  } else if (match.empty() && url.ends_with('*')) {
    query.match = CdxQuery::Match::kPrefix;
  }
  if (query.match == CdxQuery::Match::kDomain && url.starts_with("*.")) url.erase(0, 2);
  if (query.match == CdxQuery::Match::kPrefix && url.ends_with('*')) url.pop_back();
  query.url = AbsoluteUrl(url);
  return query.url.empty() ? Wrong("say which URL: url=") : Status();
}

Status FillTimes(const Parameters& parameters, CdxQuery& query) {
  for (const std::string_view name : {"from", "to", "closest"}) {
    const std::string_view text = parameters.Get(name).value_or("");
    if (text.empty()) continue;
    const std::optional<archive::Moments> moments = archive::MomentsOf(text);
    if (!moments) return Wrong(fmt::format("{} is no time like 20140126", name));
    if (name == "from") query.from = moments->first;
    if (name == "to") query.to = moments->last;
    if (name == "closest") {
      query.closest = moments->first;
      query.sort = CdxQuery::Sort::kClosest;
    }
  }
  return {};
}

Status FillOrder(const Parameters& parameters, CdxQuery& query) {
  const std::string_view sort = parameters.Get("sort").value_or("");
  if (sort == "reverse") {
    query.sort = CdxQuery::Sort::kReverse;
  } else if (sort == "closest" && query.sort != CdxQuery::Sort::kClosest) {
    return Wrong("sort=closest needs closest=TIME");
  } else if (!sort.empty() && sort != "closest" && sort != "default" && sort != "regular") {
    return Wrong("sort is none of default, reverse, closest");
  }
  if (query.sort != CdxQuery::Sort::kForward && query.match != CdxQuery::Match::kExact) {
    return Wrong(
        "only captures of one URL can be sorted: leave out sort and closest, or matchType");
  }
  std::string_view limit = parameters.Get("limit").value_or("");
  if (limit.starts_with('-')) {
    query.last = true;
    limit.remove_prefix(1);
    if (query.sort != CdxQuery::Sort::kForward)
      return Wrong("limit=-N and sort exclude each other");
  }
  if (!limit.empty()) {
    const std::optional<std::uint64_t> number = ParseDecimal(limit);
    if (!number) return Wrong("limit is no number");
    query.limit = std::min(*number, query.last ? CdxQuery::kLastMax : CdxQuery::kLimitMax);
  }
  const Result<std::uint64_t> offset = parameters.Number("offset", 0, kNumberMax);
  if (!offset) return offset.error();
  query.offset = *offset;
  return {};
}

// "[!][=|~]field:text" in pywb's words, "[!]field:regex" in those of the Internet Archive.
Result<CdxFilter> ParseFilter(std::string_view text, CdxDialect dialect) {
  CdxFilter filter;
  if (text.starts_with('!')) {
    filter.negated = true;
    text.remove_prefix(1);
  }
  if (dialect == CdxDialect::kInternetArchive) {
    filter.kind = CdxFilter::Kind::kRegexWhole;
  } else if (text.starts_with('=')) {
    filter.kind = CdxFilter::Kind::kEquals;
    text.remove_prefix(1);
  } else if (text.starts_with('~')) {
    filter.kind = CdxFilter::Kind::kRegexBegin;
    text.remove_prefix(1);
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return Wrong("a filter is like statuscode:200");
  Result<CdxField> field = FieldNamed(text.substr(0, colon));
  if (!field) return field.error();
  filter.field = *field;
  filter.text = text.substr(colon + 1);
  return filter;
}

Status FillFilters(const Parameters& parameters, CdxQuery& query) {
  for (const std::string_view text : parameters.GetAll("filter")) {
    Result<CdxFilter> filter = ParseFilter(text, query.dialect);
    if (!filter) return filter.error();
    query.filters.push_back(*std::move(filter));
  }
  for (const std::string_view text : parameters.GetAll("collapse")) {
    const std::size_t colon = text.find(':');
    Result<CdxField> field = FieldNamed(text.substr(0, colon));
    if (!field) return field.error();
    CdxCollapse collapse{*field, std::nullopt};
    if (colon != std::string_view::npos) {
      const std::optional<std::uint64_t> size = ParseDecimal(text.substr(colon + 1));
      if (!size) return Wrong("collapse is like timestamp:8");
      collapse.size = *size;
    }
    query.collapses.push_back(collapse);
  }
  if (parameters.Get("collapseTime")) {
    const Result<std::uint64_t> size = parameters.Number("collapseTime", 14, 17);
    if (!size) return size.error();
    query.collapses.push_back({CdxField::kTimestamp, *size});
  }
  return {};
}

Status FillOutput(const Parameters& parameters, CdxQuery& query) {
  std::string_view names = parameters.Get("fl").value_or("");
  if (names.empty()) names = parameters.Get("fields").value_or("");
  if (!names.empty()) {
    for (const std::string_view name : Split(names, ',')) {
      Result<CdxField> field = FieldNamed(TrimSpace(name));
      if (!field) return field.error();
      query.fields.push_back(*field);
      if (query.fields.size() > 100) return Wrong("these are too many fields");
    }
  }
  const bool pywb = query.dialect == CdxDialect::kPywb;
  const std::string_view output = parameters.Get("output").value_or("");
  if (output == "json") {
    query.output = CdxQuery::Output::kJson;
  } else if (output == "cdxj" || (output.empty() && pywb)) {
    query.output = CdxQuery::Output::kCdxj;
  } else if (output == "link") {
    query.output = CdxQuery::Output::kLink;
  } else if (output.empty() || output == "text" || output == "cdx" || output == "csv") {
    query.output = CdxQuery::Output::kText;
  } else {
    return Wrong("output is none of text, json, cdxj, link");
  }
  return {};
}

Status FillPages(const Parameters& parameters, CdxQuery& query) {
  query.show_resume_key = parameters.IsOn("showResumeKey");
  if (const std::string_view resume = parameters.Get("resumeKey").value_or(""); !resume.empty()) {
    std::optional<std::string> key = HexDecode(resume);
    if (!key) return Wrong("resumeKey is none that an answer gave");
    if (query.sort != CdxQuery::Sort::kForward)
      return Wrong("resumeKey and sort exclude each other");
    query.resume = *std::move(key);
  }
  query.show_page_count = parameters.IsOn("showNumPages");
  if (!query.show_page_count && !parameters.Get("page")) return {};
  const Result<std::uint64_t> blocks = parameters.Number("pageSize", kPageBlocks, 50);
  if (!blocks) return blocks.error();
  const Result<std::uint64_t> page = parameters.Number("page", 0, kNumberMax);
  if (!page) return page.error();
  query.page_lines = std::max<std::uint64_t>(*blocks, 1) * CdxQuery::kBlockLines;
  if (query.show_page_count) {
    query.limit = std::numeric_limits<std::uint64_t>::max();
    query.last = false;  // nothing is kept of lines that are only counted
    return {};
  }
  query.offset += *page * query.page_lines;
  query.limit = std::min(query.limit, query.page_lines);
  return {};
}

}  // namespace

std::optional<CdxField> CdxFieldByName(std::string_view name) {
  for (const FieldNames& names : kFields) {
    if (name == names.pywb || name == names.internet_archive) return names.field;
    if (name.size() == 1 && name[0] == names.letter) return names.field;
  }
  return std::nullopt;
}

std::string_view NameOf(CdxField field, CdxDialect dialect) {
  const FieldNames& names = kFields[static_cast<std::size_t>(field)];
  return dialect == CdxDialect::kPywb ? names.pywb : names.internet_archive;
}

std::string_view ValueOf(const cdx::Capture& line, CdxField field) {
  switch (field) {
    case CdxField::kKey:
      return line.key;
    case CdxField::kTimestamp:
      return line.timestamp;
    case CdxField::kUrl:
      return line.url;
    case CdxField::kMime:
      return line.mime;
    case CdxField::kStatus:
      return line.status;
    case CdxField::kDigest:
      return line.digest;
    case CdxField::kRedirect:
      return line.redirect;
    case CdxField::kMeta:
      return line.meta;
    case CdxField::kLength:
      return line.length;
    case CdxField::kOffset:
      return line.offset;
    case CdxField::kFilename:
      return line.filename;
  }
  return "";
}

Result<catalog::Selection> CdxQuery::Selected() const {
  if (match == Match::kExact) return catalog::SelectUrl(url);
  if (match == Match::kPrefix) return catalog::SelectPrefix(archive::PrefixKey(url));
  const Result<url::Url> parsed = url::Parse(url);
  if (!parsed || parsed->host().empty()) return Wrong("url names no host");
  return match == Match::kHost ? catalog::SelectHost(parsed->host())
                               : catalog::SelectDomain(parsed->host());
}

Result<CdxQuery> ParseCdxQuery(const Parameters& parameters, CdxDialect dialect) {
  CdxQuery query;
  query.dialect = dialect;
  using Fill = Status (*)(const Parameters&, CdxQuery&);
  for (const Fill fill : {FillUrl, FillTimes, FillOrder, FillFilters, FillOutput, FillPages}) {
    if (const Status filled = fill(parameters, query); !filled) return filled.error();
  }
  return query;
}

}  // namespace stele::access
