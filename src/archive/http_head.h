#pragma once

#include <string>

#include "archive/archive_view.h"
#include "util/result.h"

namespace stele::archive {

// The head of the HTTP response that a record begins with, as it was sent; empty where there is
// none. Reads no more than that. Errors: kCorrupt, kIo.
Result<std::string> ReadResponseHead(StoredRecord& stored);

}  // namespace stele::archive
