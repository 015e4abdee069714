#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stele::cli {

// A number of bytes as people say it: "812 B", "3.4 kB", "38 MB", "1.2 GB". Decimal.
std::string ByteCount(std::uint64_t bytes);

// "1 file", "3 files": `noun` is in the singular, and its plural has an s.
std::string Count(std::uint64_t number, std::string_view noun);

// Bytes as people type them: "1500", "20kB", "1.5 GB"; powers of 1000, and of 1024 with an i
// ("MiB").
std::optional<std::uint64_t> ParseByteCount(std::string_view text);

// "2.5", "30s", "10m", "2h", "7d"; seconds where no unit is given.
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text);
// "0.3s", "12s", "4m10s", "2h05m"
std::string DurationText(std::chrono::milliseconds time);

}  // namespace stele::cli
