#include "formats/url/percent.h"

#include "util/ascii.h"

namespace stele::url {

void AppendPercentEncoded(std::string& out, std::string_view text, EncodeSet set) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::size_t copied = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!NeedsEncoding(text[i], set)) continue;
    out.append(text, copied, i - copied);
    const auto byte = static_cast<unsigned char>(text[i]);
    const char escape[3] = {'%', kHex[byte >> 4], kHex[byte & 15]};
    out.append(escape, 3);
    copied = i + 1;
  }
  out.append(text, copied);
}

std::string PercentDecode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && IsAsciiHexDigit(text[i + 1]) &&
        IsAsciiHexDigit(text[i + 2])) {
      out.push_back(static_cast<char>(HexValue(text[i + 1]) * 16 + HexValue(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

}  // namespace stele::url
