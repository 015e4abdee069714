#include <fmt/format.h>

#include "cli/archive_commands.h"
#include "cli/dedup_commands.h"
#include "cli/media_option.h"
#include "dedup/digest_index.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

using dedup::DigestIndexOptions;

Result<DigestIndexOptions> OptionsOf(const Arguments& arguments) {
  DigestIndexOptions options;
  const std::string by = arguments.Get("--by").value_or("both");
  if (by != "url" && by != "digest" && by != "both") {
    return WrongValue("--by", by, "url, digest or both");
  }
  options.by_url = by != "digest";
  options.by_digest = by != "url";
  const std::string rule = arguments.Get("--equivalent").value_or("none");
  const auto equivalent = dedup::EquivalentRuleByName(rule);
  if (!equivalent) return WrongValue("--equivalent", rule, "strip or surt");
  options.equivalent = *equivalent;
  if (options.equivalent != dedup::EquivalentRule::kNone && !options.by_url) {
    return Error{ErrorCode::kInvalid, "--equivalent goes with --by url or both"};
  }
  options.with_timestamp = !arguments.Has("--no-timestamp");
  options.with_etag = arguments.Has("--etag");
  options.origin = arguments.Get("--origin").value_or("");
  options.carry_duplicates = !arguments.Has("--skip-duplicates");
  options.any_status = arguments.Has("--any-status");
  const auto size_min = ParseDecimal(arguments.Get("--min-size").value_or("0"));
  if (!size_min) return Error{ErrorCode::kInvalid, "--min-size takes a number of bytes"};
  options.size_min = *size_min;
  Result<dedup::MediaFilter> media = MediaFilterOf(arguments);
  if (!media) return media.error();
  options.media = *media;
  return options;
}

Status AddSources(const Arguments& arguments, Context& context,
                  dedup::DigestIndexBuilder& builder) {
  for (const std::string& source : arguments.positionals) {
    const Result<bool> is_archive = archive::IsArchive(context.fs, source);
    if (is_archive && *is_archive) {
      auto reader = archive::ArchiveReader::Open(context.fs, source);
      if (!reader) return reader.error();
      const archive::ArchiveView view = (*reader)->View();
      if (const Status added = builder.Add(*dedup::ReadArchive(view)); !added) return added;
      continue;
    }
    auto documents = dedup::ReadDocuments(context.fs, source);
    if (!documents) return documents.error();
    if (const Status added = builder.Add(**documents); !added) return added;
  }
  return {};
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const std::optional<std::string> output = arguments.Get("--output");
  if (!output || arguments.positionals.empty()) {
    Complain(context, "name what to index, and the index with --output FILE");
    return ExitCode::kUsage;
  }
  const Result<DigestIndexOptions> options = OptionsOf(arguments);
  if (!options) return Fail(context, options.error());
  const Result<bool> is_there = context.fs.Exists(*output);
  if (!is_there) return Fail(context, is_there.error());
  if (*is_there && !arguments.Has("--add") && !arguments.Has("--force")) {
    Complain(context, *output + " is there; --add to it, or replace it with --force");
    return ExitCode::kUsage;
  }
  dedup::DigestIndexBuilder builder(context.fs, *output, *options);
  if (*is_there && arguments.Has("--add")) {
    if (const Status added = builder.AddIndex(*output); !added) return Fail(context, added.error());
  }
  const Status added = AddSources(arguments, context, builder);
  if (!added) return Fail(context, added.error());
  const Result<dedup::DigestIndexSummary> summary = builder.Finish();
  if (!summary) return Fail(context, summary.error());
  const dedup::DigestIndexBuilder::Counts& counts = builder.counts();
  const Status written = context.out.Write(
      arguments.Has("--json")
          ? fmt::format("{{\"indexed\": {}, \"unresolved\": {}, \"skipped\": {}, \"documents\": "
                        "{}, \"duplicates\": {}}}\n",
                        counts.indexed, counts.unresolved, counts.skipped, summary->documents,
                        summary->duplicates)
          : fmt::format("Indexed {} items (unresolved {}, skipped {}); {} documents in the index\n",
                        counts.indexed, counts.unresolved, counts.skipped, summary->documents));
  return written ? ExitCode::kDone : Fail(context, written.error());
}

}  // namespace

Command DedupIndexCommand() {
  Command command;
  command.name = "index";
  command.summary = "Build a digest index of what crawls brought";
  command.details =
      "From Heritrix crawl logs, WARC and ARC files, and archives, in any mixture. A crawl that is "
      "given the index keeps a document that is in it only as a reference. Documents that were "
      "found to be duplicates are carried forward: the index leads to their originals. Within one "
      "archive no index is needed, earlier captures are it.";
  command.arguments = "SOURCE...";
  command.options = {
      {"--output", "FILE", "The index"},
      {"--add", "", "Add to the index that is there, built by the same options"},
      {"--force", "", "Replace what is there"},
      {"--by", "url|digest|both", "What documents are found by", "both"},
      {"--equivalent", "strip|surt",
       "Also by normalised URL: without www, query and last slash, "
       "or by the sort key of archives"},
      {"--etag", "", "Keep ETag and Last-Modified, for filters by header"},
      {"--no-timestamp", "", "Do not keep when a document was last seen"},
      {"--origin", "TEXT", "Where these documents are kept; goes into the index"},
      {"--mime", "REGEX", "Leave these media types out"},
      {"--whitelist", "", "With --mime: leave all others out instead"},
      {"--min-size", "BYTES", "Leave smaller documents out"},
      {"--skip-duplicates", "", "Leave out what was a duplicate when it was crawled"},
      {"--any-status", "", "Not only answers with status 200"},
      {"--json", "", "Counts as a JSON object"}};
  command.examples = {{"stele dedup index --output march.index --mime '^text/.*' crawl.log",
                       "All but text of a crawl, from its log"},
                      {"stele dedup index --output all.index --add --origin may may/*.warc.gz",
                       "Add another crawl"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
