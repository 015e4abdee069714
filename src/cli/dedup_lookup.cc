#include <fmt/format.h>

#include "cli/archive_commands.h"
#include "cli/dedup_commands.h"
#include "dedup/digest_index.h"
#include "formats/url/url.h"
#include "util/digest.h"
#include "util/json.h"

namespace stele::cli {
namespace {

using dedup::KnownDocument;

constexpr std::size_t kCacheBytes = std::size_t{16} << 20;

std::string DigestText(const KnownDocument& document) {
  const catalog::Sha1Bytes& sha1 = *document.digest.sha1;
  return Digest(DigestAlgorithm::kSha1, {sha1.data(), sha1.size()}).Labelled();
}

std::string Text(const KnownDocument& document) {
  return fmt::format("{} {} {} {}{}{}\n", FormatDigits14(document.time),
                     FormatDigits14(document.seen), DigestText(document), document.url,
                     document.origin.empty() ? "" : " ", document.origin);
}

std::string Json(const KnownDocument& document) {
  std::string out = "{\"url\": ";
  AppendJsonString(out, document.url);
  out += fmt::format(", \"time\": \"{}\", \"seen\": \"{}\", \"digest\": \"{}\"",
                     FormatIsoMillis(document.time), FormatIsoMillis(document.seen),
                     DigestText(document));
  for (const auto& [name, value] :
       {std::pair("recordId", &document.record_id), std::pair("etag", &document.etag),
        std::pair("lastModified", &document.last_modified),
        std::pair("origin", &document.origin)}) {
    if (value->empty()) continue;
    out += fmt::format(", \"{}\": ", name);
    AppendJsonString(out, *value);
  }
  return out + "}\n";
}

std::optional<dedup::PayloadDigest> DigestArgument(const std::string& text) {
  std::optional<Digest> digest = Digest::Parse(text);
  if (!digest) digest = Digest::Parse("sha1:" + text);
  if (!digest || digest->algorithm() != DigestAlgorithm::kSha1) return std::nullopt;
  dedup::PayloadDigest payload;
  payload.sha1.emplace();
  std::copy(digest->bytes().begin(), digest->bytes().end(), payload.sha1->begin());
  return payload;
}

dedup::OriginalSource::Documents LookUp(dedup::DigestIndex& index, const std::string& what) {
  if (what.find("://") != std::string::npos) {
    auto documents = index.ByUrl(what);
    if (!documents || !documents->empty()) return documents;
    // As browsers and crawlers write it, with a slash behind a host.
    const Result<url::Url> whole = url::Parse(what);
    return whole ? index.ByUrl(whole->href()) : std::move(documents);
  }
  const std::optional<dedup::PayloadDigest> digest = DigestArgument(what);
  if (digest) return index.ByDigest(*digest);
  return Error{ErrorCode::kInvalid, what + " is neither a URL nor a SHA-1 like sha1:3I42H3S6..."};
}

ExitCode RunLookup(const Arguments& arguments, Context& context) {
  if (arguments.positionals.size() < 2) {
    Complain(context, "name an index, and URLs or digests");
    return ExitCode::kUsage;
  }
  catalog::PageCache cache(kCacheBytes);
  auto index = dedup::DigestIndex::Open(context.fs, arguments.positionals.front(), cache);
  if (!index) return Fail(context, index.error());
  const bool json = arguments.Has("--json");
  bool found_all = true;
  for (std::size_t i = 1; i < arguments.positionals.size(); ++i) {
    const auto documents = LookUp(**index, arguments.positionals[i]);
    if (!documents) return Fail(context, documents.error());
    found_all = found_all && !documents->empty();
    for (const KnownDocument& document : *documents) {
      const Status written = context.out.Write(json ? Json(document) : Text(document));
      if (!written) return Fail(context, written.error());
    }
  }
  return found_all ? ExitCode::kDone : ExitCode::kDefects;
}

ExitCode RunInfo(const Arguments& arguments, Context& context) {
  if (arguments.positionals.size() != 1) {
    Complain(context, "name one index");
    return ExitCode::kUsage;
  }
  catalog::PageCache cache(kCacheBytes);
  auto index = dedup::DigestIndex::Open(context.fs, arguments.positionals.front(), cache);
  if (!index) return Fail(context, index.error());
  const dedup::DigestIndexSummary& summary = (*index)->summary();
  const std::string_view by = !summary.by_url ? "digest" : summary.by_digest ? "both" : "url";
  const Status written = context.out.Write(
      arguments.Has("--json")
          ? fmt::format("{{\"by\": \"{}\", \"equivalent\": \"{}\", \"etag\": {}, \"documents\": "
                        "{}, \"duplicates\": {}}}\n",
                        by, EquivalentRuleName(summary.equivalent), summary.with_etag,
                        summary.documents, summary.duplicates)
          : fmt::format("{} documents, {} of them duplicates of others; found by {}; equivalent "
                        "URLs: {}; {} entity tags\n",
                        summary.documents, summary.duplicates, by == "both" ? "URL and digest" : by,
                        EquivalentRuleName(summary.equivalent),
                        summary.with_etag ? "with" : "without"));
  return written ? ExitCode::kDone : Fail(context, written.error());
}

}  // namespace

Command DedupLookupCommand() {
  Command command;
  command.name = "lookup";
  command.summary = "Ask a digest index for URLs or digests";
  command.details =
      "One line for each document: when its original was captured, when it was last seen, its "
      "digest, the original's URL, its origin. Ends with 1 when something is not in the index.";
  command.arguments = "INDEX URL|DIGEST...";
  command.options = {{"--json", "", "One JSON object for each document"}};
  command.examples = {
      {"stele dedup lookup march.index http://example.org/logo.png", "Would it be a duplicate?"}};
  command.run = RunLookup;
  return command;
}

Command DedupInfoCommand() {
  Command command;
  command.name = "info";
  command.summary = "What a digest index is built for, and how large it is";
  command.arguments = "INDEX";
  command.options = {{"--json", "", "As a JSON object"}};
  command.examples = {{"stele dedup info march.index", "How many documents are in it?"}};
  command.run = RunInfo;
  return command;
}

Command DedupCommand() {
  Command command;
  command.name = "dedup";
  command.summary = "Digest indexes, so that crawls do not keep again what others keep";
  command.examples = {{"stele dedup index --output march.index crawl.log", "Index a crawl"}};
  command.commands = {DedupIndexCommand(), DedupInfoCommand(), DedupLookupCommand(),
                      DedupReportCommand()};
  return command;
}

}  // namespace stele::cli
