#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "util/result.h"

// A block: one content in a file, behind a header that people can read. docs/formats/block.md.
//
//   0    STELE-BLOCK 1 LF
//   14   Software: stele 0.1.0             LF     26 characters, filled with spaces
//   51   Compression: gzip         LF             12 characters, filled with spaces
//   77   Size: 00000000000000019200 LF            of the content, before compression
//   104  References: 0000000001 LF
//   127  LF
//   128  the content, compressed
namespace stele::store {

inline constexpr std::size_t kBlockHeaderSize = 128;
inline constexpr std::size_t kBlockCompressionLength = 12;
inline constexpr std::size_t kBlockReferencesOffset = 116;
inline constexpr std::size_t kBlockReferencesDigits = 10;
inline constexpr std::uint64_t kBlockReferencesMax = 9'999'999'999;

struct BlockHeader {
  std::string software;     // who wrote it; printable, at most 26 characters
  std::string compression;  // the name of a codec; at most kBlockCompressionLength
  std::uint64_t size = 0;
  std::uint64_t references = 0;

  friend bool operator==(const BlockHeader&, const BlockHeader&) = default;
};

// Requires: fields within their lengths. Always kBlockHeaderSize bytes.
std::string FormatBlockHeader(const BlockHeader& header);

// Reads the header at the start of `bytes`. Strict: what it accepts, FormatBlockHeader() writes
// again byte for byte. Errors: kCorrupt.
Result<BlockHeader> ParseBlockHeader(std::string_view bytes);

// What stands at kBlockReferencesOffset. Requires: references <= kBlockReferencesMax.
std::string FormatBlockReferences(std::uint64_t references);

}  // namespace stele::store
