#include "catalog/pisa_page.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "catalog/capture.h"
#include "util/check.h"
#include "util/coding.h"

// Everything is a column of integers: its smallest value, how many bytes the differences to it
// have, and then the lowest bytes of all, the second bytes of all, and so on. Upper bytes are
// alike, which zstd sees; and there is nothing to decide while it is read.
//
// Versions stand in the order of their births, each with the number of its key, whatever key that
// is: so births and serials are small differences to the ones before, and what is read is handed
// out to the keys, which have their versions in the right order then.
namespace stele::catalog {
namespace {

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

// Rises with time.
std::uint64_t UnsignedTime(Timestamp time) {
  return static_cast<std::uint64_t>(time.milliseconds) ^ kSignBit;
}

Timestamp FromUnsignedTime(std::uint64_t value) {
  return Timestamp{static_cast<std::int64_t>(value ^ kSignBit)};
}

void PutColumn(std::string& out, const std::vector<std::uint64_t>& values) {
  if (values.empty()) return;
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  const std::uint64_t base = *min;
  std::size_t width = 0;
  while (width < 8 && (*max - base) >> (8 * width) != 0) ++width;
  PutVarint(out, base);
  out += static_cast<char>(width);
  for (std::size_t plane = 0; plane < width; ++plane) {
    for (const std::uint64_t value : values) {
      out += static_cast<char>((value - base) >> (8 * plane) & 0xff);
    }
  }
}

// One pass over all planes, with their number known to the compiler.
template <std::size_t kWidth>
void JoinPlanes(const unsigned char* planes, std::size_t width, std::uint64_t base,
                std::vector<std::uint64_t>& values) {
  if constexpr (kWidth > 0) {
    if (width < kWidth) return JoinPlanes<kWidth - 1>(planes, width, base, values);
  }
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t value = base;
    for (std::size_t plane = 0; plane < kWidth; ++plane) {
      value += std::uint64_t{planes[plane * count + i]} << (8 * plane);
    }
    values[i] = value;
  }
}

// False when it is not there.
bool TakeColumn(ByteReader& in, std::size_t count, std::vector<std::uint64_t>& values) {
  values.clear();
  if (count == 0) return true;
  const std::uint64_t base = in.Varint();
  const std::string_view width_byte = in.Bytes(1);
  if (!in.good() || static_cast<unsigned char>(width_byte[0]) > 8) return false;
  const std::size_t width = static_cast<unsigned char>(width_byte[0]);
  const std::string_view planes = in.Bytes(width * count);
  if (!in.good()) return false;
  values.resize(count);
  JoinPlanes<8>(reinterpret_cast<const unsigned char*>(planes.data()), width, base, values);
  return true;
}

void PutKeys(std::string& out, const PisaBlock& block) {
  std::vector<std::uint64_t> shared, rest;
  std::string rests;
  std::string_view before;
  for (std::size_t i = 0; i < block.key_count(); ++i) {
    const std::string_view key = block.Key(i);
    const auto differs = std::mismatch(before.begin(), before.end(), key.begin(), key.end());
    const auto same = static_cast<std::size_t>(differs.second - key.begin());
    shared.push_back(same);
    rest.push_back(key.size() - same);
    rests += key.substr(same);
    before = key;
  }
  PutColumn(out, shared);
  PutColumn(out, rest);
  out += rests;
}

// Small numbers for small differences of either sign; and back.
std::uint64_t Folded(std::int64_t difference) {
  return static_cast<std::uint64_t>(difference) << 1 ^ static_cast<std::uint64_t>(difference >> 63);
}
std::int64_t Unfolded(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// What the upper half of a value is where nothing is odd: the month of a capture's time.
std::int64_t UsualBatch(std::uint64_t level, Timestamp birth) {
  return level == 0 ? std::int64_t{BatchOf(birth)} : 0;
}

// What the lower half is near to: the clock's guess for captures, the page before for pages.
std::int64_t NearSerial(const SerialClock& clock, std::uint64_t level, std::int64_t batch,
                        Timestamp birth, std::int64_t last) {
  if (level > 0) return last;
  return std::int64_t{clock.Guess(static_cast<std::uint32_t>(batch), birth)};
}

// Serials go into `small`: they differ little from their guesses, and others look random.
void PutVersions(std::string& out, std::string& small, const PisaBlock& block,
                 const std::vector<PisaBlockNumber>& numbers, const SerialClock& clock) {
  std::vector<std::pair<std::size_t, std::size_t>> order;  // key and version
  for (std::size_t key = 0; key < block.key_count(); ++key) {
    for (std::size_t v = block.FirstVersion(key); v < block.FirstVersion(key + 1); ++v) {
      order.emplace_back(key, v);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return block.BirthOf(a.second) < block.BirthOf(b.second);
  });
  std::vector<std::uint64_t> keys, births, batches, serials;
  std::uint64_t last_birth = 0;
  std::int64_t last_serial = 0;
  for (const auto& [key, v] : order) {
    const Timestamp birth = block.BirthOf(v);
    const std::uint64_t value = block.level() == 0 ? block.ValueOf(v) : numbers[block.ValueOf(v)];
    const auto serial = static_cast<std::int64_t>(value & 0xFFFF'FFFF);
    const auto batch = static_cast<std::int64_t>(value >> 32);
    keys.push_back(key);
    births.push_back(UnsignedTime(birth) - last_birth);
    batches.push_back(Folded(batch - UsualBatch(block.level(), birth)));
    serials.push_back(Folded(serial - NearSerial(clock, block.level(), batch, birth, last_serial)));
    last_birth = UnsignedTime(birth);
    last_serial = serial;
  }
  // The first one is no difference, and would make them all as wide.
  PutVarint(out, births.empty() ? 0 : births.front());
  if (!births.empty()) births.front() = 0;
  for (const auto* column : {&keys, &births, &batches}) PutColumn(out, *column);
  PutColumn(small, serials);
}

unsigned char Byte(char c) { return static_cast<unsigned char>(c); }

// Puts the keys together from what they share with the one before, and the rest. False when they
// do not rise.
bool JoinKeys(ByteReader& in, const std::vector<std::uint64_t>& shared,
              const std::vector<std::uint64_t>& rest, PisaColumns& columns) {
  std::uint64_t all = 0;
  std::uint64_t all_rest = 0;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < shared.size(); ++i) {
    if (shared[i] > before || rest[i] > kPisaPageKeyBytesMax) return false;
    before = shared[i] + rest[i];
    all += before;
    all_rest += rest[i];
    if (all > kPisaPageKeyBytesMax) return false;
    columns.key_ends.push_back(static_cast<std::uint32_t>(all));
  }
  const std::string_view rests = in.Bytes(all_rest);
  if (!in.good()) return false;
  columns.keys.resize(all);
  char* out = columns.keys.data();
  const char* last = out;
  const char* from = rests.data();
  for (std::size_t i = 0; i < shared.size(); ++i) {
    char* const key = out;
    // Where they differ the later key has a larger byte, or goes on where the other ends.
    if (i > 0 && rest[i] == 0) return false;
    if (last + shared[i] < key && Byte(*from) <= Byte(last[shared[i]])) return false;
    out = std::copy_n(last, shared[i], out);
    out = std::copy_n(from, rest[i], out);
    from += rest[i];
    last = key;
  }
  return true;
}

// The columns of the versions as they stand in the page.
struct VersionColumns {
  std::vector<std::uint64_t> keys;
  std::vector<Timestamp> births;
  std::vector<std::uint64_t> values;
};

// False when there is no such capture or page, or births do not rise.
bool TakeVersions(ByteReader& in, std::uint64_t level, std::size_t count, const SerialClock& clock,
                  VersionColumns& columns) {
  std::uint64_t birth = in.Varint();
  std::int64_t serial = 0;
  std::vector<std::uint64_t> births, batches, serials;
  for (auto* column : {&columns.keys, &births, &batches, &serials}) {
    if (!TakeColumn(in, count, *column)) return false;
  }
  constexpr std::int64_t kMax = 0xFFFF'FFFF;
  columns.births.reserve(count);
  columns.values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (births[i] > std::numeric_limits<std::uint64_t>::max() - birth) return false;
    birth += births[i];
    columns.births.push_back(FromUnsignedTime(birth));
    const std::int64_t step = Unfolded(serials[i]);
    const std::int64_t odd = Unfolded(batches[i]);
    if (step < -kMax || step > kMax || odd < -kMax || odd > kMax) return false;
    const std::int64_t batch = UsualBatch(level, columns.births.back()) + odd;
    if (batch < 0 || batch > kMax) return false;
    serial = NearSerial(clock, level, batch, columns.births.back(), serial) + step;
    if (serial < 0 || serial > kMax) return false;
    columns.values.push_back(static_cast<std::uint64_t>(batch) << 32 |
                             static_cast<std::uint64_t>(serial));
  }
  return true;
}

// Hands the versions out to their keys. False when one has none, or two with the same birth.
bool SortByKey(const VersionColumns& from, std::size_t keys, PisaColumns& to) {
  std::vector<std::uint32_t> next(keys + 1);
  for (const std::uint64_t key : from.keys) {
    if (key >= keys) return false;
    ++next[key + 1];
  }
  for (std::size_t key = 1; key <= keys; ++key) {
    if (next[key] == 0) return false;
    next[key] += next[key - 1];
  }
  to.version_ends.assign(next.begin() + 1, next.end());
  to.births.resize(from.keys.size());
  to.values.resize(from.keys.size());
  for (std::size_t i = 0; i < from.keys.size(); ++i) {
    const auto key = static_cast<std::size_t>(from.keys[i]);
    const std::size_t at = next[key]++;
    const std::size_t first = key == 0 ? 0 : to.version_ends[key - 1];
    if (at > first && to.births[at - 1] >= from.births[i]) return false;
    to.births[at] = from.births[i];
    to.values[at] = from.values[i];
  }
  return true;
}

bool TakeColumns(ByteReader& in, std::uint64_t level, std::size_t keys, std::size_t versions,
                 const SerialClock& clock, PisaColumns& columns) {
  std::vector<std::uint64_t> shared, rest;
  columns.key_ends.reserve(keys);
  if (!TakeColumn(in, keys, shared) || !TakeColumn(in, keys, rest)) return false;
  if (!JoinKeys(in, shared, rest, columns)) return false;
  VersionColumns by_birth;
  return TakeVersions(in, level, versions, clock, by_birth) && in.AtEnd() &&
         SortByKey(by_birth, keys, columns);
}

}  // namespace

PageParts FormatPisaPage(const PisaBlock& block, const std::vector<PisaBlockNumber>& numbers,
                         const SerialClock& clock) {
  const bool has_previous = block.previous() != kNoPisaBlock;
  std::string head;
  PutVarint(head, block.level());
  PutSized(head, block.index_key());
  PutSignedVarint(head, block.birth().milliseconds);
  PutSignedVarint(head, block.death().milliseconds);
  PutVarint(head, has_previous ? numbers[block.previous()] + 1 : 0);
  PutVarint(head, block.key_count());
  PutVarint(head, block.version_count());
  PutKeys(head, block);
  std::string versions;
  std::string serials;
  PutVersions(versions, serials, block, numbers, clock);
  return {std::move(head), std::move(versions), std::move(serials)};
}

Result<PisaBlock> ParsePisaPage(std::string_view page, const SerialClock& clock) {
  const Error error{ErrorCode::kCorrupt, "it is no block of a persistent tree"};
  ByteReader in(page);
  const std::uint64_t level = in.Varint();
  const std::string_view index_key = in.Sized();
  const Timestamp birth{in.SignedVarint()};
  const Timestamp death{in.SignedVarint()};
  const std::uint64_t previous = in.Varint();
  const std::uint64_t keys = in.Varint();
  const std::uint64_t versions = in.Varint();
  if (!in.good() || level > 64 || versions > kPisaPageVersionsMax || keys > versions) return error;
  PisaColumns columns;
  if (!TakeColumns(in, level, keys, versions, clock, columns)) return error;
  PisaBlock block(static_cast<std::uint32_t>(level), std::string(index_key), birth, death,
                  previous - 1, std::move(columns));
  if (birth >= death || (keys > 0 && block.Key(0) < index_key)) return error;
  return block;
}

}  // namespace stele::catalog
