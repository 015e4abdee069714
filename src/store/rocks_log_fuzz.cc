#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "store/rocks_log.h"
#include "util/check.h"

// Whatever stands in a log: nothing is damaged in one without bytes, and a log that is damaged
// before its end stays so when bytes follow.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> once = {bytes};
  const std::vector<std::string> followed = {bytes, ""};
  Check(stele::store::OnlyTheEndIsDamaged(once) == stele::store::OnlyTheEndIsDamaged(followed));
  return 0;
}
