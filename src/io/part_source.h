#pragma once

#include <cstdint>
#include <memory>

#include "io/stream.h"

namespace stele::io {

// A part of another source: `size` bytes of it, fewer where it ends. What is before `begin` is read
// and passed over.
class PartSource final : public Source {
 public:
  PartSource(std::unique_ptr<Source> whole, std::uint64_t begin, std::uint64_t size)
      : whole_(std::move(whole)), skip_(begin), left_(size) {}
  Result<std::size_t> Read(std::span<char> out) override;

 private:
  std::unique_ptr<Source> whole_;
  std::uint64_t skip_;
  std::uint64_t left_;
};

}  // namespace stele::io
