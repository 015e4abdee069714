#include "util/coding.h"

namespace stele {
namespace {

void PutLittleEndian(std::string& out, std::uint64_t value, int bytes) {
  char buffer[8];
  for (int i = 0; i < bytes; ++i) buffer[i] = static_cast<char>(value >> (8 * i));
  out.append(buffer, static_cast<std::size_t>(bytes));
}

std::uint64_t LittleEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return value;
}

}  // namespace

void PutFixed32(std::string& out, std::uint32_t value) { PutLittleEndian(out, value, 4); }

void PutFixed64(std::string& out, std::uint64_t value) { PutLittleEndian(out, value, 8); }

void PutVarint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

void PutSignedVarint(std::string& out, std::int64_t value) {
  // The sign goes to the lowest bit.
  PutVarint(out,
            (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

void PutSized(std::string& out, std::string_view bytes) {
  PutVarint(out, bytes.size());
  out += bytes;
}

std::uint64_t ByteReader::Fail() {
  rest_ = {};
  good_ = false;
  return 0;
}

std::string_view ByteReader::Bytes(std::uint64_t size) {
  if (size > rest_.size()) {
    Fail();
    return {};
  }
  const std::string_view bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return bytes;
}

std::uint32_t ByteReader::Fixed32() { return static_cast<std::uint32_t>(LittleEndian(Bytes(4))); }

std::uint64_t ByteReader::Fixed64() { return LittleEndian(Bytes(8)); }

std::uint64_t ByteReader::LongVarint() {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < rest_.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(rest_[i]);
    if (i == 9 && byte > 1) break;  // beyond 64 bits
    if (i > 0 && byte == 0) break;  // longer than needed
    value |= std::uint64_t{byte & 0x7Fu} << (7 * i);
    if (byte < 0x80) {
      rest_.remove_prefix(i + 1);
      return value;
    }
  }
  return Fail();
}

std::string_view ByteReader::Sized() { return Bytes(Varint()); }

}  // namespace stele
