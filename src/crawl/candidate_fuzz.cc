#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "crawl/candidate.h"

// Rows of a frontier as a damaged disk may leave them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const stele::Result<stele::crawl::Candidate> candidate = stele::crawl::DecodeCandidate(bytes);
  if (candidate) {
    const auto again = stele::crawl::DecodeCandidate(stele::crawl::EncodeCandidate(*candidate));
    if (!again || !(*again == *candidate)) std::abort();
  }
  static_cast<void>(stele::crawl::SeenKey(bytes));
  return 0;
}
