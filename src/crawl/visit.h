#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/capture_id.h"
#include "crawl/frontier.h"
#include "crawl/kept_captures.h"
#include "crawl/outlinks.h"
#include "crawl/payload_claims.h"
#include "crawl/politeness.h"
#include "dedup/duplicate_finder.h"
#include "formats/crawl_log/line.h"
#include "formats/url/url.h"
#include "net/fetch.h"
#include "util/result.h"

namespace stele::crawl {

// One fetch on its way through a crawl: asked for, answered, worked on, kept. At any moment one
// thread has it.
struct Visit {
  explicit Visit(url::Url where) : url(std::move(where)) {}

  std::optional<Frontier::Taken> taken;  // nothing: robots.txt
  Candidate candidate;
  url::Url url;
  Politeness::Kind kind = Politeness::Kind::kPage;
  std::string robots_origin;  // of robots.txt: whose rules they are
  int robots_redirects = 0;
  Timestamp asked;  // when it was
  // An interrupted part of this run has captured it, and it is not in the log yet.
  std::optional<KeptCaptures::Kept> kept;
  // Nobody is asked for what was kept, or nobody answers: what the archive has is told.
  bool is_retold = false;
  // And that is all: its line in the log.
  bool is_line_only = false;
  // The archive has as much of it, or will have it by another visit, and the log says so: it is
  // neither stored nor logged.
  bool is_surplus = false;

  // Among the pages and the bytes that are under way.
  bool is_counted_page = false;
  std::uint64_t bytes_counted = 0;
  // What its head said, of a fetch that goes on.
  std::uint64_t bytes_announced = 0;
  // Its body was not taken: with what is under way there are as many bytes as may come.
  bool is_over_limit = false;

  bool has_secrets = false;     // the request carries what a person gave
  bool repeats_secret = false;  // the response has a cookie in it that a person gave
  bool hurried = false;         // many others wait to be worked on

  // What the archive has of this URL, where headers may say that nothing changed since.
  std::optional<dedup::KnownDocument> known;
  bool asked_for_changes = false;  // the server was asked to say so: 304

  net::FetchResult result;

  // What work on it gives.
  Outlinks outlinks;
  crawl_log::Line line;  // without URL: it is not logged
  std::string mime_type;
  std::string payload_digest;  // sha1:...
  std::string robots_text;     // of robots.txt, when it is one
  std::string robots_note;     // its rules, for when it is stored
  std::uint64_t payload_bytes = 0;
  bool duplicate = false;
  // What was kept before is something else than what came now; it is here.
  std::optional<catalog::CaptureId> stored;
  dedup::Verdict verdict;                     // why, or why not
  std::optional<PayloadClaims::Claim> claim;  // until it is durable, or known to be a duplicate
  bool again = false;                         // it is to be fetched once more
  Status appended;                            // why it could not be kept
  std::optional<catalog::CaptureId> capture;

  std::string host() const { return std::string(url.host()); }
  // The connection was lost before the end.
  bool is_cut() const { return result.truncation == net::Truncation::kDisconnect; }
  // There is no body, because it is the one that the archive has.
  bool is_unchanged() const {
    constexpr int kNotModified = 304;
    return known && ((asked_for_changes && result.status == kNotModified) ||
                     result.truncation == net::Truncation::kAborted);
  }
};
using VisitPointer = std::shared_ptr<Visit>;

// How far a visit has come.
enum class Stage {
  kFetched,
  kWorked,    // it is about to go to the archive
  kKept,      // behind that: it is durable, or could not be kept
  kToWorkOn,  // in place of both: another visit brought the same payload just now, and is done
};

}  // namespace stele::crawl
