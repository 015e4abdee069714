#include "cli/visible_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace stele::cli {
namespace {

// How many bytes at the begin of the text are a character that is not to be shown; 0: none.
std::size_t HiddenLength(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  const bool is_c0 = (byte < 0x20 && text[0] != '\n' && text[0] != '\t') || byte == 0x7f;
  if (is_c0) return 1;
  const bool is_c1 = byte == 0xc2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xa0;
  if (is_c1) return 2;
  if (byte != 0xe2 || text.size() < 3) return 0;
  const std::string_view point = text.substr(1, 2);
  const bool embeds = point >= "\x80\xaa" && point <= "\x80\xae";    // U+202A to U+202E
  const bool isolates = point >= "\x81\xa6" && point <= "\x81\xa9";  // U+2066 to U+2069
  return embeds || isolates ? 3 : 0;
}

}  // namespace

std::string VisibleText(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t hidden = HiddenLength(text.substr(i));
    for (const char c : text.substr(i, hidden)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    if (hidden == 0) out += text[i];
    i += std::max<std::size_t>(hidden, 1);
  }
  return out;
}

}  // namespace stele::cli
