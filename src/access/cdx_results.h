#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "access/cdx_query.h"
#include "access/regex_filter.h"
#include "access/sight.h"
#include "formats/cdx/capture.h"
#include "util/result.h"

namespace stele::access {

// The index lines that answer a query, in its order. Not thread-safe.
class CdxResults {
 public:
  // Errors: kInvalid.
  static Result<std::unique_ptr<CdxResults>> Open(const Sight& sight, CdxQuery query);

  // Null after the last; valid until the next call. Errors: kCorrupt, kIo; kInvalid for a resume
  // key that is none; kFull for a filter that takes too long.
  Result<const cdx::Capture*> Next();
  // With which resumeKey the same query goes on; empty when there is nothing more, or the order is
  // another than that of the index.
  std::string ResumeKey();

 private:
  CdxResults(Sight sight, CdxQuery query) : sight_(std::move(sight)), query_(std::move(query)) {}
  Status Begin();
  // The next line that the filters let through.
  Result<bool> Advance();
  Result<const catalog::HeldCapture*> NextCapture();
  Result<bool> Passes();
  bool Repeats();
  Status CollectLast();

  const Sight sight_;
  const CdxQuery query_;
  std::vector<std::unique_ptr<RegexFilter>> regexes_;  // as query_.filters; null for others
  std::unique_ptr<SeenCaptures> forward_;
  std::unique_ptr<NearestCaptures> nearest_;  // or this
  std::string key_;                           // of nearest_
  std::vector<std::string> collapsed_;        // the values of the last line that was taken
  bool any_ = false;
  cdx::Capture line_;
  std::string resume_;  // behind the last line that was given out
  std::uint64_t skipped_ = 0;
  std::uint64_t given_ = 0;
  std::deque<cdx::Capture> last_;  // of limit=-N
};

}  // namespace stele::access
