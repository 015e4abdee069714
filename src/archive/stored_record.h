#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "archive/block_source.h"
#include "archive/open_containers.h"
#include "catalog/capture.h"
#include "formats/record/block_stream.h"
#include "io/file_system.h"
#include "io/stream.h"
#include "util/result.h"

namespace stele::archive {

// One record of a file, open for reading. Not thread-safe.
class StoredRecord final : public BlockSource {
 public:
  // The first record at a place, in the container at `path`, that `is_it` says is meant: where
  // several share a member, they share its offset, too. `open` may be null; else it may have the
  // container, and gets it in the end; it is borrowed for life. Errors: those of opening the file;
  // kCorrupt when there is none.
  using IsIt = std::function<bool(const record::Record&)>;
  static Result<std::unique_ptr<StoredRecord>> Open(io::FileSystem& fs, const std::string& path,
                                                    const catalog::CapturePlace& place,
                                                    const IsIt& is_it, OpenContainers* open);
  ~StoredRecord() override;

  const record::Record& record() const override { return *record_; }
  Result<std::string_view> Read() override;
  // Whether its bytes in the file are its own: in some files, records share a compressed member.
  // Passes all that is left to be read. Errors: kIo, kCorrupt.
  Result<bool> IsAlone();

 private:
  explicit StoredRecord(OpenContainers* open) : open_(open) {}

  OpenContainers* const open_;
  OpenContainers::Lent lent_;
  const record::Record* record_ = nullptr;  // of lent_
  std::optional<record::BlockStream> block_;
  bool good_ = true;
};

// The bytes of a record as they lie in the file at `path`, or in an archive file inside it. Errors:
// those of opening it; kCorrupt, also when they are read.
Result<std::unique_ptr<io::Source>> OpenBytes(io::FileSystem& fs, const std::string& path,
                                              std::uint64_t offset, std::uint64_t length);

}  // namespace stele::archive
