#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "catalog/page_file.h"
#include "catalog/pisa_check.h"
#include "catalog/pisa_segment_format.h"

namespace stele::catalog {

// A segment on disk: persistent trees that never change again. Ask it with FindPisaCapture(),
// BacktrackPisaCaptures() and PisaCursor, for moments from first() until just before end().
// Thread-safe. Borrows `cache` for life; the file may be removed while it is open.
class PisaSegment final : public PisaForest {
 public:
  // Errors: kNotFound; kCorrupt when it is damaged or no segment.
  static Result<std::unique_ptr<PisaSegment>> Open(io::FileSystem& fs, std::string path,
                                                   PageCache& cache);

  Timestamp first() const { return summary_.first; }
  Timestamp end() const { return summary_.end; }
  const PisaSegmentSummary& summary() const { return summary_; }
  const PageFile& file() const { return *file_; }
  const std::string& path() const { return file_->path(); }
  std::uint64_t bytes() const { return file_->bytes(); }
  std::uint32_t pages() const { return file_->pages(); }

  const std::vector<PisaPart>& parts() const override { return summary_.parts; }
  Result<PisaBlockPointer> Read(PisaBlockNumber number) const override;
  Error Corrupt(PisaBlockNumber number, std::string_view what) const override;
  // The same trees, read from the disk each time, which leaves the cache as it is.
  const PisaForest& past_cache() const { return past_cache_; }

  // Reads everything and reports each page that changed on disk, each invariant that does not hold,
  // and pages that belong to no tree. Errors: kIo when it could not be read.
  Status Validate(const std::function<void(const Error&)>& report) const;

 private:
  class PastCache final : public PisaForest {
   public:
    explicit PastCache(const PisaSegment& segment) : segment_(segment) {}
    const std::vector<PisaPart>& parts() const override { return segment_.parts(); }
    Result<PisaBlockPointer> Read(PisaBlockNumber number) const override {
      return segment_.ReadBy(&PageFile::ReadPast, number);
    }
    Error Corrupt(PisaBlockNumber number, std::string_view what) const override {
      return segment_.Corrupt(number, what);
    }

   private:
    const PisaSegment& segment_;
  };

  PisaSegment(std::unique_ptr<PageFile> file, PisaSegmentSummary summary)
      : file_(std::move(file)), summary_(std::move(summary)) {}
  using ReadPage = Result<Page> (PageFile::*)(std::uint32_t page) const;
  Result<PisaBlockPointer> ReadBy(ReadPage read, PisaBlockNumber number) const;

  const std::unique_ptr<PageFile> file_;
  const PisaSegmentSummary summary_;
  const PastCache past_cache_{*this};
};

}  // namespace stele::catalog
