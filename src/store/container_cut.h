#pragma once

#include <memory>
#include <optional>

#include "io/file_system.h"
#include "store/container_entry.h"
#include "store/volume.h"

namespace stele::store {

// Cuts the content out of a block's record as it was compressed: a gzip member of its own, made
// without inflating anything. Nothing for a record that no RecordPacker made, which has to be
// inflated. Only what surrounds the content is looked at. Errors: kIo.
Result<std::optional<PackedContent>> CutContent(std::shared_ptr<const io::ReadableFile> file,
                                                const RecordLocation& location,
                                                std::uint64_t content_size);

}  // namespace stele::store
