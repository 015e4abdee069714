#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "archive/archive_view.h"
#include "dedup/original_source.h"
#include "io/file_system.h"
#include "util/result.h"

namespace stele::dedup {

// A document that a crawl brought, as whatever there is about the crawl tells it.
struct CrawledDocument {
  std::string url;
  KnownDocument known;
  std::string type;          // media type, without parameters; "unknown" where nothing is said
  std::uint32_t status = 0;  // of HTTP; 0: none
  std::uint64_t length = 0;  // of the payload; 0 for a duplicate that is not told
  // It was found to be a duplicate: `known` is about its original.
  bool is_duplicate = false;
  // Nothing is said about the original but that it has the same payload.
  bool is_unresolved = false;
};

// Goes through what a crawl brought, whatever is left of the crawl. Not thread-safe.
class DocumentReader {
 public:
  virtual ~DocumentReader() = default;
  // Null after the last. The document is valid until the next call, and may be changed. Errors:
  // kIo, kCorrupt; nothing more may be asked then.
  virtual Result<CrawledDocument*> Next() = 0;
  // Places that could not be read so far.
  virtual std::uint64_t skipped() const = 0;
};

// A Heritrix crawl.log, as it is or compressed by gzip. Borrows `fs` for the call. Errors: those of
// opening it.
Result<std::unique_ptr<DocumentReader>> ReadCrawlLog(io::FileSystem& fs, const std::string& path);
// A WARC or ARC file. Payloads are read where the file has no SHA-1 of them.
Result<std::unique_ptr<DocumentReader>> ReadArchiveFile(io::FileSystem& fs,
                                                        const std::string& path);
// All captures of an archive. Borrows `view` for life.
std::unique_ptr<DocumentReader> ReadArchive(const archive::ArchiveView& view);

// A file of either kind, told by its first bytes.
Result<std::unique_ptr<DocumentReader>> ReadDocuments(io::FileSystem& fs, const std::string& path);

}  // namespace stele::dedup
