#include <fmt/format.h>

#include <array>

#include "cli/archive_commands.h"
#include "cli/dedup_commands.h"
#include "cli/media_option.h"
#include "cli/scratch_digests.h"
#include "dedup/archive_originals.h"
#include "dedup/digest_index.h"
#include "dedup/duplicate_finder.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

using dedup::DuplicateRules;

constexpr std::size_t kCacheBytes = std::size_t{64} << 20;

template <typename Value>
struct Named {
  std::string_view name;
  Value value;
};
constexpr std::array<Named<DuplicateRules::By>, 3> kLookups = {{
    {"url", DuplicateRules::By::kUrl},
    {"digest", DuplicateRules::By::kDigest},
    {"any", DuplicateRules::By::kDigestAnyUrl},
}};
constexpr std::array<Named<dedup::HeaderAnalysis>, 3> kAnalyses = {{
    {"none", dedup::HeaderAnalysis::kNone},
    {"timestamp", dedup::HeaderAnalysis::kTimestamp},
    {"etag", dedup::HeaderAnalysis::kTimestampAndEtag},
}};

template <typename Value, std::size_t kSize>
Result<Value> Choice(const Arguments& arguments, std::string_view option, std::string_view fallback,
                     const std::array<Named<Value>, kSize>& choices, std::string_view allowed) {
  const std::string text = arguments.Get(option).value_or(std::string(fallback));
  for (const Named<Value>& choice : choices) {
    if (choice.name == text) return choice.value;
  }
  return WrongValue(option, text, allowed);
}

Result<DuplicateRules> RulesOf(const Arguments& arguments) {
  DuplicateRules rules;
  Result<DuplicateRules::By> by = Choice(arguments, "--by", "url", kLookups, "url, digest or any");
  if (!by) return by.error();
  rules.by = *by;
  Result<dedup::HeaderAnalysis> analysis =
      Choice(arguments, "--analyse", "timestamp", kAnalyses, "none, timestamp or etag");
  if (!analysis) return analysis.error();
  rules.analysis = *analysis;
  rules.try_equivalent = arguments.Has("--equivalent");
  rules.per_host = arguments.Has("--hosts");
  const auto size_min = ParseDecimal(arguments.Get("--min-size").value_or("1"));
  if (!size_min) return Error{ErrorCode::kInvalid, "--min-size takes a number of bytes"};
  rules.size_min = *size_min;
  Result<dedup::MediaFilter> media = MediaFilterOf(arguments);
  if (!media) return media.error();
  rules.media = *media;
  return rules;
}

Status JudgeAll(dedup::DocumentReader& documents, bool any_status, dedup::DuplicateFinder& finder) {
  for (;;) {
    Result<dedup::CrawledDocument*> document = documents.Next();
    if (!document) return document.error();
    if (*document == nullptr) return {};
    if (!any_status && (*document)->status != 200) continue;
    Result<dedup::Verdict> verdict = finder.Judge(**document);
    if (!verdict) return verdict.error();
  }
}

ExitCode Report(const Arguments& arguments, Context& context, const DuplicateRules& rules,
                dedup::OriginalSource& known) {
  dedup::DuplicateFinder finder(rules, &known, nullptr);
  for (const std::string& source : arguments.positionals) {
    auto documents = dedup::ReadDocuments(context.fs, source);
    if (!documents) return Fail(context, documents.error());
    const Status judged = JudgeAll(**documents, arguments.Has("--any-status"), finder);
    if (!judged) return Fail(context, judged.error());
  }
  const dedup::DedupReport report = finder.Report();
  const Status written =
      context.out.Write(arguments.Has("--json") ? report.Json() + '\n' : report.Text());
  return written ? ExitCode::kDone : Fail(context, written.error());
}

ExitCode ReportOnArchive(const Arguments& arguments, Context& context,
                         const DuplicateRules& rules) {
  ExitCode code = ExitCode::kDone;
  const std::unique_ptr<archive::ArchiveReader> reader = OpenArchive(arguments, context, code);
  if (reader == nullptr) return code;
  dedup::ArchiveOriginals known([&] { return reader->View(); });
  ScratchDigests digests;
  if (rules.by != DuplicateRules::By::kUrl) {
    if (const Status loaded = digests.LoadInto(known); !loaded) {
      return Fail(context, loaded.error());
    }
  }
  return Report(arguments, context, rules, known);
}

// Leaves out what was not asked for and the index does not have. Errors: kInvalid where it was.
Status Fit(const Arguments& arguments, const dedup::DigestIndex& index, DuplicateRules& rules) {
  const dedup::DigestIndexSummary& summary = index.summary();
  if (!summary.by_url && !arguments.Get("--analyse")) rules.analysis = dedup::HeaderAnalysis::kNone;
  if (!summary.with_etag && rules.analysis == dedup::HeaderAnalysis::kTimestampAndEtag) {
    return Error{ErrorCode::kInvalid,
                 "the index has no entity tags; build it with: stele dedup index --etag"};
  }
  const bool by_url = rules.by == DuplicateRules::By::kUrl;
  return index.CheckFor(by_url || rules.analysis != dedup::HeaderAnalysis::kNone, !by_url);
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const std::optional<std::string> path = arguments.Get("--index");
  if (arguments.positionals.empty() || (path && arguments.Has("--archive"))) {
    Complain(context, "name crawls, and what they are compared with: --index or --archive");
    return ExitCode::kUsage;
  }
  Result<DuplicateRules> rules = RulesOf(arguments);
  if (!rules) return Fail(context, rules.error());
  if (!path) return ReportOnArchive(arguments, context, *rules);
  catalog::PageCache cache(kCacheBytes);
  auto index = dedup::DigestIndex::Open(context.fs, *path, cache);
  if (!index) return Fail(context, index.error());
  if (const Status fits = Fit(arguments, **index, *rules); !fits)
    return Fail(context, fits.error());
  return Report(arguments, context, *rules, **index);
}

}  // namespace

Command DedupReportCommand() {
  Command command;
  command.name = "report";
  command.summary = "What a crawl brought that was known before, and what headers say about it";
  command.details =
      "Judges each document of crawl logs, WARC or ARC files as a crawler would that knows an "
      "index "
      "or an archive: duplicates, new ones, and whether Last-Modified and ETag told rightly that a "
      "document had changed. Answers with status 200 count.";
  command.arguments = "SOURCE...";
  command.options = WithArchiveOption(
      {{"--index", "FILE", "Compare with this index instead of an archive"},
       {"--by", "url|digest|any", "Look up by URL; by digest, at the same URL; by digest anywhere",
        "url"},
       {"--equivalent", "", "Where the URL is not known, try equivalent ones"},
       {"--mime", "REGEX", "Leave these media types out"},
       {"--whitelist", "", "With --mime: leave all others out instead"},
       {"--min-size", "BYTES", "Leave smaller documents out", "1"},
       {"--analyse", "none|timestamp|etag", "Which headers to judge; etag means both", "timestamp"},
       {"--hosts", "", "Counts for each host, too"},
       {"--any-status", "", "Not only answers with status 200"},
       {"--json", "", "As a JSON object"}});
  command.examples = {{"stele dedup report --index march.index --mime '^text/.*' may/crawl.log",
                       "How much of a crawl was known from the one before?"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
