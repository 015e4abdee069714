#pragma once

#include <memory>

#include "cli/temporary_folder.h"
#include "store/container_table.h"
#include "util/result.h"

namespace stele::cli {

// A table for rows that a command needs while it runs, in a temporary folder. Goes with it.
class ScratchTable {
 public:
  // Errors: kIo, kFull.
  Status Open();
  // Requires: Open() worked.
  store::BlockTable& table() { return *table_; }

 private:
  std::unique_ptr<TemporaryFolder> folder_;
  std::unique_ptr<store::BlockTable> table_;
};

}  // namespace stele::cli
