#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// UTF-8 as the WHATWG Encoding Standard decodes it.
namespace stele::html {

inline constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";

// The size of the longest prefix that is ASCII.
std::size_t AsciiPrefix(std::string_view bytes);

// The size of the longest prefix that is whole, valid UTF-8.
std::size_t ValidUtf8Prefix(std::string_view bytes);

inline bool IsAscii(std::string_view bytes) { return AsciiPrefix(bytes) == bytes.size(); }
inline bool IsValidUtf8(std::string_view bytes) { return ValidUtf8Prefix(bytes) == bytes.size(); }

// What stands at the start of `bytes`, where ValidUtf8Prefix(bytes) is 0 and bytes is not empty.
struct BrokenUtf8 {
  std::size_t size;  // how many bytes one replacement character stands for
  bool unfinished;   // the bytes end inside a character that may still become valid
};
BrokenUtf8 MeasureBrokenUtf8(std::string_view bytes);

void AppendUtf8(std::string& out, char32_t code_point);

}  // namespace stele::html
