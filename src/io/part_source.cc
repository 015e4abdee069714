#include "io/part_source.h"

#include <algorithm>

namespace stele::io {

Result<std::size_t> PartSource::Read(std::span<char> out) {
  while (skip_ > 0) {
    const auto most = std::min<std::uint64_t>(skip_, out.size());
    Result<std::size_t> size = whole_->Read(out.first(static_cast<std::size_t>(most)));
    if (!size || *size == 0) return size;
    skip_ -= *size;
  }
  const auto most = std::min<std::uint64_t>(left_, out.size());
  if (most == 0) return std::size_t{0};
  Result<std::size_t> size = whole_->Read(out.first(static_cast<std::size_t>(most)));
  if (size) left_ -= *size;
  return size;
}

}  // namespace stele::io
