#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "codec/codec.h"

// Codec::Compress and Codec::Decompress in terms of the streaming classes, for the formats that
// have no faster way.
namespace stele::codec {

// Requires: `encoder` at the start of a stream.
Result<std::string> CompressWith(Encoder& encoder, std::string_view bytes);

// Requires: `decoder` at the start of a stream. Errors as Codec::Decompress.
Result<std::string> DecompressWith(Decoder& decoder, std::string_view bytes, std::size_t size_max);

}  // namespace stele::codec
