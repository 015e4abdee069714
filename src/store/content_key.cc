#include "store/content_key.h"

#include <algorithm>

#include "util/ascii.h"
#include "util/check.h"

namespace stele::store {

bool IsVolumeName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return IsAsciiLower(c) || IsAsciiDigit(c) || c == '-' || c == '_';
  });
}

std::string BlockName(const Signature& signature, std::uint32_t overflow) {
  std::string name = signature.Hex();
  if (overflow > 0) name += '.' + std::to_string(overflow);
  return name;
}

std::optional<BlockId> ParseBlockName(std::string_view name) {
  const std::size_t dot = name.find('.');
  const std::optional<Signature> signature = Signature::Parse(name.substr(0, dot));
  if (!signature) return std::nullopt;
  if (dot == std::string_view::npos) return BlockId{*signature, 0};
  const std::string_view digits = name.substr(dot + 1);
  const std::optional<std::uint64_t> overflow = ParseDecimal(digits);
  if (!overflow || digits.front() == '0' || *overflow > UINT32_MAX) return std::nullopt;
  return BlockId{*signature, static_cast<std::uint32_t>(*overflow)};
}

std::optional<ContentKey> ContentKey::Parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || !IsVolumeName(text.substr(0, colon))) return std::nullopt;
  const std::optional<BlockId> block = ParseBlockName(text.substr(colon + 1));
  if (!block) return std::nullopt;
  return ContentKey{std::string(text.substr(0, colon)), block->signature, block->overflow};
}

std::string ContentKey::Text() const { return volume + ':' + BlockName(signature, overflow); }

std::string Sig2Location(const Signature& signature, std::uint32_t overflow, int depth) {
  Check(depth >= 1 && static_cast<std::size_t>(depth) <= signature.bytes().size());
  const std::string name = BlockName(signature, overflow);
  std::string location;
  std::size_t taken = 0;
  for (int level = 1; level < depth; ++level, taken += 2) {
    location += name.substr(taken, 2) + '/';
  }
  return location + name.substr(taken);
}

}  // namespace stele::store
