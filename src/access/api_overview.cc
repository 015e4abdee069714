// Answers about the archive as a whole: sites, search, browsing, statistics.
#include <fmt/format.h>

#include <algorithm>

#include "access/api_parts.h"
#include "access/wayback_path.h"
#include "archive/host_tally.h"
#include "archive/moment.h"
#include "util/ascii.h"

namespace stele::access {
namespace {

using catalog::HeldCapture;

constexpr std::size_t kMonthsShown = 120;
constexpr std::size_t kEntriesMax = 100'000;
constexpr std::uint64_t kSearchMax = 100;
constexpr std::uint64_t kOffsetMax = 1'000'000'000;

void WriteSite(JsonWriter& json, const Overview::Site& site) {
  json.BeginObject()
      .Member("host", site.host)
      .Member("url", site.url)
      .Member("first", FormatIsoMillis(site.first))
      .Member("last", FormatIsoMillis(site.last))
      .Member("captures", site.captures)
      .Member("pages", site.pages)
      .Member("bytes", site.bytes)
      .Name("months")
      .BeginArray();
  std::size_t skip = site.months.size() > kMonthsShown ? site.months.size() - kMonthsShown : 0;
  for (const auto& [month, captures] : site.months) {
    if (skip > 0) {
      --skip;
      continue;
    }
    json.BeginObject().Member("period", month).Member("captures", captures).EndObject();
  }
  json.EndArray().EndObject();
}

// What lies below one name.
struct BrowseEntry {
  std::string url;     // of the entry itself
  bool below = false;  // there is more
  std::string last_key;
  std::uint64_t urls = 0;
  std::uint64_t captures = 0;
  std::uint64_t bytes = 0;
  std::optional<Timestamp> first;
  std::optional<Timestamp> last;

  void Add(std::string_view key, const catalog::Capture& row) {
    if (key != last_key) {
      last_key = key;
      ++urls;
    }
    ++captures;
    bytes += row.length;
    first = std::min(first.value_or(row.time), row.time);
    last = std::max(last.value_or(row.time), row.time);
  }
};

void WriteEntry(JsonWriter& json, const std::string& name, const std::string& prefix,
                const BrowseEntry& entry) {
  json.BeginObject()
      .Member("name", name)
      .Member("prefix", prefix)
      .Member("url", entry.url)
      .Member("urls", entry.urls)
      .Member("captures", entry.captures)
      .Member("bytes", entry.bytes)
      .Member("first", FormatIsoMillis(entry.first.value_or(Timestamp())))
      .Member("last", FormatIsoMillis(entry.last.value_or(Timestamp())))
      .EndObject();
}

// The entries that begin with a prefix, by the next part of the path behind its last slash.
Result<std::map<std::string, BrowseEntry>> EntriesBelow(const Call& call,
                                                        const std::string& prefix) {
  const std::string key = archive::PrefixKey(prefix);
  const std::size_t begin = key.rfind('/', key.find('?')) + 1;
  Result<catalog::Selection> what = catalog::SelectPrefix(key);
  if (!what) return what.error();
  archive::CaptureQuery query;
  query.where.what = *std::move(what);
  SeenCaptures captures(call.sight, query);
  std::map<std::string, BrowseEntry> entries;
  for (;;) {
    Result<const HeldCapture*> held = captures.Next();
    if (!held) return held.error();
    if (*held == nullptr) return entries;
    const std::string_view rest = captures.key().substr(begin);
    const std::string_view path = rest.substr(0, rest.find('?'));
    const std::size_t slash = path.find('/');
    const bool below = slash != std::string_view::npos;
    BrowseEntry& entry = entries[std::string(below ? path.substr(0, slash) : rest)];
    entry.Add(captures.key(), (*held)->row);
    if (below) {
      entry.below = true;
    } else {
      entry.url = (*held)->row.url;
    }
    if (entries.size() > kEntriesMax) {
      return Error{ErrorCode::kFull, "There is too much below this address to be listed."};
    }
  }
}

// Whether a host, maybe with a port, is of a domain; of "" all are.
bool IsOf(std::string_view host, std::string_view domain) {
  host = host.substr(0, host.rfind(':'));
  if (!host.ends_with(domain)) return false;
  host.remove_suffix(domain.size());
  return domain.empty() || host.empty() || host.ends_with('.');
}

void SendHosts(const Call& call, const Overview* overview, std::string_view domain,
               std::uint64_t begin, std::uint64_t limit) {
  std::vector<const Overview::Site*> sites;
  if (overview != nullptr) {
    for (const Overview::Site& site : overview->sites) {
      if (IsOf(site.host, domain)) sites.push_back(&site);
    }
  }
  std::sort(sites.begin(), sites.end(),
            [](const auto* a, const auto* b) { return a->host < b->host; });
  JsonWriter json;
  json.BeginObject()
      .Member("prefix", domain.empty() ? "" : fmt::format("*.{}", domain))
      .Name("entries")
      .BeginArray();
  const std::uint64_t end = std::min<std::uint64_t>(sites.size(), begin + limit);
  for (std::uint64_t i = begin; i < end; ++i) {
    const Overview::Site& site = *sites[i];
    BrowseEntry entry;
    entry.captures = site.captures;
    entry.urls = site.urls;
    entry.bytes = site.bytes;
    entry.first = site.first;
    entry.last = site.last;
    WriteEntry(json, site.host, fmt::format("http://{}/", site.host), entry);
  }
  json.EndArray();
  if (end < sites.size()) json.Member("resume", fmt::to_string(end));
  SendJson(call, json.EndObject().Take());
}

bool HasAll(const std::string& text, const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(),
                     [&](const std::string& word) { return text.find(word) != std::string::npos; });
}

}  // namespace

std::uint64_t StoredBytes(const Sight& sight, const Overview* overview) {
  if (sight.has_rules()) return overview == nullptr ? 0 : overview->stored_bytes;
  std::uint64_t bytes = 0;
  for (const auto& [number, container] : sight.view().holdings().containers()) {
    bytes += container.bytes;
  }
  return bytes;
}

void SendSites(const Call& call, const Overview* overview) {
  const Result<std::uint64_t> limit = call.parameters.Number("limit", kApiLimit, kApiLimitMax);
  if (!limit) return SendError(call, limit.error());
  const Result<std::uint64_t> offset = call.parameters.Number("offset", 0, kOffsetMax);
  if (!offset) return SendError(call, offset.error());
  const std::string wanted = AsciiLower(call.parameters.Get("q").value_or(""));
  std::vector<const Overview::Site*> sites;
  if (overview != nullptr) {
    for (const Overview::Site& site : overview->sites) {
      if (site.host.find(wanted) != std::string::npos) sites.push_back(&site);
    }
  }
  const std::string_view sort = call.parameters.Get("sort").value_or("pages");
  if (sort == "name") {
    std::sort(sites.begin(), sites.end(),
              [](const auto* a, const auto* b) { return a->host < b->host; });
  } else if (sort == "last") {
    std::stable_sort(sites.begin(), sites.end(),
                     [](const auto* a, const auto* b) { return a->last > b->last; });
  } else if (sort != "pages") {
    return SendError(call, 400, "", "sort is none of pages, name, last");
  }
  JsonWriter json;
  json.BeginObject().Member("total", sites.size()).Name("sites").BeginArray();
  const std::uint64_t end = std::min<std::uint64_t>(sites.size(), *offset + *limit);
  for (std::uint64_t i = *offset; i < end; ++i) WriteSite(json, *sites[i]);
  SendJson(call, json.EndArray().EndObject().Take());
}

void SendSearch(const Call& call, const Overview* overview) {
  const Result<std::uint64_t> limit = call.parameters.Number("limit", 20, kSearchMax);
  if (!limit) return SendError(call, limit.error());
  const std::string query(call.parameters.Get("q").value_or(""));
  const std::string lower = AsciiLower(query);
  std::vector<std::string> words;
  for (const std::string_view word : Split(lower, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  if (words.empty()) return SendError(call, 400, "", "say what to look for: q=");
  struct Match {
    const Overview::Page* page;
    bool in_title;
  };
  std::vector<Match> matches;
  if (overview != nullptr) {
    for (const Overview::Page& page : overview->page_list) {
      if (!HasAll(page.words, words)) continue;
      matches.push_back({&page, HasAll(AsciiLower(page.title), words)});
    }
  }
  std::stable_sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) {
    return std::pair(!a.in_title, a.page->url.size()) < std::pair(!b.in_title, b.page->url.size());
  });
  JsonWriter json;
  json.BeginObject()
      .Member("q", query)
      .Member("complete", overview != nullptr && overview->titles_complete)
      .Member("total", matches.size())
      .Name("results")
      .BeginArray();
  for (std::size_t i = 0; i < std::min<std::uint64_t>(matches.size(), *limit); ++i) {
    const Overview::Page& page = *matches[i].page;
    json.BeginObject()
        .Member("url", page.url)
        .Member("title", page.title)
        .Member("timestamp", FormatDigits14(page.last))
        .Member("first", FormatIsoMillis(page.first))
        .Member("last", FormatIsoMillis(page.last))
        .Member("captures", page.captures)
        .EndObject();
  }
  SendJson(call, json.EndArray().EndObject().Take());
}

void SendBrowse(const Call& call, const Overview* overview) {
  const Result<std::uint64_t> limit = call.parameters.Number("limit", kApiLimit, kApiLimitMax);
  if (!limit) return SendError(call, limit.error());
  const Result<std::uint64_t> begin = call.parameters.Number("resume", 0, kOffsetMax);
  if (!begin) return SendError(call, begin.error());
  std::string prefix = AbsoluteUrl(call.parameters.Get("prefix").value_or(""));
  const std::string domain = DomainOf(prefix);
  if (prefix.empty() || !domain.empty()) {
    return SendHosts(call, overview, domain, *begin, *limit);
  }
  const std::size_t host = prefix.find("//") + 2;
  if (prefix.find('/', host) == std::string::npos) prefix += '/';
  const std::string folder = prefix.substr(0, prefix.rfind('/', prefix.find('?')) + 1);
  Result<std::map<std::string, BrowseEntry>> entries = EntriesBelow(call, prefix);
  if (!entries) return SendError(call, entries.error());
  JsonWriter json;
  json.BeginObject().Member("prefix", prefix).Name("entries").BeginArray();
  std::uint64_t at = 0;
  for (const auto& [name, entry] : *entries) {
    if (at++ < *begin || at > *begin + *limit) continue;
    WriteEntry(json, name.empty() ? "/" : name,
               entry.below ? fmt::format("{}{}/", folder, name) : "", entry);
  }
  json.EndArray();
  if (at > *begin + *limit) json.Member("resume", fmt::to_string(*begin + *limit));
  SendJson(call, json.EndObject().Take());
}

void SendStatistics(const Call& call, const Overview* overview) {
  static const Overview kNothing;
  const Overview& all = overview == nullptr ? kNothing : *overview;
  JsonWriter json;
  json.BeginObject().Member("complete", overview != nullptr).Name("months").BeginArray();
  for (const auto& [name, month] : all.months) {
    json.BeginObject()
        .Member("month", name)
        .Member("captures", month.all.captures)
        .Member("pages", month.pages)
        .Member("bytes", month.all.bytes)
        .EndObject();
  }
  json.EndArray();
  for (const auto& [list, name, sums] :
       {std::tuple("types", "type", &all.types), std::tuple("statuses", "status", &all.statuses)}) {
    std::vector<std::pair<std::string, archive::CaptureSum>> sorted(sums->begin(), sums->end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return a.second.captures > b.second.captures;
    });
    json.Name(list).BeginArray();
    for (const auto& [value, sum] : sorted) {
      json.BeginObject()
          .Member(name, value)
          .Member("captures", sum.captures)
          .Member("bytes", sum.bytes)
          .EndObject();
    }
    json.EndArray();
  }
  json.Name("duplicates").BeginObject();
  WriteSum(json, "revisits", all.revisits);
  WriteSum(json, "repeated", all.repeated);
  json.EndObject()
      .Member("captures", all.all.captures)
      .Member("pages", all.pages)
      .Member("hosts", all.sites.size())
      .Member("bytes", all.all.bytes)
      .Member("stored_bytes", StoredBytes(call.sight, overview));
  SendJson(call, json.EndObject().Take());
}

}  // namespace stele::access
