#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive_view.h"
#include "archive/capture_query.h"
#include "util/result.h"
#include "util/timestamp.h"

// How much of what crawls bring was there before: the study of the Webstore paper, for any crawls.
namespace stele::study {

// A part of an archive that is taken for one crawl.
struct StudiedCrawl {
  std::string name;                    // "run 3"
  std::optional<std::uint32_t> run;    // one of the two
  std::optional<std::uint32_t> batch;  //
};

// Of one crawl. A document is what the last capture of a URL in it brought, by its digest.
struct CrawlDuplication {
  std::string name;
  std::optional<Timestamp> begin;  // its first capture; nothing when it has none
  std::uint64_t urls = 0;
  std::uint64_t within = 0;      // URLs whose document another URL of the crawl has, all but one
  std::uint64_t last_crawl = 0;  // URLs whose document was in the crawl before
  std::uint64_t persistent = 0;  // URLs that were in the crawl before
  std::uint64_t earlier = 0;     // URLs whose document was in any of the crawls before
  // URLs whose document was in each of the crawls before, the first crawl first.
  std::vector<std::uint64_t> in_each;

  friend bool operator==(const CrawlDuplication&, const CrawlDuplication&) = default;
};

// One for each crawl, in the order given, which should be that of time. `filter` says which
// captures count: its URLs, types, statuses. Empty payloads count nowhere; revisits count as what
// they repeat. About 16 bytes of memory for a capture and as many for a payload. Errors: those of
// the catalog.
Result<std::vector<CrawlDuplication>> StudyDuplicates(const archive::ArchiveView& view,
                                                      const std::vector<StudiedCrawl>& crawls,
                                                      const archive::CaptureQuery& filter);

}  // namespace stele::study
