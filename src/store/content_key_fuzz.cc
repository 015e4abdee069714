#include <cstddef>
#include <cstdint>

#include "store/content_key.h"
#include "util/check.h"

// A key that is read writes itself again byte for byte, and its block's place stays in the tree.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto key = stele::store::ContentKey::Parse(text);
  if (!key) return 0;
  Check(key->Text() == text);
  for (int depth = 1; depth <= static_cast<int>(key->signature.bytes().size()); ++depth) {
    const std::string place = stele::store::Sig2Location(key->signature, key->overflow, depth);
    Check(place.front() != '/' && place.back() != '/' && place.find("..") == std::string::npos);
  }
  return 0;
}
