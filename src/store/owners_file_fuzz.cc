#include <cstddef>
#include <cstdint>

#include "store/owners_file.h"
#include "util/check.h"

// Rules that are read are written and read again as the same; no two share an owner or a token.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto rules = stele::store::ParseOwners(text);
  if (!rules) {
    Check(rules.error().text.starts_with("owners file, line "));
    return 0;
  }
  const auto again = stele::store::ParseOwners(stele::store::FormatOwners(*rules));
  Check(again && *again == *rules);
  return 0;
}
