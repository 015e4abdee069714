#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "formats/archive_file/archive_file.h"
#include "formats/record/block_stream.h"
#include "io/file_system.h"
#include "util/result.h"

namespace stele::archive {

// One record of a file, open for reading. Not thread-safe.
class StoredRecord {
 public:
  // The first record at `offset` that `is_it` says is meant: where several share a member, they
  // share its offset, too. Errors: those of opening the file; kCorrupt when there is none.
  using IsIt = std::function<bool(const record::Record&)>;
  static Result<std::unique_ptr<StoredRecord>> Open(io::FileSystem& fs, const std::string& path,
                                                    std::uint64_t offset, const IsIt& is_it);

  // Valid as long as this.
  const record::Record& record() const { return *record_; }

  // The next piece of its block; empty at the end. The view is valid until the next call.
  // Errors: kIo, kCorrupt.
  Result<std::string_view> Read();
  // Whether its bytes in the file are its own: in some files, records share a compressed member.
  // Passes all that is left to be read. Errors: kIo, kCorrupt.
  Result<bool> IsAlone();

 private:
  StoredRecord() = default;

  std::unique_ptr<archive_file::ArchiveFile> file_;
  const record::Record* record_ = nullptr;
  std::optional<record::BlockStream> block_;
};

}  // namespace stele::archive
