#include <cstddef>
#include <cstdint>

#include "store/membership.h"
#include "store/signature_filter.h"
#include "util/check.h"
#include "util/rabin.h"

#include <fmt/format.h>

// What is read is written again as the same bytes. The sum is made good first, or no fuzzer would
// ever get past it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele::store;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string text =
      fmt::format("STELE-MEMBER 1\nsum {:016X}\n{}", stele::RabinFingerprint(bytes), bytes);
  const auto membership = ParseMembership(text);
  if (membership) Check(FormatMembership(*membership) == text);
  const auto filter = SignatureFilter::Parse(bytes);
  if (filter) Check(filter->Bytes() == bytes);
  return 0;
}
