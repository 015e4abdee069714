#include "store/volume.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "io/part_source.h"

namespace stele::store {
namespace {

constexpr std::array<std::pair<VolumeState, std::string_view>, 4> kStates = {{
    {VolumeState::kWritable, "writable"},
    {VolumeState::kReadOnly, "read-only"},
    {VolumeState::kFrozen, "frozen"},
    {VolumeState::kFull, "full"},
}};

bool IsName(std::string_view text, std::size_t size_max) {
  return !text.empty() && text.size() <= size_max &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}

}  // namespace

std::string_view VolumeStateName(VolumeState state) {
  return kStates[static_cast<std::size_t>(state)].second;
}

Result<PackedContent> Volume::RetrievePacked(const ContentKey& key) {
  const Result<BlockInfo> info = Stat(key);
  if (!info) return info.error();
  Result<std::unique_ptr<io::Source>> content = Retrieve(key);
  if (!content) return content.error();
  return PackedContent{"identity", info->size, info->size, *std::move(content)};
}

Result<std::unique_ptr<io::Source>> Volume::RetrieveRange(const ContentKey& key,
                                                          std::uint64_t offset,
                                                          std::uint64_t length) {
  Result<std::unique_ptr<io::Source>> content = Retrieve(key);
  if (!content) return content;
  return std::unique_ptr<io::Source>(
      std::make_unique<io::PartSource>(*std::move(content), offset, length));
}

std::optional<VolumeState> VolumeStateByName(std::string_view name) {
  for (const auto& [state, known] : kStates) {
    if (known == name) return state;
  }
  return std::nullopt;
}

bool IsOwner(std::string_view owner) { return IsName(owner, 64); }

Error NoSuchContent(const Signature& signature, std::string_view volume) {
  return {ErrorCode::kNotFound,
          fmt::format("volume {} does not have this content of {}", volume, signature.Hex())};
}

bool IsOperation(const Operation& operation) {
  return IsOwner(operation.owner) && IsName(operation.id, 128);
}

}  // namespace stele::store
