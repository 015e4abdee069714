#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "catalog/capture.h"

namespace stele::crawl {

// Payloads that are looked up or on their way into the archive. A payload that comes twice at once
// would not be found there by either; so one has it, and the others wait until it is an original or
// will be none. Thread-safe.
class PayloadClaims {
 public:
  using Payload = catalog::Sha256Bytes;

  class Claim {
   public:
    Claim(PayloadClaims& claims, const Payload& payload) : claims_(claims), payload_(payload) {}
    // Others may have it from now on.
    ~Claim() { claims_.Release(payload_); }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

   private:
    PayloadClaims& claims_;
    const Payload payload_;
  };

  // Null when somebody has it: then `again` is called once, by the thread that ends that claim. The
  // claim must not outlive this object.
  std::shared_ptr<Claim> TryClaim(const Payload& payload, std::function<void()> again);

 private:
  // Digests are as good as hashes.
  struct Hash {
    std::size_t operator()(const Payload& payload) const {
      std::size_t hash = 0;
      std::memcpy(&hash, payload.data(), sizeof(hash));
      return hash;
    }
  };
  void Release(const Payload& payload);

  std::mutex mutex_;
  // Who waits for each.
  std::unordered_map<Payload, std::vector<std::function<void()>>, Hash> claimed_;
};

}  // namespace stele::crawl
