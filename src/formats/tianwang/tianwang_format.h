#pragma once

#include <string_view>

// Tianwang format 1.0, as the Web InfoMall of Peking University stores pages; see
// docs/formats/tianwang.md.
namespace stele::tianwang {

inline constexpr std::string_view kVersion = "1.0";

// The attributes, in the order in which they are written.
inline constexpr std::string_view kVersionName = "version";  // rule 5: the first
inline constexpr std::string_view kUrlName = "url";
inline constexpr std::string_view kOriginName = "origin";
inline constexpr std::string_view kDateName = "date";
inline constexpr std::string_view kIpName = "ip";
inline constexpr std::string_view kUnzipLengthName = "unzip-length";
inline constexpr std::string_view kLengthName = "length";  // rule 6: the last

// Longer heads are none, and are not written.
inline constexpr std::size_t kHeadBytesMax = 32 * 1024;

}  // namespace stele::tianwang
