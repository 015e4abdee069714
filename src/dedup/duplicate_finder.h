#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "archive/run_writer.h"
#include "archive/wire_message.h"
#include "dedup/dedup_report.h"
#include "dedup/document_reader.h"
#include "dedup/header_analysis.h"
#include "dedup/media_filter.h"
#include "dedup/original_source.h"
#include "util/result.h"

namespace stele::dedup {

// How a crawl judges that it has a document already.
struct DuplicateRules {
  enum class By {
    kNothing,       // no document is handled
    kUrl,           // the URL was captured before, with the same digest
    kDigest,        // the digest was captured before, at the same URL; elsewhere it is a mirror
    kDigestAnyUrl,  // the digest was captured before, anywhere
  };
  By by = By::kUrl;
  bool try_equivalent = true;  // where the URL itself is not known, ask for equivalent ones
  MediaFilter media = {};      // which types are handled at all; default: all
  std::uint64_t size_min = 1;  // of a payload; empty ones are never duplicates
  // Counts how right the headers are about documents whose exact URL is known.
  HeaderAnalysis analysis = HeaderAnalysis::kNone;
  bool per_host = false;  // counts for each host, too

  // For reports: "nothing", "url", "digest", "digest, any URL".
  static std::string_view NameOf(By by);
};

// A document that was downloaded.
struct Downloaded {
  std::string_view url;
  const archive::ResponseFacts& facts;
  bool truncated = false;  // such are never duplicates
};

struct Verdict {
  Hit hit = Hit::kNotHandled;
  // For RunWriter, when it is a duplicate: the original has a payload of its own and is durable.
  std::optional<archive::RevisitOriginal> original;
  std::string origin;       // where the original is kept, when somebody said so
  bool is_foreign = false;  // the original is elsewhere
  // What the headers predicted, by the category's name; empty: not analysed, or the URL is new.
  std::string_view timestamp_category;
  std::string_view etag_category;
};

// Tells a crawler whether it keeps a document already, and counts. Thread-safe. Borrows the sources
// for life.
class DuplicateFinder {
 public:
  // Asks `here` first, the archive's own captures, and then `foreign`; either may be null.
  DuplicateFinder(DuplicateRules rules, OriginalSource* here, OriginalSource* foreign);
  ~DuplicateFinder();

  // After the download, with the digest. Counts it. Errors: those of the sources.
  Result<Verdict> Judge(const Downloaded& document);
  // The same for a document of an earlier crawl: what would have become of it.
  Result<Verdict> Judge(const CrawledDocument& document);

  // Before the download, for conditional requests and header filters: what is known about exactly
  // this URL, with its headers and its original. Its newest capture counts. Nothing where there is
  // none, or where another URL has the payload.
  Result<std::optional<KnownDocument>> Known(std::string_view url);

  // All that was judged so far.
  DedupReport Report() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace stele::dedup
