#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/record/record.h"
#include "io/stream.h"
#include "util/result.h"

namespace stele::cli {

enum class RecordPart {
  kRecord,   // head, block, separator
  kBlock,    //
  kHttp,     // the head of the HTTP message; nothing where there is none
  kPayload,  // without transfer coding
  kDecoded,  // and without content coding
};

// Writes that part of a record to `out`, whose block `read` gives piece by piece and then an empty
// one. `codings` are taken off in place of those that the head names; null: those. Where the block
// is stored compressed, as Tianwang files do, `read` gives it decompressed, and the head that is
// written says so. Bounded memory. Returns what is wrong with what was written, nothing when all is
// right. Errors: kIo, and those of `out`.
Result<std::optional<std::string>> PrintRecord(
    const record::Record& record, RecordPart part,
    const std::function<Result<std::string_view>()>& read, io::Sink& out,
    const std::vector<std::string>* codings = nullptr);

}  // namespace stele::cli
