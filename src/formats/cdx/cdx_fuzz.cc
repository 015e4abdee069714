#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/cdx/cdx.h"

// What can be read can be written, and reads the same again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele::cdx;  // NOLINT: a fuzzer's own file
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  if (auto legend = Legend::Parse(line)) {
    auto again = Legend::Parse(legend->Format());
    if (!again || again->letters() != legend->letters()) std::abort();
  }
  if (auto capture = ParseCdxLine(line, Legend::Eleven())) {
    const std::string written = FormatCdxLine(*capture, Legend::Eleven());
    auto again = ParseCdxLine(written, Legend::Eleven());
    if (!again || FormatCdxLine(*again, Legend::Eleven()) != written) std::abort();
  }
  if (auto capture = ParseCdxjLine(line)) {
    const std::string written = FormatCdxjLine(*capture);
    auto again = ParseCdxjLine(written);
    if (!again || FormatCdxjLine(*again) != written) std::abort();
  }
  return 0;
}
