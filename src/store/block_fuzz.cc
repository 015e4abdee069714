#include <cstddef>
#include <cstdint>

#include "store/block.h"
#include "util/check.h"

// A header that is read writes itself again byte for byte.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const stele::Result<stele::store::BlockHeader> header = stele::store::ParseBlockHeader(bytes);
  if (!header) return 0;
  Check(stele::store::FormatBlockHeader(*header) ==
        bytes.substr(0, stele::store::kBlockHeaderSize));
  return 0;
}
