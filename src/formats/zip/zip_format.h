#pragma once

#include <cstddef>
#include <cstdint>

// The numbers of ZIP files. docs/formats/zip.md shows where they stand.
namespace stele::zip {

inline constexpr std::uint32_t kLocalSignature = 0x04034b50;
inline constexpr std::uint32_t kCentralSignature = 0x02014b50;
inline constexpr std::uint32_t kEndSignature = 0x06054b50;
inline constexpr std::uint32_t kEnd64Signature = 0x06064b50;
inline constexpr std::uint32_t kLocator64Signature = 0x07064b50;

inline constexpr std::size_t kLocalBytes = 30;    // without name and extra field
inline constexpr std::size_t kCentralBytes = 46;  // without name, extra field and comment
inline constexpr std::size_t kEndBytes = 22;      // without comment
inline constexpr std::size_t kEnd64Bytes = 56;
inline constexpr std::size_t kLocator64Bytes = 20;
inline constexpr std::size_t kCommentBytesMax = 0xffff;

inline constexpr std::uint16_t kStoredMethod = 0;
inline constexpr std::uint16_t kDeflatedMethod = 8;
inline constexpr std::uint16_t kEncryptedFlag = 1;
inline constexpr std::uint16_t kUtf8Flag = 0x800;
inline constexpr std::uint16_t kExtra64 = 1;  // the extra field with numbers of 64 bits

// What stands for "the number is elsewhere, in 64 bits".
inline constexpr std::uint32_t kElsewhere32 = 0xffffffff;
inline constexpr std::uint16_t kElsewhere16 = 0xffff;

inline constexpr std::uint16_t kVersion = 20;    // that a reader must know
inline constexpr std::uint16_t kVersion64 = 45;  // likewise, for numbers of 64 bits
inline constexpr std::uint16_t kMadeOnUnix = 3 << 8;

}  // namespace stele::zip
