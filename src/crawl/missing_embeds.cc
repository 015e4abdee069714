#include "crawl/missing_embeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "archive/capture_query.h"
#include "archive/changes.h"
#include "crawl/candidate.h"
#include "crawl/redirect_status.h"
#include "crawl/run_log.h"
#include "util/ascii.h"
#include "util/checksum.h"

namespace stele::crawl {
namespace {

using Why = MissingEmbed::Why;

bool IsEmbed(std::string_view hops) {
  Candidate candidate;
  candidate.hops = hops;
  return !candidate.is_page() && !candidate.is_inferred() && hops != "P" && hops != "-";
}

// What only looked like a URL, and the web says that it is none.
bool IsWrongGuess(std::string_view hops, int status) {
  const bool is_there = status == 401 || status == 403 || status == 429;
  return hops.ends_with('X') && (status == -1 || (status >= 400 && status < 500 && !is_there));
}

struct Reason {
  Why why = Why::kError;
  std::string reason;
  std::string remedy;
};

constexpr std::string_view kPatchLater = "stele crawl --patch, later";

Reason ReasonOf(int status) {
  switch (status) {
    case kRobotsPrecluded:
      return {Why::kRobots, "robots.txt forbids it",
              "stele crawl --patch --robots embeds fetches what pages need"};
    case -1:
      return {Why::kError, "its host has no address", "nothing, if the host is gone"};
    case -2:
      return {Why::kError, "its host could not be reached", std::string(kPatchLater)};
    case -3:
      return {Why::kError, "the connection was lost", std::string(kPatchLater)};
    case -4:
      return {Why::kError, "its host was too slow", std::string(kPatchLater)};
    case -5001:
      return {Why::kScope, "its address is not public",
              "make its host a seed, if you trust the page"};
    default:
      break;
  }
  if (status >= 400) {
    const bool may_pass = status >= 500 || status == 429;
    return {Why::kError, fmt::format("the server answered {}", status),
            may_pass ? std::string(kPatchLater) : "nothing, if it is gone"};
  }
  return {Why::kError, fmt::format("it could not be fetched ({})", status),
          std::string(kPatchLater)};
}

// Empty where the annotation does not say that something was cut.
Reason CutBy(std::string_view annotation) {
  if (annotation == "lenTrunc") {
    return {Why::kLimit, "it was cut: it is too long",
            "stele crawl --patch with a larger --max-file-size"};
  }
  if (annotation == "timeTrunc") {
    return {Why::kLimit, "it was cut: it took too long", std::string(kPatchLater)};
  }
  if (annotation == "disconnectTrunc") {
    return {Why::kError, "it was cut: the connection was lost", std::string(kPatchLater)};
  }
  return {};
}

// "limit pages" is what was still to be fetched when a crawl ended.
constexpr std::string_view kLimitWord = "limit ";

Reason ReasonOf(std::string_view scope) {
  if (scope == "host-limit") {
    return {Why::kLimit, "its host had as many URLs as it may", "stele crawl --patch"};
  }
  if (scope.starts_with(kLimitWord)) {
    return {Why::kLimit,
            fmt::format("the limit of {} was reached", scope.substr(kLimitWord.size())),
            "stele crawl --patch"};
  }
  if (scope == "redirects") {
    return {Why::kError, "it is redirected again and again", "nothing, if it stays so"};
  }
  // Rules do not lead into traps; seeds do.
  const bool is_trap = scope.starts_with("trap");
  return {Why::kScope, fmt::format("it is outside of the crawl ({})", scope),
          is_trap ? "name it as a seed, if it is no trap"
                  : "stele crawl --patch with --include for it"};
}

Reason InACircle() {
  return {Why::kError, "it is redirected in a circle", "nothing, if it stays so"};
}

bool Failed(int status) { return status < 0 || status >= 400; }

// The annotation that says that it was cut; empty: it was not.
std::string_view CutIn(const crawl_log::Line& line) {
  for (const std::string_view note : line.AnnotationList()) {
    if (!CutBy(note).reason.empty()) return note;
  }
  return {};
}

MissingEmbed MissingAs(const ScopeLine& line, const Reason& reason) {
  return {std::string(line.url), std::string(line.via), std::string(line.hops), reason.why,
          reason.reason,         reason.remedy};
}

std::uint64_t KeyOf(std::string_view url) { return ChecksumOf(SeenKey(url)); }

}  // namespace

std::string_view NameOf(Why why) {
  constexpr std::array<std::string_view, 4> kNames = {"robots", "scope", "error", "limit"};
  return kNames[static_cast<std::size_t>(why)];
}

std::string MeaningOf(int status) { return ReasonOf(status).reason; }
std::string MeaningOf(std::string_view reason) { return ReasonOf(reason).reason; }

std::optional<ScopeLine> ParseScopeLine(std::string_view text) {
  const std::vector<std::string_view> words = Split(text, ' ');
  constexpr std::size_t kWords = 5;  // time, URL, hops, via, and the reason to the end
  if (words.size() < kWords) return std::nullopt;
  const auto reason_at = static_cast<std::size_t>(words[kWords - 1].data() - text.data());
  return ScopeLine{words[1], words[2], words[3], text.substr(reason_at)};
}

std::optional<MissingEmbed> MissingOf(const crawl_log::Line& line) {
  if (!IsEmbed(line.hops)) return std::nullopt;
  const int status = line.StatusCode().value_or(0);
  if (IsWrongGuess(line.hops, status)) return std::nullopt;
  Reason reason = Failed(status) ? ReasonOf(status) : CutBy(CutIn(line));
  if (reason.reason.empty()) return std::nullopt;
  // Rules that could not be had forbid for now.
  std::string error = status == kRobotsPrecluded ? ExtraText(line, "error") : std::string();
  if (!error.empty()) reason = {Why::kRobots, std::move(error), std::string(kPatchLater)};
  return MissingAs({line.uri, line.hops, line.via, {}}, reason);
}

std::optional<MissingEmbed> MissingOf(const ScopeLine& line) {
  if (!IsEmbed(line.hops)) return std::nullopt;
  return MissingAs(line, ReasonOf(line.reason));
}

std::optional<MissingEmbed> MissingFinder::Once(std::optional<MissingEmbed> missing) {
  if (!missing || !named_.insert(KeyOf(missing->url)).second) return std::nullopt;
  // A way of redirects may lead back.
  bool is_behind_redirect = missing->hops.ends_with('R');
  for (std::size_t i = 0; is_behind_redirect && i < needs_.size(); ++i) {
    const auto need = needs_.find(KeyOf(missing->page));
    if (need == needs_.end()) break;
    missing->page = need->second.via;
    is_behind_redirect = need->second.is_behind_another;
  }
  return missing;
}

void MissingFinder::TakeRedirect(const crawl_log::Line& line) {
  const std::uint64_t key = KeyOf(line.uri);
  // What is asked for once more may be there then.
  redirects_.erase(key);
  if (!IsRedirect(line.StatusCode().value_or(0))) return;
  if (IsEmbed(line.hops)) needs_.try_emplace(key, Need{line.via, line.hops.ends_with('R')});
  const std::string target = ExtraText(line, "redirect");
  if (target.empty()) return;
  redirects_.emplace(key, KeyOf(target));
  redirect_targets_.insert(KeyOf(target));
}

std::optional<MissingEmbed> MissingFinder::TakeCrawl(const crawl_log::Line& line) {
  TakeRedirect(line);
  if (IsEmbed(line.hops)) {
    std::optional<MissingEmbed> missing = MissingOf(line);
    if (!missing || !line.hops.ends_with('R')) return Once(std::move(missing));
    redirected_.push_back(*std::move(missing));
    return std::nullopt;
  }
  const int status = line.StatusCode().value_or(0);
  const std::string_view cut = CutIn(line);
  if (Failed(status)) failed_pages_[KeyOf(line.uri)] = {line.uri, status, ""};
  if (!Failed(status) && !cut.empty()) {
    failed_pages_[KeyOf(line.uri)] = {line.uri, 0, std::string(cut)};
  }
  return std::nullopt;
}

std::vector<MissingEmbed> MissingFinder::TakeRedirected() {
  std::vector<MissingEmbed> missing;
  for (MissingEmbed& one : std::exchange(redirected_, {})) {
    if (auto named = Once(std::move(one))) missing.push_back(*std::move(named));
  }
  return missing;
}

std::optional<MissingEmbed> MissingFinder::TakeScope(const ScopeLine& line) {
  if (IsEmbed(line.hops)) return Once(MissingOf(line));
  // What a page needs may be redirected there.
  const std::uint64_t key = KeyOf(line.url);
  if (line.reason.starts_with(kLimitWord) || redirect_targets_.contains(key)) {
    failed_pages_[key] = {std::string(line.url), 0, std::string(line.reason)};
  }
  return std::nullopt;
}

std::optional<MissingEmbed> MissingFinder::TakeEmbed(const ScopeLine& line) {
  std::unordered_set<std::uint64_t> passed;
  std::uint64_t at = KeyOf(line.url);
  auto failed = failed_pages_.find(at);
  for (; failed == failed_pages_.end(); failed = failed_pages_.find(at)) {
    const auto next = redirects_.find(at);
    if (next == redirects_.end()) return std::nullopt;
    if (!passed.insert(at).second) {
      MissingEmbed missing = MissingAs(line, InACircle());
      missing.in_circle = true;
      return Once(std::move(missing));
    }
    at = next->second;
  }
  const auto& [url, status, notes] = failed->second;
  Reason reason = Failed(status) ? ReasonOf(status) : CutBy(notes);
  if (reason.reason.empty()) reason = ReasonOf(notes);
  return Once(MissingAs({url, line.hops, line.via, {}}, reason));
}

Status VisitMissing(io::FileSystem& fs, const std::string& folder,
                    const std::function<Status(const MissingEmbed& missing)>& visit) {
  Status status;
  MissingFinder finder;
  const auto tell = [&](const std::optional<MissingEmbed>& missing) {
    if (missing && status) status = visit(*missing);
  };
  const Status crawl = ReadLogLines(fs, RunLog::CrawlLogPath(folder), [&](std::string_view text) {
    if (const auto line = crawl_log::ParseLine(text)) tell(finder.TakeCrawl(*line));
  });
  if (!crawl) return crawl;
  for (const MissingEmbed& missing : finder.TakeRedirected()) tell(missing);
  const Status scope = ReadLogLines(fs, RunLog::ScopeLogPath(folder), [&](std::string_view text) {
    if (const auto line = ParseScopeLine(text)) tell(finder.TakeScope(*line));
  });
  if (!scope) return scope;
  const Status embeds = ReadLogLines(fs, RunLog::EmbedLogPath(folder), [&](std::string_view text) {
    if (const auto line = ParseScopeLine(text)) tell(finder.TakeEmbed(*line));
  });
  // Runs of an older program have none.
  if (!embeds && embeds.error().code != ErrorCode::kNotFound) return embeds;
  return status;
}

Result<std::optional<std::uint32_t>> RunThatHas(const archive::ArchiveView& view,
                                                std::string_view url, std::uint32_t since) {
  MissingEmbed missing;
  missing.url = url;
  return RunThatHas(view, missing, since);
}

Result<std::optional<std::uint32_t>> RunThatHas(const archive::ArchiveView& view,
                                                const MissingEmbed& missing, std::uint32_t since) {
  archive::CaptureQuery query;
  query.where.what = catalog::SelectUrl(missing.url);
  archive::CaptureResults results(view, query);
  std::optional<std::uint32_t> found;
  for (;;) {
    const Result<const catalog::HeldCapture*> held = results.Next();
    if (!held) return held.error();
    if (*held == nullptr) return found;
    const catalog::Capture& row = (*held)->row;
    std::uint16_t unwanted = catalog::kTruncated;
    if (missing.in_circle) unwanted |= catalog::kRedirect;
    const bool is_whole = (row.flags & unwanted) == 0;
    if (row.run >= since && is_whole && archive::IsThere(row)) found = row.run;
  }
}

}  // namespace stele::crawl
