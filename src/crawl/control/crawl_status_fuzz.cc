#include <cstdint>
#include <cstdlib>
#include <string>

#include "crawl/control/running_crawl.h"

// What comes from another process, or lies in a file that anybody could have changed: what can be
// read is written and read again the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele::crawl;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto status = ParseStatus(text)) {
    const std::string json = StatusJson(*status);
    const auto again = ParseStatus(json);
    if (!again || StatusJson(*again) != json || StatusMetrics(*again).empty()) std::abort();
  }
  if (const auto changes = ParseLimitChanges(text)) {
    const std::string json = LimitChangesJson(*changes);
    const auto again = ParseLimitChanges(json);
    if (!again || LimitChangesJson(*again) != json) std::abort();
  }
  if (const auto urls = ParseUrlsToAdd(text)) {
    const auto again = ParseUrlsToAdd(UrlsToAddJson(*urls));
    if (!again || again->urls.size() != urls->urls.size()) std::abort();
  }
  if (const auto added = ParseAddedUrls(text)) {
    const auto again = ParseAddedUrls(AddedUrlsJson(*added));
    if (!again || again->refused.size() != added->refused.size()) std::abort();
  }
  if (const auto running = ParseRunning(text, "running.json")) {
    const auto again = ParseRunning(FormatRunning(*running), "running.json");
    if (!again || again->port != running->port) std::abort();
  }
  return 0;
}
