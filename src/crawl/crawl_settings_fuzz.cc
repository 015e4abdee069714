#include <cstdint>
#include <cstdlib>
#include <string>

#include "crawl/crawl_settings.h"

// Job files as a person may write them: what can be read is written and read again the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto settings = stele::crawl::ParseSettings(text, "job.toml");
  if (!settings) return 0;
  static_cast<void>(stele::crawl::ScopeOptionsOf(*settings).ok());
  const std::string written = stele::crawl::FormatSettings(*settings);
  const auto again = stele::crawl::ParseSettings(written, "job.toml");
  if (!again || stele::crawl::FormatSettings(*again) != written) std::abort();
  return 0;
}
