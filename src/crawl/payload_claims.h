#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "catalog/capture.h"

namespace stele::crawl {

struct Visit;

// Payloads that are looked up or on their way into the archive. A payload that comes twice at once
// would not be found there by either; so one visit has it, and the others wait until it is an
// original or will be none. Now and then one waits for another payload, whose digest is alike in
// some bits. Thread-safe.
class PayloadClaims {
 public:
  using Payload = catalog::Sha256Bytes;
  using Waiting = std::shared_ptr<Visit>;

  // `again` is called once for each that had to wait, by the thread that ends the claim.
  explicit PayloadClaims(std::function<void(const Waiting& visit)> again);

  class Claim {
   public:
    Claim(PayloadClaims& claims, std::size_t place) : claims_(&claims), place_(place) {}
    Claim(Claim&& other) noexcept
        : claims_(std::exchange(other.claims_, nullptr)), place_(other.place_) {}
    Claim& operator=(Claim&& other) noexcept {
      std::swap(claims_, other.claims_);
      std::swap(place_, other.place_);
      return *this;
    }
    // Others may have it from now on.
    ~Claim() {
      if (claims_ != nullptr) claims_->Release(place_);
    }

   private:
    PayloadClaims* claims_;
    std::size_t place_;
  };

  // Nothing when somebody has it: then `visit` waits. A claim must not outlive this object.
  std::optional<Claim> TryClaim(const Payload& payload, const Waiting& visit);

 private:
  // By bits of a digest; which of them, no server can know that wants others to wait. A row of a
  // table for each claim would cost more than all the rest: one thread takes its memory and another
  // gives it back.
  static constexpr int kPlaceBits = 20;

  void Release(std::size_t place);

  const std::function<void(const Waiting& visit)> again_;
  const std::uint64_t factor_;
  std::mutex mutex_;
  std::vector<bool> claimed_ = std::vector<bool>(std::size_t{1} << kPlaceBits);
  std::unordered_map<std::size_t, std::vector<Waiting>> waiting_;
};

}  // namespace stele::crawl
