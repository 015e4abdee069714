#include "store/compare.h"

#include <cstring>
#include <span>
#include <string>

namespace stele::store {
namespace {

constexpr std::size_t kPieceBytes = 64 * 1024;

// Fills `out` unless the source ends before.
Result<std::size_t> ReadFully(io::Source& source, std::span<char> out) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    const Result<std::size_t> read = source.Read(out.subspan(filled));
    if (!read) return read.error();
    if (*read == 0) break;
    filled += *read;
  }
  return filled;
}

}  // namespace

Result<bool> HaveSameBytes(io::Source& a, io::Source& b) {
  std::string piece_a(kPieceBytes, '\0');
  std::string piece_b(kPieceBytes, '\0');
  for (;;) {
    const Result<std::size_t> in_a = ReadFully(a, piece_a);
    if (!in_a) return in_a.error();
    const Result<std::size_t> in_b = ReadFully(b, piece_b);
    if (!in_b) return in_b.error();
    if (*in_a != *in_b || std::memcmp(piece_a.data(), piece_b.data(), *in_a) != 0) return false;
    if (*in_a < piece_a.size()) return true;
  }
}

}  // namespace stele::store
