#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/signature.h"

namespace stele::store {

// 1 to 64 of a-z, 0-9, '-' and '_'. Never given to another volume later.
bool IsVolumeName(std::string_view name);

// What a client keeps to get its content back: the volume that holds the block, the content's
// signature and, where another content of that signature was there first, the number of its
// overflow block.
//
//   key      = volume ":" signature [ "." overflow ]
//   signature = 2 to 128 hexadecimal digits, upper case, an even number
//   overflow  = decimal, from 1, no leading zeros, below 2^32
//
// "tomba-1:ADEE2232AF3A4355", "tomba-1:ADEE2232AF3A4355.1"
struct ContentKey {
  std::string volume;
  Signature signature;
  std::uint32_t overflow = 0;

  // Nothing but what Text() writes is read.
  static std::optional<ContentKey> Parse(std::string_view text);
  std::string Text() const;

  friend bool operator==(const ContentKey&, const ContentKey&) = default;
  friend auto operator<=>(const ContentKey&, const ContentKey&) = default;
};

// "ADEE2232AF3A4355" or "ADEE2232AF3A4355.1": the block within its volume.
std::string BlockName(const Signature& signature, std::uint32_t overflow);

struct BlockId {
  Signature signature;
  std::uint32_t overflow = 0;

  friend bool operator==(const BlockId&, const BlockId&) = default;
  friend auto operator<=>(const BlockId&, const BlockId&) = default;
};
std::optional<BlockId> ParseBlockName(std::string_view name);

// The place of a block in a volume tree of `depth` levels: the depth - 1 most significant bytes
// name the directories, the rest names the block. Depth 3: "AD/EE/2232AF3A4355".
// Requires: 1 <= depth <= signature.bytes().size().
std::string Sig2Location(const Signature& signature, std::uint32_t overflow, int depth);

}  // namespace stele::store
