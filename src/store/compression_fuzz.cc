// A compression table that a person wrote: read or refused, and a table that was read decides.
#include <cstddef>
#include <cstdint>

#include "store/compression.h"
#include "util/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto table = stele::store::CompressionTable::Parse(text);
  if (table) Check(!table->Choose(text.substr(0, text.find(' '))).codec.empty());
  return 0;
}
