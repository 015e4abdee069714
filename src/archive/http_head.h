#pragma once

#include <optional>
#include <string>

#include "archive/archive_view.h"
#include "catalog/capture.h"
#include "util/result.h"

namespace stele::archive {

// The head of the HTTP response that a record begins with, as it was sent; empty where there is
// none. Reads no more than that. Errors: kCorrupt, kIo.
Result<std::string> ReadResponseHead(StoredRecord& stored);

// That of a revisit, whose Content-Encoding and all else hold for the payload that it repeats.
// Nothing where it cannot be read, or is only "not modified".
std::optional<std::string> ReadOwnHead(StoredRecord& revisit);
std::optional<std::string> ReadOwnHead(const ArchiveView& view, const catalog::Capture& revisit);

}  // namespace stele::archive
