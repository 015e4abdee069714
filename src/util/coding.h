#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Numbers and texts as bytes, for binary formats: fixed widths in little-endian order, and varints
// (seven bits a byte, lowest first, the high bit says that more follow).
namespace stele {

void PutFixed32(std::string& out, std::uint32_t value);
void PutFixed64(std::string& out, std::uint64_t value);
void PutVarint(std::string& out, std::uint64_t value);
// Small numbers of either sign become short.
void PutSignedVarint(std::string& out, std::int64_t value);
// The length as a varint, then the bytes.
void PutSized(std::string& out, std::string_view bytes);

// Takes values from the front of bytes that come from outside. What is not there, or no varint
// that PutVarint() writes, reads as 0 or empty, and good() is false from then on.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes = {}) : rest_(bytes) {}

  std::uint32_t Fixed32();
  std::uint64_t Fixed64();
  std::uint64_t Varint() {
    // Most numbers are small.
    if (rest_.empty() || static_cast<unsigned char>(rest_.front()) >= 0x80) return LongVarint();
    const auto value = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::int64_t SignedVarint() {
    const std::uint64_t value = Varint();
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  std::string_view Sized();
  std::string_view Bytes(std::uint64_t size);

  std::string_view rest() const { return rest_; }
  bool AtEnd() const { return rest_.empty(); }
  bool good() const { return good_; }

 private:
  std::uint64_t LongVarint();
  std::uint64_t Fail();

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace stele
