#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "codec/registry.h"
#include "io/file_system.h"
#include "store/block_file.h"
#include "store/compression.h"
#include "store/tree_volume.h"

namespace stele::store {

// A content on its way into a tree volume: in memory while it is small, else already the block
// that it may become, under a temporary name. Removes that file unless it was taken. Borrows its
// arguments for life. Not thread-safe.
class TreeVolume::Spool {
 public:
  Spool(TreeVolume& volume, const StoreRequest& request) : volume_(volume), request_(request) {}
  ~Spool();

  // Reads all of the content, compressed as the request says. Errors: kInvalid when it is not what
  // the request says.
  Status Fill(io::Source& sent);

  // The content once more, from its begin.
  Result<std::unique_ptr<io::Source>> Read() const;

  // Writes the block, if that has not been done, and gives it the name `path`. The directory is not
  // synced. Call once.
  Status MoveTo(const std::string& path);

  // Of the block. Requires: Prepare() or MoveTo() succeeded.
  std::uint64_t stored_size() const { return stored_size_; }
  // Compresses a small content, so that its size is known.
  Status Prepare();

 private:
  Status FillMemory(io::Source& content);
  Status FillFile(io::Source& content, const codec::Codec& codec, const Compression& compression);
  BlockHeader Header(std::string_view compression) const;

  TreeVolume& volume_;
  const StoreRequest& request_;
  std::string content_;     // while it is small
  std::string compressed_;  // the same, as it will be stored
  std::string compression_;
  std::string path_;  // of the temporary file; empty: none
  std::uint64_t stored_size_ = 0;
};

}  // namespace stele::store
