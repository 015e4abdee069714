#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "catalog/page_frame.h"
#include "catalog/page_index.h"
#include "codec/codec.h"
#include "io/file_system.h"
#include "util/result.h"

namespace stele::catalog {

// Pages hold about this much before compression: what is read from the disk at a time.
inline constexpr std::size_t kPageBytes = 16 << 10;

// Writes a page file, once. It has its name when Finish() succeeded, and no earlier: until then it
// is called `path` + ".new", which goes away with the writer; a crash may leave one behind, which
// the next writer of that path replaces. Not thread-safe. Borrows `fs` for life.
class PageFileWriter {
 public:
  // `kind` is what the pages mean: a word of at most kPageFileKindMax characters. `level` is
  // zstd's.
  static Result<std::unique_ptr<PageFileWriter>> Create(io::FileSystem& fs, std::string path,
                                                        std::string_view kind, int level = 3);
  ~PageFileWriter();

  // Returns the number of the page; the first is 0. Requires: at most kPageBytesMax bytes, and
  // `first_key` not before that of the last page (leave it empty where pages are found by number).
  // After an error nothing but the destructor may be called.
  Result<std::uint32_t> Append(const PageParts& page, std::string_view first_key = {});

  // Adds page index and `summary` (what the file as a whole says about itself; at most
  // kPageBytesMax bytes), syncs, gives the file its name and syncs the directory. After an error
  // the file may have its name, and is complete then. Once.
  Status Finish(std::string_view summary);

  std::uint32_t pages() const { return index_.size(); }
  // Of the file so far, without index and summary.
  std::uint64_t bytes() const { return index_.end(); }

 private:
  PageFileWriter(io::FileSystem& fs, std::string path, int level);
  Status Flush();
  Status FinishFile(std::string_view summary);

  io::FileSystem& fs_;
  const std::string path_;
  std::unique_ptr<io::WritableFile> file_;  // null when it needs no removal
  std::unique_ptr<codec::Encoder> encoder_;
  PageIndex index_;
  std::string pending_;  // not yet handed to the file
};

}  // namespace stele::catalog
