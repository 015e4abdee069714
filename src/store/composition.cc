#include "store/composition.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "util/check.h"
#include "util/rabin.h"

namespace stele::store {
namespace {

constexpr std::array<std::string_view, 2> kPlacements = {"modulo", "rendezvous"};

// Rabin fingerprints are linear: those of names that differ a little differ by the same amount for
// every signature. The multiplications spread that over all bits.
std::uint64_t Weight(const std::string& volume, const std::string& signature) {
  std::uint64_t x = RabinFingerprint(volume + ':' + signature);
  x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
  return x ^ x >> 33;
}

// True when `a` comes before `b`, for volumes and their weights.
bool Before(std::uint64_t weight_a, const std::string& a, std::uint64_t weight_b,
            const std::string& b) {
  return weight_a != weight_b ? weight_a > weight_b : a < b;
}

}  // namespace

std::string_view PlacementName(Placement placement) {
  return kPlacements[static_cast<std::size_t>(placement)];
}

std::optional<Placement> PlacementByName(std::string_view name) {
  if (name == kPlacements[0]) return Placement::kModulo;
  if (name == kPlacements[1]) return Placement::kRendezvous;
  return std::nullopt;
}

std::size_t Composition::HomeOf(const Signature& of) const {
  Check(!volumes.empty());
  if (placement == Placement::kModulo) return of.Modulo(volumes.size());
  const std::string hex = of.Hex();
  std::size_t home = 0;
  std::uint64_t most = Weight(volumes.front(), hex);
  for (std::size_t i = 1; i < volumes.size(); ++i) {
    const std::uint64_t weight = Weight(volumes[i], hex);
    if (!Before(weight, volumes[i], most, volumes[home])) continue;
    home = i;
    most = weight;
  }
  return home;
}

std::vector<std::size_t> Composition::OrderFor(const Signature& of) const {
  Check(!volumes.empty());
  std::vector<std::size_t> order(volumes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (placement == Placement::kModulo) {
    std::rotate(order.begin(),
                order.begin() + static_cast<std::ptrdiff_t>(of.Modulo(volumes.size())),
                order.end());
    return order;
  }
  const std::string hex = of.Hex();
  std::vector<std::uint64_t> weights;
  for (const std::string& volume : volumes) weights.push_back(Weight(volume, hex));
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return Before(weights[a], volumes[a], weights[b], volumes[b]);
  });
  return order;
}

}  // namespace stele::store
