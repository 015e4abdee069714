#include <cstddef>
#include <cstdint>

#include "store/remote/connector.h"
#include "util/check.h"

// A connector that is read is written and read again as the same; errors are bounded.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view xml(reinterpret_cast<const char*>(data), size);
  const auto connector = stele::store::ParseConnector(xml);
  if (!connector) {
    Check(connector.error().text.size() < 400);
    return 0;
  }
  const std::string written = stele::store::FormatConnector(*connector);
  const auto again = stele::store::ParseConnector(written);
  Check(again && *again == *connector);
  Check(stele::store::FormatConnector(*again) == written);
  return 0;
}
