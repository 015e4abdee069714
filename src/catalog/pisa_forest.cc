#include "catalog/pisa_forest.h"

#include <algorithm>

// The printed queries err where they compare: URLTIMEQUERY wants index keys smaller than the key
// and forgets the birth of data entries, and its ie is that of the level above when a level has
// none. docs/pisa.md says more.
namespace stele::catalog {
namespace {

// An index block has a child for each key of its range at each moment of its life.
bool CoversItsRange(const PisaBlock& block) {
  return block.level() == 0 || (block.key_count() > 0 && block.Key(0) == block.index_key() &&
                                block.BirthOf(0) <= block.birth());
}

}  // namespace

std::uint64_t PackCaptureId(CaptureId id) { return std::uint64_t{id.batch} << 32 | id.serial; }

CaptureId UnpackCaptureId(std::uint64_t value) {
  return {static_cast<std::uint32_t>(value >> 32), static_cast<std::uint32_t>(value)};
}

Result<PisaBlockPointer> ReadRootAt(const PisaForest& forest, const PisaPart& part,
                                    Timestamp time) {
  const auto after =
      std::upper_bound(part.roots.begin(), part.roots.end(), time,
                       [](Timestamp t, const PisaRoot& root) { return t < root.birth; });
  if (after == part.roots.begin()) return PisaBlockPointer();
  const PisaRoot& root = *(after - 1);
  Result<PisaBlockPointer> block = forest.Read(root.block);
  if (!block) return block;
  const Timestamp death = after == part.roots.end() ? kEndOfTime : after->birth;
  if ((*block)->index_key() != part.first_key || (*block)->birth() != root.birth ||
      (*block)->death() != death || !CoversItsRange(**block)) {
    return forest.Corrupt(root.block, "it is not the root that it is listed as");
  }
  return block;
}

Result<PisaBlockPointer> ReadChildAt(const PisaForest& forest, const PisaBlock& parent,
                                     std::size_t i, Timestamp time) {
  const std::size_t version = parent.VersionAt(i, time);
  const PisaBlockNumber number = parent.ValueOf(version);
  Result<PisaBlockPointer> child = forest.Read(number);
  if (!child) return child;
  const PisaBlock& block = **child;
  if (block.level() + 1 != parent.level() || block.index_key() != parent.Key(i) ||
      block.birth() != parent.BirthOf(version) || !block.AliveAt(time) || !CoversItsRange(block)) {
    return forest.Corrupt(number, "it is not the block that its parent points to");
  }
  return child;
}

Result<PisaBlockPointer> ReadPrevious(const PisaForest& forest, const PisaBlock& block) {
  if (block.previous() == kNoPisaBlock) return PisaBlockPointer();
  Result<PisaBlockPointer> previous = forest.Read(block.previous());
  if (!previous) return previous;
  // Births become smaller on the way, so it ends.
  if ((*previous)->level() != block.level() || (*previous)->death() != block.birth() ||
      (*previous)->birth() >= block.birth() || (*previous)->index_key() > block.index_key()) {
    return forest.Corrupt(block.previous(), "it is not the earlier version of its successor");
  }
  return previous;
}

Result<PisaBlockPointer> ReadDataBlock(const PisaForest& forest, std::string_view key,
                                       Timestamp time) {
  const std::vector<PisaPart>& parts = forest.parts();
  const auto after =
      std::upper_bound(parts.begin(), parts.end(), key,
                       [](std::string_view k, const PisaPart& part) { return k < part.first_key; });
  if (after == parts.begin()) return PisaBlockPointer();
  Result<PisaBlockPointer> block = ReadRootAt(forest, *(after - 1), time);
  while (block && *block && (*block)->level() > 0) {
    const PisaBlockPointer parent = *block;
    block = ReadChildAt(forest, *parent, parent->FindAt(key, time), time);
  }
  return block;
}

Result<std::optional<PisaCapture>> FindPisaCapture(const PisaForest& forest, std::string_view key,
                                                   Timestamp time) {
  const Result<PisaBlockPointer> block = ReadDataBlock(forest, key, time);
  if (!block) return block.error();
  std::optional<PisaCapture> found;
  if (!*block) return found;
  const std::size_t i = (*block)->LowerBound(key);
  if (!(*block)->HasKey(i, key)) return found;
  const std::size_t version = (*block)->VersionAt(i, time);
  if (version == PisaBlock::kNone) return found;
  found = PisaCapture{std::string(key), (*block)->BirthOf(version), kEndOfTime,
                      UnpackCaptureId((*block)->ValueOf(version))};
  return found;
}

Result<std::vector<PisaCapture>> BacktrackPisaCaptures(const PisaForest& forest,
                                                       std::string_view key, Timestamp first,
                                                       Timestamp last) {
  std::vector<PisaCapture> found;  // the newest first
  Result<PisaBlockPointer> block = ReadDataBlock(forest, key, last);
  // Where the next older version must have been born before.
  Timestamp before = kEndOfTime;
  while (block && *block) {
    const PisaBlock& data = **block;
    const std::size_t i = data.LowerBound(key);
    if (!data.HasKey(i, key)) break;
    for (std::size_t v = data.FirstVersion(i + 1); v-- > data.FirstVersion(i);) {
      const Timestamp birth = data.BirthOf(v);
      if (birth > last || birth >= before || birth >= data.death()) continue;
      found.push_back({std::string(key), birth, before, UnpackCaptureId(data.ValueOf(v))});
      before = birth;
      if (birth <= first) break;
    }
    if (before <= first || data.birth() <= first) break;
    block = ReadPrevious(forest, data);
  }
  if (!block) return block.error();
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace stele::catalog
