#include "crawl/missing_embeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>
#include <vector>

#include "archive/capture_query.h"
#include "archive/changes.h"
#include "crawl/candidate.h"
#include "crawl/run_log.h"
#include "util/ascii.h"
#include "util/checksum.h"

namespace stele::crawl {
namespace {

using Why = MissingEmbed::Why;

constexpr int kRobotsPrecluded = -9998;

bool IsEmbed(std::string_view hops) {
  Candidate candidate;
  candidate.hops = hops;
  return !candidate.is_page() && hops != "P" && hops != "-";
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
Reason ReasonOf(std::string_view scope) {
  if (scope == "host-limit") {
    return {Why::kLimit, "its host had as many URLs as it may", "stele crawl --patch"};
  }
  constexpr std::string_view kLimit = "limit ";
  if (scope.starts_with(kLimit)) {
    return {Why::kLimit, fmt::format("the limit of {} was reached", scope.substr(kLimit.size())),
            "stele crawl --patch"};
  }
  if (scope == "redirects") {
    return {Why::kError, "it is redirected again and again", "nothing, if it stays so"};
  }
  std::string remedy = "stele crawl --patch with --include for it";
  if (scope.starts_with("trap")) remedy += ", if it is no trap";
  return {Why::kScope, fmt::format("it is outside of the crawl ({})", scope), std::move(remedy)};
}

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
  MissingEmbed missing{line.uri, line.via, line.hops, Why::kError, "", ""};
  if (status < 0 || status >= 400) {
    Reason reason = ReasonOf(status);
    missing.why = reason.why;
    missing.reason = std::move(reason.reason);
    missing.remedy = std::move(reason.remedy);
    return missing;
  }
  for (const std::string_view note : line.AnnotationList()) {
    Reason reason = CutBy(note);
    if (reason.reason.empty()) continue;
    missing.why = reason.why;
    missing.reason = std::move(reason.reason);
    missing.remedy = std::move(reason.remedy);
    return missing;
  }
  return std::nullopt;
}

std::optional<MissingEmbed> MissingOf(const ScopeLine& line) {
  if (!IsEmbed(line.hops)) return std::nullopt;
  Reason reason = ReasonOf(line.reason);
  return MissingEmbed{std::string(line.url),    std::string(line.via),
                      std::string(line.hops),   reason.why,
                      std::move(reason.reason), std::move(reason.remedy)};
}

Status VisitMissing(io::FileSystem& fs, const std::string& folder,
                    const std::function<Status(const MissingEmbed& missing)>& visit) {
  Status status;
  std::unordered_set<std::uint64_t> named;  // checksums
  const auto tell = [&](const std::optional<MissingEmbed>& missing) {
    if (!missing || !status || !named.insert(ChecksumOf(missing->url)).second) return;
    status = visit(*missing);
  };
  const Status crawl = ReadLogLines(fs, RunLog::CrawlLogPath(folder), [&](std::string_view text) {
    if (const Result<crawl_log::Line> line = crawl_log::ParseLine(text)) tell(MissingOf(*line));
  });
  if (!crawl) return crawl;
  const Status scope = ReadLogLines(fs, RunLog::ScopeLogPath(folder), [&](std::string_view text) {
    if (const std::optional<ScopeLine> line = ParseScopeLine(text)) tell(MissingOf(*line));
  });
  return scope ? status : scope;
}

Result<std::optional<std::uint32_t>> RunThatHas(const archive::ArchiveView& view,
                                                std::string_view url, std::uint32_t since) {
  archive::CaptureQuery query;
  query.where.what = catalog::SelectUrl(url);
  archive::CaptureResults results(view, query);
  std::optional<std::uint32_t> found;
  for (;;) {
    const Result<const catalog::HeldCapture*> held = results.Next();
    if (!held) return held.error();
    if (*held == nullptr) return found;
    const catalog::Capture& row = (*held)->row;
    const bool is_whole = (row.flags & catalog::kTruncated) == 0;
    if (row.run >= since && is_whole && archive::IsThere(row)) found = row.run;
  }
}

}  // namespace stele::crawl
