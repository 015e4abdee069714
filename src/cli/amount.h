#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stele::cli {

// A number of bytes as people say it: "812 B", "3.4 kB", "38 MB", "1.2 GB". Decimal.
std::string ByteCount(std::uint64_t bytes);

// "1 file", "3 files": `noun` is in the singular, and its plural has an s.
std::string Count(std::uint64_t number, std::string_view noun);

}  // namespace stele::cli
