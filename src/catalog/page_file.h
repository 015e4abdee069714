#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "catalog/page_cache.h"
#include "catalog/page_index.h"
#include "catalog/remedy.h"
#include "io/file_system.h"
#include "util/result.h"

namespace stele::catalog {

// Reads what PageFileWriter wrote. Keeps the page index in memory, and pages in a cache that it
// shares with other files. A page whose bytes changed is never handed out: kCorrupt names file,
// page and offset. Thread-safe. Borrows `cache` for life; the file may be removed or replaced
// while it is open.
class PageFile {
 public:
  // `remedy` says in errors what is to be done about a damaged file. Errors: kNotFound; kCorrupt
  // when it is not complete, or of another kind.
  static Result<std::unique_ptr<PageFile>> Open(io::FileSystem& fs, std::string path,
                                                std::string_view kind, PageCache& cache,
                                                std::string_view remedy = kReindexRemedy);
  ~PageFile();

  const PageIndex& index() const { return index_; }
  std::uint32_t pages() const { return index_.size(); }
  const std::string& summary() const { return summary_; }
  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }  // of the whole file

  // Requires: page < pages().
  Result<Page> Read(std::uint32_t page) const;
  // From the disk, leaving the cache as it is: for merges and others who read everything once.
  Result<Page> ReadPast(std::uint32_t page) const;
  // That the page's bytes are those that were written, for less than reading it costs.
  Status CheckPage(std::uint32_t page) const;

  // Reads every page and reports each that is not as it was written. Head, summary and index were
  // checked by Open().
  void Verify(const std::function<void(const Error&)>& report) const;

  // An error about the file as a whole.
  Error Corrupt(std::string_view what) const;
  // An error about a page whose checksum is good and whose content makes no sense.
  Error CorruptPage(std::uint32_t page, std::string_view what) const;

 private:
  PageFile(std::string path, PageCache& cache, std::string_view remedy);
  Status Load(std::string_view kind);
  Result<std::string> ReadBytes(std::uint64_t offset, std::uint64_t length) const;
  Result<std::string> ReadFrame(std::uint64_t offset, std::uint64_t length, std::size_t plain_max,
                                const std::string& name) const;
  Error CorruptFrame(const std::string& name, std::uint64_t offset, const Error& why) const;

  const std::string path_;
  const std::string remedy_;
  PageCache& cache_;
  const std::uint64_t number_;  // in the cache
  std::unique_ptr<io::ReadableFile> file_;
  std::uint64_t bytes_ = 0;
  PageIndex index_;
  std::string summary_;
};

}  // namespace stele::catalog
