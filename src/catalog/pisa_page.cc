#include "catalog/pisa_page.h"

#include <algorithm>

#include "util/check.h"
#include "util/coding.h"

// Everything is a column of integers: its smallest value, how many bytes the differences to it
// have, and then the lowest bytes of all, the second bytes of all, and so on. Upper bytes are
// alike, which zstd sees; and there is nothing to decide while it is read.
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
  std::vector<std::uint64_t> shared, rest, versions;
  std::string rests;
  std::string_view before;
  for (std::size_t i = 0; i < block.key_count(); ++i) {
    const std::string_view key = block.Key(i);
    const auto differs = std::mismatch(before.begin(), before.end(), key.begin(), key.end());
    const auto same = static_cast<std::size_t>(differs.second - key.begin());
    shared.push_back(same);
    rest.push_back(key.size() - same);
    rests += key.substr(same);
    versions.push_back(block.FirstVersion(i + 1) - block.FirstVersion(i));
    before = key;
  }
  PutColumn(out, shared);
  PutColumn(out, rest);
  out += rests;
  PutColumn(out, versions);
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

bool TakeColumns(ByteReader& in, std::size_t keys, std::size_t versions, PisaColumns& columns) {
  std::vector<std::uint64_t> numbers, more;
  columns.key_ends.reserve(keys);
  if (!TakeColumn(in, keys, numbers) || !TakeColumn(in, keys, more)) return false;
  if (!JoinKeys(in, numbers, more, columns)) return false;
  if (!TakeColumn(in, keys, numbers)) return false;
  std::uint64_t end = 0;
  columns.version_ends.reserve(keys);
  for (const std::uint64_t count : numbers) {
    if (count == 0 || count > versions) return false;
    end += count;
    columns.version_ends.push_back(static_cast<std::uint32_t>(end));
  }
  if (end != versions || !TakeColumn(in, versions, numbers)) return false;
  std::size_t version = 0;
  columns.births.reserve(versions);
  for (const std::uint32_t key_end : columns.version_ends) {
    for (const std::size_t key_begin = version; version < key_end; ++version) {
      if (version > key_begin && numbers[version - 1] >= numbers[version]) return false;
      columns.births.push_back(FromUnsignedTime(numbers[version]));
    }
  }
  return TakeColumn(in, versions, columns.values) && in.AtEnd();
}

}  // namespace

std::string FormatPisaPage(const PisaBlock& block, const std::vector<PisaBlockNumber>& numbers) {
  const bool has_previous = block.previous() != kNoPisaBlock;
  std::string page;
  PutVarint(page, block.level());
  PutSized(page, block.index_key());
  PutSignedVarint(page, block.birth().milliseconds);
  PutSignedVarint(page, block.death().milliseconds);
  PutVarint(page, has_previous ? numbers[block.previous()] + 1 : 0);
  PutVarint(page, block.key_count());
  PutVarint(page, block.version_count());
  PutKeys(page, block);
  std::vector<std::uint64_t> births, values;
  for (std::size_t v = 0; v < block.version_count(); ++v) {
    births.push_back(UnsignedTime(block.BirthOf(v)));
    values.push_back(block.level() == 0 ? block.ValueOf(v) : numbers[block.ValueOf(v)]);
  }
  PutColumn(page, births);
  PutColumn(page, values);
  return page;
}

Result<PisaBlock> ParsePisaPage(std::string_view page) {
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
  if (!TakeColumns(in, keys, versions, columns)) return error;
  PisaBlock block(static_cast<std::uint32_t>(level), std::string(index_key), birth, death,
                  previous - 1, std::move(columns));
  if (birth >= death || (keys > 0 && block.Key(0) < index_key)) return error;
  return block;
}

}  // namespace stele::catalog
