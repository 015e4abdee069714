#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>

namespace stele::io {

// Dice, passed in so that tests can repeat a throw. Not thread-safe.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t Next() = 0;
};

// From the operating system, some at a time: a process that forks must not use it on both sides.
class SystemRandom final : public Random {
 public:
  std::uint64_t Next() override;

 private:
  std::array<std::uint64_t, 32> values_;
  std::size_t left_ = 0;
};

// The same sequence for the same seed.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t Next() override { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

// A random UUID (RFC 9562, version 4): "f81d4fae-7dec-41d0-8765-00a0c91e6bf6".
std::string NewUuid(Random& random);

}  // namespace stele::io
