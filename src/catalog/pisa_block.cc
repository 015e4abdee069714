#include "catalog/pisa_block.h"

#include <algorithm>

#include "util/check.h"

// A block is a few flat arrays: it is read far more often than it grows, and on disk it never
// grows. Adding a version moves what lies behind it, at most a block's bytes.
namespace stele::catalog {
namespace {

std::ptrdiff_t At(std::size_t index) { return static_cast<std::ptrdiff_t>(index); }

// The shortest text that is larger than `low` and not larger than `high`. Requires: low < high.
std::string Separator(std::string_view low, std::string_view high) {
  const auto [a, b] = std::mismatch(low.begin(), low.end(), high.begin(), high.end());
  return std::string(high.begin(), b + 1);
}

// How many of the keys go into the low block: as near to half of the live bytes as can be.
std::size_t KeysInLow(const PisaBlock& block) {
  std::size_t low_bytes = 0;
  std::size_t keys = 0;
  while (low_bytes * 2 < block.live_bytes()) {
    low_bytes += block.Key(keys++).size() + kPisaKeyBytes + kPisaVersionBytes;
  }
  const std::size_t last = block.Key(keys - 1).size() + kPisaKeyBytes + kPisaVersionBytes;
  // With the last one, the low block has more than half by `over`; without it, less by `under`.
  const std::size_t over = low_bytes * 2 - block.live_bytes();
  const std::size_t under = 2 * last - over;
  return under < over ? keys - 1 : keys;
}

void CopyLive(const PisaBlock& from, std::size_t first, std::size_t end, PisaBlock& to) {
  for (std::size_t i = first; i < end; ++i) {
    const std::size_t version = from.FirstVersion(i + 1) - 1;
    to.Append(from.Key(i), from.BirthOf(version), from.ValueOf(version), from.NoteOf(i));
  }
}

}  // namespace

void PisaBlock::SetNote(std::size_t i, std::uint32_t note) {
  notes_.resize(key_count());
  notes_[i] = note;
}

std::size_t PisaBlock::LowerBound(std::string_view key) const {
  std::size_t first = 0;
  std::size_t count = key_count();
  while (count > 0) {
    const std::size_t half = count / 2;
    if (Key(first + half) < key) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

std::size_t PisaBlock::VersionAt(std::size_t i, Timestamp time) const {
  const auto first = columns_.births.begin() + At(FirstVersion(i));
  auto end = columns_.births.begin() + At(FirstVersion(i + 1));
  if (*(end - 1) > time) end = std::upper_bound(first, end, time);
  return end == first ? kNone : static_cast<std::size_t>(end - columns_.births.begin()) - 1;
}

std::size_t PisaBlock::FindAt(std::string_view key, Timestamp time) const {
  std::size_t i = LowerBound(key);
  if (!HasKey(i, key) && i-- == 0) return kNone;
  while (VersionAt(i, time) == kNone) {
    if (i-- == 0) return kNone;
  }
  return i;
}

bool PisaBlock::Outlasts(std::size_t i, Timestamp birth) const {
  return columns_.births[columns_.version_ends[i] - 1] < birth && birth_ < birth;
}

std::size_t PisaBlock::Growth(std::string_view key, Timestamp birth) const {
  const std::size_t i = LowerBound(key);
  if (!HasKey(i, key)) return key.size() + kPisaKeyBytes + kPisaVersionBytes;
  return Outlasts(i, birth) ? kPisaVersionBytes : 0;
}

void PisaBlock::Add(std::string_view key, Timestamp birth, std::uint64_t value) {
  Check(death_ == kEndOfTime && key >= index_key_);
  const std::size_t i = LowerBound(key);
  std::size_t version = FirstVersion(i);
  if (HasKey(i, key)) {
    version = columns_.version_ends[i];
    Check(columns_.births[version - 1] <= birth);
    if (!Outlasts(i, birth)) {
      Replace(key, birth, value);
      return;
    }
  } else {
    const auto begin = static_cast<std::uint32_t>(i == 0 ? 0 : columns_.key_ends[i - 1]);
    columns_.keys.insert(begin, key);
    columns_.key_ends.insert(columns_.key_ends.begin() + At(i), begin);
    columns_.version_ends.insert(columns_.version_ends.begin() + At(i),
                                 static_cast<std::uint32_t>(version));
    if (!notes_.empty()) notes_.insert(notes_.begin() + At(i), 0);
    for (std::size_t j = i; j < key_count(); ++j) {
      columns_.key_ends[j] += static_cast<std::uint32_t>(key.size());
    }
  }
  columns_.births.insert(columns_.births.begin() + At(version), birth);
  columns_.values.insert(columns_.values.begin() + At(version), value);
  for (std::size_t j = i; j < key_count(); ++j) ++columns_.version_ends[j];
}

void PisaBlock::Append(std::string_view key, Timestamp birth, std::uint64_t value,
                       std::uint32_t note) {
  if (key_count() == 0 || Key(key_count() - 1) != key) {
    columns_.keys += key;
    columns_.key_ends.push_back(static_cast<std::uint32_t>(columns_.keys.size()));
    columns_.version_ends.push_back(static_cast<std::uint32_t>(columns_.births.size()));
    if (note != 0 || !notes_.empty()) SetNote(key_count() - 1, note);
  }
  columns_.births.push_back(birth);
  columns_.values.push_back(value);
  ++columns_.version_ends.back();
}

void PisaBlock::Replace(std::string_view key, Timestamp birth, std::uint64_t value) {
  const std::size_t i = LowerBound(key);
  Check(HasKey(i, key));
  columns_.births[columns_.version_ends[i] - 1] = birth;
  columns_.values[columns_.version_ends[i] - 1] = value;
}

PisaSplit SplitPisaBlock(PisaBlock& block, PisaBlockNumber number, Timestamp now,
                         const PisaEntry& entry, const PisaLimits& limits) {
  Check(block.key_count() > 0 && block.birth() <= now);
  const PisaBlockNumber previous = block.birth() == now ? block.previous() : number;
  const std::size_t keys = block.key_count();
  const bool replaces = block.HasKey(block.LowerBound(entry.key), entry.key);
  const std::size_t live_bytes =
      block.live_bytes() + (replaces ? 0 : block.Growth(entry.key, entry.birth));
  const bool two = 2 * live_bytes >= 5 * limits.block_bytes_min();
  const std::size_t in_low = two ? KeysInLow(block) : keys;
  PisaSplit split{PisaBlock(block.level(), std::string(block.index_key()), now, previous), two, {}};
  CopyLive(block, 0, in_low, split.low);
  if (two) {
    // Between the keys of an index block lie keys of its children, so there it is the key itself.
    std::string separator = block.level() == 0 ? Separator(block.Key(in_low - 1), block.Key(in_low))
                                               : std::string(block.Key(in_low));
    split.high = PisaBlock(block.level(), std::move(separator), now, previous);
    CopyLive(block, in_low, keys, split.high);
  }
  PisaBlock& target = split.InHigh(entry.key) ? split.high : split.low;
  if (replaces) {
    target.Replace(entry.key, entry.birth, entry.value);
  } else {
    target.Add(entry.key, entry.birth, entry.value);
  }
  block.Close(now);
  return split;
}

}  // namespace stele::catalog
