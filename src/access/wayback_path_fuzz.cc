#include <cstddef>
#include <cstdint>

#include "access/wayback_path.h"
#include "util/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using stele::access::WaybackPath;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto path = stele::access::ParseWaybackPath(input);
  if (!path) return 0;
  Check(!path->url.empty());
  for (const char c : path->url) Check(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  Check(path->digits.size() <= 17 && path->until.size() <= 17);
  if (path->kind != WaybackPath::Kind::kCapture) return 0;
  // What was read can be written, and means the same.
  const std::string again = path->digits + path->modifier + '/' + path->url;
  if (!path->digits.empty() || !path->modifier.empty()) {
    Check(stele::access::ParseWaybackPath(again) == path);
  }
  return 0;
}
