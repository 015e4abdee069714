#pragma once

#include <string_view>

#include "crawl/duplicate_settings.h"
#include "crawl/visit.h"
#include "dedup/duplicate_finder.h"
#include "net/fetch.h"
#include "util/result.h"

namespace stele::crawl {

// Leaves out bodies that, by their headers, the archive has already: by asking the server for them
// only if they changed, or by hanging up after the head. Thread-safe. Borrows both for life.
class HeaderFilter {
 public:
  HeaderFilter(const DuplicateSettings& settings, dedup::DuplicateFinder& duplicates)
      : settings_(settings), duplicates_(duplicates) {}

  bool is_on() const { return settings_.headers.has_value(); }

  // Looks up what the archive has of exactly this URL and changes the request so. Errors: those of
  // the archive.
  Status Arrange(const VisitPointer& visit, net::FetchRequest& request) const;

  // Whether documents of this type may have links in them.
  static bool IsText(std::string_view type);

 private:
  // Adds If-None-Match and If-Modified-Since, as far as the scheme wants them.
  void AskForChanges(Visit& visit, net::FetchRequest& request) const;

  const DuplicateSettings& settings_;
  dedup::DuplicateFinder& duplicates_;
};

}  // namespace stele::crawl
