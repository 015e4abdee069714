#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "io/file_system.h"

namespace stele::store {

// How much of a disk is free. Asking costs a few microseconds, of which many requests have none to
// spare: while there is plenty, an answer holds for a moment. Thread-safe.
class DiskSpace {
 public:
  // `plenty` is more than can be written during `moment`.
  struct Options {
    std::chrono::milliseconds moment{50};
    std::uint64_t plenty = std::uint64_t{1} << 30;
  };
  DiskSpace(io::FileSystem& fs, std::string directory, Options options)
      : fs_(fs), directory_(std::move(directory)), options_(options) {}

  // None where the disk does not say: writing will show it.
  std::optional<std::uint64_t> FreeBytes() const {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    if (now.count() < good_until_) return plenty_;
    const Result<std::uint64_t> free = fs_.FreeBytes(directory_);
    if (!free) return std::nullopt;
    if (*free > options_.plenty) {
      plenty_ = *free;
      good_until_ = std::chrono::steady_clock::duration(now + options_.moment).count();
    }
    return *free;
  }

 private:
  io::FileSystem& fs_;
  const std::string directory_;
  const Options options_;
  mutable std::atomic<std::uint64_t> plenty_ = 0;
  mutable std::atomic<std::chrono::steady_clock::rep> good_until_ = 0;
};

}  // namespace stele::store
