#pragma once

#include <cstdint>
#include <mutex>

namespace stele::store {

// Bytes of a volume's capacity that are set aside while a block is written. Borrows both; the mutex
// guards the number.
class Reservation {
 public:
  Reservation(std::mutex& mutex, std::uint64_t& reserved, std::uint64_t bytes)
      : mutex_(mutex), reserved_(reserved), bytes_(bytes) {
    const std::lock_guard lock(mutex_);
    reserved_ += bytes_;
  }
  ~Reservation() {
    const std::lock_guard lock(mutex_);
    reserved_ -= bytes_;
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

 private:
  std::mutex& mutex_;
  std::uint64_t& reserved_;
  const std::uint64_t bytes_;
};

}  // namespace stele::store
