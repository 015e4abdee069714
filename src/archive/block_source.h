#pragma once

#include <string_view>

#include "formats/record/record.h"
#include "util/result.h"

namespace stele::archive {

// A record and its block as a stream. Not thread-safe.
class BlockSource {
 public:
  virtual ~BlockSource() = default;

  // Valid as long as this.
  virtual const record::Record& record() const = 0;
  // The next piece of the block; empty at the end. The view is valid until the next call.
  // Errors: kIo, kCorrupt.
  virtual Result<std::string_view> Read() = 0;
};

}  // namespace stele::archive
