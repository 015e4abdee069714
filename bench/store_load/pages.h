#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stele::bench {

// `count` HTML pages of `average_bytes` on average and together exactly count * average_bytes, all
// different, the same for the same seed. Sizes spread as those of web pages do (log-normal), and
// gzip makes about a quarter of them, as of real ones.
std::vector<std::string> MakePages(std::size_t count, std::size_t average_bytes,
                                   std::uint64_t seed);

}  // namespace stele::bench
