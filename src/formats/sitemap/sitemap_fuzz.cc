// Any bytes as a sitemap or feed: pieces of any size give the same links, within the limits.
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/sitemap/sitemap.h"
#include "util/check.h"

namespace {

using namespace stele::sitemap;

std::string Read(std::string_view input, std::size_t piece) {
  SitemapLimits limits;
  limits.links_max = 20;
  limits.bytes_max = 100'000;
  limits.url_bytes_max = 100;
  std::string all;
  SitemapReader reader(
      [&](const Link& link) {
        Check(!link.url.empty() && link.url.size() <= limits.url_bytes_max);
        all += static_cast<char>('0' + static_cast<int>(link.kind)) + link.url + "\n";
      },
      limits);
  while (!input.empty()) {
    reader.Feed(input.substr(0, piece));
    input.remove_prefix(std::min(piece, input.size()));
  }
  reader.Finish();
  Check(reader.links() <= limits.links_max);
  return all + static_cast<char>('0' + static_cast<int>(reader.kind()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  // How much of damaged gzip can be had depends on the pieces.
  const bool same = Read(input, 3) == Read(input, input.size() + 1);
  Check(same || input.starts_with("\x1f\x8b"));
  return 0;
}
