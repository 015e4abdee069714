#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "catalog/capture.h"

namespace stele::archive {

// A number for a digest; digests are as good as random.
template <std::size_t kSize>
std::uint64_t NumberOf(const std::array<char, kSize>& digest) {
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number;
}

// A number for the payload of a revisit; 0 where it has no digest.
inline std::uint64_t PayloadOf(const catalog::Capture& revisit) {
  if (revisit.sha256) return NumberOf(*revisit.sha256);
  return revisit.sha1 ? NumberOf(*revisit.sha1) : 0;
}

// Payloads that are looked for, by their numbers.
class WantedPayloads {
 public:
  explicit WantedPayloads(std::vector<std::uint64_t> payloads) : payloads_(std::move(payloads)) {
    std::sort(payloads_.begin(), payloads_.end());
    payloads_.erase(std::unique(payloads_.begin(), payloads_.end()), payloads_.end());
    found_.resize(payloads_.size());
  }

  // Finds what a capture has, unless it is a revisit itself.
  void FindIn(const catalog::Capture& capture) {
    if (catalog::IsRevisit(capture)) return;
    if (capture.sha256) Find(NumberOf(*capture.sha256));
    if (capture.sha1) Find(NumberOf(*capture.sha1));
  }
  bool Lacks(std::uint64_t payload) const {
    const auto at = PlaceOf(payload);
    return at && !found_[*at];
  }
  bool lacks_any() const { return std::find(found_.begin(), found_.end(), false) != found_.end(); }

 private:
  void Find(std::uint64_t payload) {
    if (const auto at = PlaceOf(payload)) found_[*at] = true;
  }
  std::optional<std::size_t> PlaceOf(std::uint64_t payload) const {
    const auto at = std::lower_bound(payloads_.begin(), payloads_.end(), payload);
    if (at == payloads_.end() || *at != payload) return std::nullopt;
    return static_cast<std::size_t>(at - payloads_.begin());
  }

  std::vector<std::uint64_t> payloads_;
  std::vector<bool> found_;
};

}  // namespace stele::archive
