#include "cli/scratch_digests.h"

namespace stele::cli {

Status ScratchDigests::LoadInto(dedup::ArchiveOriginals& originals) {
  Result<std::unique_ptr<TemporaryFolder>> folder = TemporaryFolder::Make();
  if (!folder) return folder.error();
  folder_ = *std::move(folder);
  Result<std::unique_ptr<dedup::DigestTable>> table =
      dedup::DigestTable::Create(fs_, folder_->path());
  if (!table) return table.error();
  table_ = *std::move(table);
  return originals.LoadDigests(*table_);
}

}  // namespace stele::cli
