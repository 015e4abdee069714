#include "catalog_load/contender.h"

#include <cstdio>
#include <cstdlib>

namespace stele::bench {
namespace {

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

// What making captures costs by itself.
class Nothing final : public Contender {
 public:
  void Add(std::span<const Row>) override {}
  void Finish() override {}
  void Nearest(std::string_view, Timestamp, const Take&) override {}
  std::size_t NearestLine(std::string_view, Timestamp) override { return 0; }
  void Span(std::string_view, Timestamp, Timestamp, const Take&) override {}
  void Prefix(std::string_view, const Take&) override {}
  void AcquiredIn(Timestamp, Timestamp, const Take&) override {}
  void Alive(std::string_view, Timestamp, Timestamp, const Take&) override {}
};

}  // namespace

std::unique_ptr<Contender> MakeNothing(const std::string&, bool) {
  return std::make_unique<Nothing>();
}

void Require(bool good, std::string_view what) {
  if (good) return;
  std::fprintf(stderr, "catalog_load: %.*s\n", static_cast<int>(what.size()), what.data());
  std::exit(1);
}

std::string SortedKey(std::string_view key, Timestamp time) {
  std::string sorted(key);
  sorted += '\0';
  const std::uint64_t bits = static_cast<std::uint64_t>(time.milliseconds) ^ kSignBit;
  for (int shift = 56; shift >= 0; shift -= 8) sorted += static_cast<char>(bits >> shift);
  return sorted;
}

std::string_view KeyPart(std::string_view sorted) { return sorted.substr(0, sorted.size() - 9); }

Timestamp TimePart(std::string_view sorted) {
  std::uint64_t bits = 0;
  for (const char byte : sorted.substr(sorted.size() - 8)) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
  }
  return {static_cast<std::int64_t>(bits ^ kSignBit)};
}

}  // namespace stele::bench
