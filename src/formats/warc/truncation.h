#pragma once

#include <cstdint>
#include <string_view>

#include "formats/record/record.h"

namespace stele::warc {

// Why a block is shorter than what the server had, by WARC-Truncated. kHead is Heritrix's own.
enum class Truncation : std::uint8_t {
  kNone,
  kLength,
  kTime,
  kDisconnect,
  kUnspecified,
  kHead,
  kOther,
};

Truncation TruncationOf(const record::Record& record);

// "length" and so on; empty for kNone and kOther.
std::string_view TruncationName(Truncation truncation);

}  // namespace stele::warc
