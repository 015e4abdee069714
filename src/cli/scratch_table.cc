#include "cli/scratch_table.h"

namespace stele::cli {

Status ScratchTable::Open() {
  Result<std::unique_ptr<TemporaryFolder>> folder = TemporaryFolder::Make();
  if (!folder) return folder.error();
  folder_ = *std::move(folder);
  Result<std::unique_ptr<store::BlockTable>> table =
      store::OpenScratchRocksTable(folder_->path() + "/table");
  if (!table) return table.error();
  table_ = *std::move(table);
  return {};
}

}  // namespace stele::cli
