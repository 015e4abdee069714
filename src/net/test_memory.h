#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>

#include "io/stream.h"

// How much memory a test takes, and large contents that need none.
namespace stele::net {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMemoryIsOurs = false;
#elif defined(__has_feature)
inline constexpr bool kMemoryIsOurs =
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
inline constexpr bool kMemoryIsOurs = true;
#endif

// In bytes, since ForgetPeak().
inline std::size_t PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6)) << 10;
  }
  return 0;
}
inline void ForgetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

// `size` bytes, each of which depends on its position.
class PatternSource final : public io::Source {
 public:
  explicit PatternSource(std::size_t size) : size_(size) {}
  Result<std::size_t> Read(std::span<char> out) override {
    const std::size_t size = std::min(out.size(), size_ - at_);
    for (std::size_t i = 0; i < size; ++i) out[i] = ByteAt(at_ + i);
    at_ += size;
    return size;
  }
  static char ByteAt(std::size_t at) { return static_cast<char>(at * 2654435761U >> 13); }

 private:
  std::size_t size_;
  std::size_t at_ = 0;
};

// How many bytes follow the pattern.
inline std::size_t CountPattern(io::Source& source) {
  std::string piece(64 << 10, '\0');
  std::size_t at = 0;
  for (;;) {
    const Result<std::size_t> size = source.Read(piece);
    if (!size || *size == 0) return at;
    for (std::size_t i = 0; i < *size; ++i, ++at) {
      if (piece[i] != PatternSource::ByteAt(at)) return at;
    }
  }
}

}  // namespace stele::net
