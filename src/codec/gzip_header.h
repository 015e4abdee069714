#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// The header of a gzip member (RFC 1952 §2.3), read in pieces.
//
//   0        2    3    4      8    9    10
//   | 1f 8b | CM | FLG | MTIME | XFL | OS | [XLEN extra] [name 0] [comment 0] [crc16] | deflate ...
namespace stele::codec {

inline constexpr std::size_t kGzipFixedHeaderSize = 10;
inline constexpr std::size_t kGzipTrailerSize = 8;  // CRC32, ISIZE

inline constexpr std::uint8_t kGzipFlagHeaderCrc = 0x02;
inline constexpr std::uint8_t kGzipFlagExtra = 0x04;
inline constexpr std::uint8_t kGzipFlagName = 0x08;
inline constexpr std::uint8_t kGzipFlagComment = 0x10;
inline constexpr std::uint8_t kGzipFlagsReserved = 0xe0;

class GzipHeaderParser {
 public:
  enum class State { kMore, kDone, kBad };

  // Takes bytes from the front of `in`, up to the header's end at most, and adds their number to
  // `consumed`. Once kDone or kBad, takes nothing more. kBad: no gzip magic, a method other than
  // deflate, reserved flags, or a header checksum that does not match.
  State Parse(std::string_view in, std::size_t& consumed);

  void Reset() { *this = GzipHeaderParser(); }

 private:
  enum class Field { kFixed, kExtraLength, kExtra, kName, kComment, kChecksum, kEnd };

  bool Accept(std::uint8_t byte);  // false: bad
  void NextField();
  std::size_t SkipWithin(std::string_view in);

  Field field_ = Field::kFixed;
  State state_ = State::kMore;
  std::uint8_t flags_ = 0;
  std::uint32_t position_ = 0;  // within the field
  std::uint32_t value_ = 0;     // length of the extra field, or the checksum read
  std::uint32_t crc_ = 0;       // of all header bytes so far, kept only when the flags ask for it
  std::uint8_t fixed_[kGzipFixedHeaderSize] = {};
};

}  // namespace stele::codec
