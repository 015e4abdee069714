#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "archive/archive_writer.h"
#include "catalog/page_cache.h"
#include "crawl/duplicate_settings.h"
#include "dedup/archive_originals.h"
#include "dedup/digest_index.h"
#include "dedup/digest_table.h"
#include "dedup/duplicate_finder.h"
#include "io/file_system.h"
#include "util/result.h"

namespace stele::crawl {

// What a run knows when it begins: the captures of its archive, and what a digest index says is
// kept elsewhere. Thread-safe.
class KnownDocuments {
 public:
  // Whether the index that they name, if any, can be asked what this crawl will ask. Does not read
  // it whole. Errors: kInvalid when it was not built for that; those of the index.
  static Status CheckIndex(io::FileSystem& fs, const DuplicateSettings& settings);

  // Reads that index. Errors: those of CheckIndex(), kCorrupt, kInvalid for the settings.
  static Result<std::unique_ptr<KnownDocuments>> Load(io::FileSystem& fs,
                                                      const DuplicateSettings& settings);
  // Reads what look-ups in the archive need; `scratch` is a folder for that, which may be there
  // already. That originals may be elsewhere is in the archive's ledger when this returns. Once,
  // before all below. Borrows `archive` for life. `unfinished` are captures of this run that will
  // be judged once more: they are no originals of themselves. Errors: those of the archive.
  Status Begin(io::FileSystem& fs, archive::ArchiveWriter& archive, std::uint32_t run,
               const std::string& scratch, const std::vector<catalog::CaptureId>& unfinished);

  dedup::DuplicateFinder& finder() { return *finder_; }
  // To be told of what is kept, so that it is an original for what comes later. Null: nobody asks.
  dedup::ArchiveOriginals* learner() { return digests_ ? originals_.get() : nullptr; }

 private:
  explicit KnownDocuments(const DuplicateSettings& settings)
      : settings_(settings), cache_(kCacheBytes) {}
  Status OpenIndex(io::FileSystem& fs);
  Status ReadIndex(io::FileSystem& fs);
  // Says in the ledger that originals may be elsewhere.
  Status Depend(io::FileSystem& fs, archive::ArchiveWriter& archive, std::uint32_t run) const;

  static constexpr std::size_t kCacheBytes = std::size_t{64} << 20;
  const DuplicateSettings settings_;
  catalog::PageCache cache_;
  dedup::DuplicateRules rules_;
  std::unique_ptr<dedup::DigestTable> digests_;  // null: nobody looks for a payload
  std::unique_ptr<dedup::ArchiveOriginals> originals_;
  std::unique_ptr<dedup::DigestIndex> index_;
  std::unique_ptr<dedup::DuplicateFinder> finder_;
};

}  // namespace stele::crawl
