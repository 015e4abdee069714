#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// The bytes around the pages of a page file. docs/formats/page-file.md.
namespace stele::catalog {

inline constexpr std::size_t kPageFileHeadSize = 32;
inline constexpr std::size_t kPageFileTailSize = 40;
inline constexpr std::size_t kPageFileKindMax = 17;

// "STELE-PAGES 1 location         \n". Requires: at most kPageFileKindMax printable characters.
std::string FormatPageFileHead(std::string_view kind);

// What the last bytes say: the frames of the summary and of the page index lie one after the
// other before them.
struct PageFileTail {
  std::uint64_t summary_offset = 0;  // where the last page ends
  std::uint64_t index_offset = 0;

  friend bool operator==(const PageFileTail&, const PageFileTail&) = default;
};
// `offset` is where it begins in the file.
std::string FormatPageFileTail(const PageFileTail& tail, std::uint64_t offset);
// False when these are not the last bytes of a complete file. Fills `tail` otherwise; the offsets
// are in order, before `offset`, and leave room for the head.
bool ParsePageFileTail(std::string_view bytes, std::uint64_t offset, PageFileTail& tail);

}  // namespace stele::catalog
