#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "store/rocks_log.h"
#include "util/check.h"

// Whatever stands in a log: an empty one behind it changes nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> once = {bytes};
  const std::vector<std::string> followed = {bytes, ""};
  Check(stele::store::OnlyTheEndIsDamaged(once) == stele::store::OnlyTheEndIsDamaged(followed));
  // What can be read has no damage.
  const std::vector<std::string> cut = {bytes.substr(0, stele::store::ReadableBytes(bytes))};
  Check(!stele::store::OnlyTheEndIsDamaged(cut));
  return 0;
}
