#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "formats/html/encoding.h"

// Which encoding a document is in. The order, first answer wins:
//   1. a byte order mark: UTF-8, UTF-16BE, UTF-16LE
//   2. the charset of the Content-Type header
//   3. the document's own word: for HTML the <meta> prescan of the WHATWG standard in the first
//      1024 bytes (UTF-16 there means UTF-8, x-user-defined means windows-1252), then a later
//      <meta>, at which a browser starts over; for CSS @charset; for every kind an XML declaration
//   4. a guess from the bytes: valid UTF-8, else uchardet, with ICU asked where uchardet knows
//      nothing or is known to be weak
//   5. windows-1252
namespace stele::html {

enum class EncodingSource {
  kByteOrderMark,
  kHttpHeader,
  kDocument,  // <meta>, @charset or XML declaration
  kDetected,
  kDefault,
};

struct EncodingChoice {
  Encoding encoding = Encoding::kWindows1252;
  EncodingSource source = EncodingSource::kDefault;
  std::size_t bom_size = 0;  // bytes to skip before decoding
};

inline constexpr std::size_t kPrescanSize = 1024;
inline constexpr std::size_t kLatePrescanSize = 32 << 10;

// Steps 1 to 3 alone: what was declared. `charset` is the header's charset parameter, may be empty.
std::optional<EncodingChoice> DeclaredEncoding(std::string_view content, std::string_view charset);

// All steps. Guesses from at most 16 KiB of text around and after the first byte above 127.
EncodingChoice ChooseEncoding(std::string_view content, std::string_view charset);

// Step 4 and 5 alone.
EncodingChoice DetectEncoding(std::string_view content);

// The <meta> prescan of the first kPrescanSize bytes, then of the first kLatePrescanSize.
std::optional<Encoding> PrescanMeta(std::string_view content);

// The encoding in a `content` attribute such as "text/html; charset=koi8-r".
std::optional<Encoding> EncodingFromMetaContent(std::string_view content);

}  // namespace stele::html
