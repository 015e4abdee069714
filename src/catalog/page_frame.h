#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.h"
#include "util/result.h"

// How a page lies in a page file: compressed where that helps, and with a checksum that also knows
// its place, so that bytes that belong elsewhere are not taken for it. docs/formats/page-file.md.
namespace stele::catalog {

// The bytes of a page, which are one after the other when it is read. Each part is compressed by
// itself: put together what is alike, and apart what cannot be compressed.
using PageParts = std::vector<std::string>;
std::size_t SizeOf(const PageParts& parts);

inline constexpr std::size_t kPageBytesMax = 4 << 20;   // of one page, not compressed
inline constexpr std::size_t kIndexBytesMax = 1 << 30;  // of all first keys of a file
inline constexpr std::size_t kFrameHeadSize = 8;        // two lengths
inline constexpr std::size_t kFrameOverhead = 8 + 8;    // and the checksum

// Appends the frame that holds `parts` to `out`. `offset` is where it will begin in its file.
// Requires: they have at most kIndexBytesMax bytes. `encoder` makes zstd frames.
void AppendFrame(const PageParts& parts, std::uint64_t offset, codec::Encoder& encoder,
                 std::string& out);

// Whether the bytes are those that were written. Errors: kCorrupt, saying what is wrong but not
// where.
Status CheckFrame(std::string_view frame, std::uint64_t offset);

// What the frame holds. Errors: likewise.
Result<std::string> OpenFrame(std::string_view frame, std::uint64_t offset, std::size_t plain_max,
                              codec::Decoder& decoder);

}  // namespace stele::catalog
