#pragma once

#include <optional>
#include <string>
#include <string_view>

// RFC 4648 text forms of bytes. Decoding accepts both cases (hex, base32) and '=' padding, and
// nothing else: any other byte, or a length that no encoder produces, gives nothing.
namespace stele {

std::string HexEncode(std::string_view bytes);  // lower case
std::optional<std::string> HexDecode(std::string_view text);

std::string Base32Encode(std::string_view bytes);  // upper case, no padding
std::optional<std::string> Base32Decode(std::string_view text);

std::string Base64Encode(std::string_view bytes);                // with padding
std::optional<std::string> Base64Decode(std::string_view text);  // also with '-' and '_'

}  // namespace stele
