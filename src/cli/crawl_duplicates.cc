#include "cli/crawl_duplicates.h"

#include <filesystem>

#include "cli/amount.h"

namespace stele::cli {
namespace {

Status TakeHeaderOptions(const Arguments& arguments, crawl::DuplicateSettings& settings) {
  if (const std::optional<std::string> name = arguments.Get("--dedup-headers")) {
    settings.headers = dedup::HeaderSchemeByName(*name);
    if (!settings.headers && *name != "off") {
      return WrongValue("--dedup-headers", *name,
                        "off, timestamp, etag, timestamp-and-etag or timestamp-or-etag");
    }
  }
  if (arguments.Has("--dedup-abort")) settings.abort = true;
  if (arguments.Has("--dedup-text")) settings.headers_text = true;
  if (!settings.headers && (arguments.Has("--dedup-abort") || arguments.Has("--dedup-text"))) {
    return Error{ErrorCode::kInvalid, "--dedup-abort and --dedup-text go with --dedup-headers"};
  }
  return {};
}

}  // namespace

std::vector<Option> DuplicateOptions() {
  return {
      {"--dedup", "HOW",
       "What is a duplicate: url (same URL and payload), digest (the same, looked up by payload), "
       "any (same payload at any URL), off",
       "url"},
      {"--dedup-exact", "", "Equivalent URLs (www, http and https) are not the same"},
      {"--dedup-mime", "REGEX", "These media types are never duplicates"},
      {"--dedup-whitelist", "", "With --dedup-mime: all others never are"},
      {"--dedup-min-size", "SIZE", "Smaller files never are", "1"},
      {"--dedup-before-links", "", "Do not follow the links of duplicates"},
      {"--dedup-index", "FILE", "A digest index of what is kept elsewhere (stele dedup index)"},
      {"--dedup-origin", "TEXT", "Where originals are kept, for the log"},
      {"--dedup-analyse", "none|timestamp|etag",
       "Count how right headers are about what changed; etag means both", "none"},
      {"--dedup-headers", "SCHEME",
       "Trust headers, and leave out bodies that they say are unchanged: timestamp, etag, "
       "timestamp-and-etag, timestamp-or-etag, off",
       "off"},
      {"--dedup-abort", "", "Hang up after the head, instead of asking for changes only (304)"},
      {"--dedup-text", "", "Also text; its links are those of the archived copy"},
  };
}

Status TakeDuplicateOptions(const Arguments& arguments, crawl::DuplicateSettings& settings) {
  if (const std::optional<std::string> name = arguments.Get("--dedup")) {
    const std::optional<crawl::Match> match = crawl::MatchByName(*name);
    if (!match) return WrongValue("--dedup", *name, "off, url, digest or any");
    settings.match = *match;
  }
  if (const std::optional<std::string> name = arguments.Get("--dedup-analyse")) {
    const std::optional<dedup::HeaderAnalysis> analysis = crawl::AnalysisByName(*name);
    if (!analysis) return WrongValue("--dedup-analyse", *name, "none, timestamp or etag");
    settings.analysis = *analysis;
  }
  if (const std::optional<std::string> text = arguments.Get("--dedup-min-size")) {
    const std::optional<std::uint64_t> size = ParseByteCount(*text);
    if (!size) return WrongValue("--dedup-min-size", *text, "a size such as 1000 or 20kB");
    settings.size_min = *size;
  }
  if (arguments.Has("--dedup-exact")) settings.equivalent = false;
  if (arguments.Has("--dedup-whitelist")) settings.whitelist = true;
  if (arguments.Has("--dedup-before-links")) settings.before_links = true;
  settings.mime = arguments.Get("--dedup-mime").value_or(settings.mime);
  settings.origin = arguments.Get("--dedup-origin").value_or(settings.origin);
  if (const std::optional<std::string> path = arguments.Get("--dedup-index")) {
    settings.index = std::filesystem::absolute(*path).lexically_normal();
  }
  if (const Status taken = TakeHeaderOptions(arguments, settings); !taken) return taken;
  const Result<dedup::DuplicateRules> rules = crawl::RulesOf(settings);
  return rules ? Status() : rules.error();
}

}  // namespace stele::cli
