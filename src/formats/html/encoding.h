#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// The character encodings of the web, as the WHATWG Encoding Standard lists them.
namespace stele::html {

enum class Encoding : std::uint8_t {
  kUtf8,
  kIbm866,
  kIso8859_2,
  kIso8859_3,
  kIso8859_4,
  kIso8859_5,
  kIso8859_6,
  kIso8859_7,
  kIso8859_8,
  kIso8859_8I,
  kIso8859_10,
  kIso8859_13,
  kIso8859_14,
  kIso8859_15,
  kIso8859_16,
  kKoi8R,
  kKoi8U,
  kMacintosh,
  kWindows874,
  kWindows1250,
  kWindows1251,
  kWindows1252,
  kWindows1253,
  kWindows1254,
  kWindows1255,
  kWindows1256,
  kWindows1257,
  kWindows1258,
  kMacCyrillic,
  kGbk,
  kGb18030,
  kBig5,
  kEucJp,
  kIso2022Jp,
  kShiftJis,
  kEucKr,
  kReplacement,  // labels of encodings that can hide markup; decodes to one U+FFFD
  kUtf16Be,
  kUtf16Le,
  kUserDefined,
};

inline constexpr int kEncodingCount = static_cast<int>(Encoding::kUserDefined) + 1;

// The canonical name, in the standard's own spelling: "windows-1252", "Shift_JIS".
std::string_view EncodingName(Encoding encoding);

// Any label a page or a server may use, in any case, with white space around it:
// " Latin1 " is windows-1252. Nothing for labels the standard does not know.
std::optional<Encoding> EncodingForLabel(std::string_view label);

// One byte, one character.
bool IsSingleByte(Encoding encoding);

// True where a byte below 0x40 always is the ASCII character it looks like, so that markup can be
// found without decoding. False for UTF-16, ISO-2022-JP and the replacement encoding.
bool HasAsciiMarkup(Encoding encoding);

}  // namespace stele::html
