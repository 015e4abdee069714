#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "archive/archive_writer.h"
#include "archive/run_writer.h"
#include "crawl/certificates.h"
#include "crawl/duplicate_settings.h"
#include "crawl/header_filter.h"
#include "crawl/payload_claims.h"
#include "crawl/visit.h"
#include "dedup/archive_originals.h"
#include "dedup/duplicate_finder.h"

namespace stele::crawl {

// What is done with a response, off the thread that plans the crawl: links, digests, the search for
// duplicates, the way into the archive. Thread-safe. Borrows everything for life.
class VisitWork {
 public:
  struct Parts {
    archive::ArchiveWriter& archive;
    archive::RunWriter& writer;
    dedup::DuplicateFinder& duplicates;
    dedup::ArchiveOriginals* originals;  // learns what is kept; null: nobody has to
  };
  // Is told how far a visit has come. Called by any thread; must not wait.
  using Tell = std::function<void(Stage stage, const VisitPointer& visit)>;
  // `product_token` is the name that servers know us by; `favicons` as of OutlinkFinder.
  VisitWork(const Parts& parts, const DuplicateSettings& settings, std::string product_token,
            bool favicons, Tell tell)
      : parts_(parts),
        settings_(settings),
        tell_(std::move(tell)),
        header_filter_(settings, parts.duplicates),
        finder_(std::move(product_token), favicons),
        claims_([this](const VisitPointer& visit) { tell_(Stage::kToWorkOn, visit); }) {}

  const HeaderFilter& header_filter() const { return header_filter_; }

  // Fills in what work gives and hands the capture to the archive. To be done again when it says
  // that it is to be worked on. Requires: there is a response, or it is retold.
  void Do(const VisitPointer& visit);

 private:
  // Not judged yet.
  Result<archive::CrawledCapture> MakeCapture(const VisitPointer& visit);
  // As it would be made if the response that was kept came now.
  Result<archive::CrawledCapture> ReadKept(Visit& visit);
  // Sees to it that it is the only one with its payload while it is judged and kept, where that
  // matters. False: it has to wait.
  bool Claim(const VisitPointer& visit, const archive::CrawledCapture& capture);
  // Judge() and TakeStored().
  Status Decide(Visit& visit, archive::CrawledCapture& capture);
  // Says what it is a duplicate of, if it is one.
  Status Judge(Visit& visit, archive::CrawledCapture& capture);
  // What the archive has of a visit that was kept before counts, whatever came now.
  Status TakeStored(Visit& visit, archive::CrawledCapture& capture);
  Status FindLinks(Visit& visit);
  Status FindLinksInCopy(Visit& visit, const catalog::CaptureId& copy);
  // Fills in what the log says.
  void Describe(Visit& visit, const archive::CrawledCapture& capture);
  void Append(const VisitPointer& visit, const archive::CrawledCapture& capture);
  // From now on it is durable, and may be an original.
  void Learn(const catalog::CaptureId& id, const dedup::PayloadDigest& digest);

  const Parts parts_;
  const DuplicateSettings& settings_;
  const Tell tell_;
  const HeaderFilter header_filter_;
  const OutlinkFinder finder_;
  Certificates certificates_;
  PayloadClaims claims_;
};

// Annotations of the log: links of a document that were left out, with their number; and that a
// response repeats a cookie that a person gave.
inline constexpr std::string_view kLinksLeftOut = "dol:";
inline constexpr std::string_view kRepeatsSecret = "repeatsSecret";

// A line of the log for a visit; what a response says is filled in where there is one.
crawl_log::Line LogLineOf(const Visit& visit, int status);
// Says in it why the URL belongs to the crawl.
void Explain(std::string_view reason, crawl_log::Line& line);

}  // namespace stele::crawl
