#pragma once

#include <functional>

#include "archive/run_writer.h"
#include "crawl/visit.h"
#include "dedup/duplicate_finder.h"

namespace stele::crawl {

// What is done with a response, off the thread that plans the crawl: links, digests, the search for
// duplicates, the way into the archive. Thread-safe. Borrows everything for life.
class VisitWork {
 public:
  VisitWork(archive::RunWriter& writer, dedup::DuplicateFinder& duplicates)
      : writer_(writer), duplicates_(duplicates) {}

  // Fills in what work gives and hands the capture to the archive. `worked` is called before that,
  // and `kept` when it is durable, or could not be kept. Requires: there is a response.
  void Do(const VisitPointer& visit, const std::function<void()>& worked,
          std::function<void()> kept);

 private:
  Result<archive::CrawledCapture> MakeCapture(const VisitPointer& visit);

  archive::RunWriter& writer_;
  dedup::DuplicateFinder& duplicates_;
  OutlinkFinder finder_;
};

// A line of the log for a visit; what a response says is filled in where there is one.
crawl_log::Line LogLineOf(const Visit& visit, int status);

}  // namespace stele::crawl
