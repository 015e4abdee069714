#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "crawl/credentials.h"

// Files of logins as a person may write them, and requests whatever they are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  stele::crawl::Credentials credentials;
  static_cast<void>(credentials.AddLogins(text, "logins").ok());
  const std::string once = stele::crawl::Redacted(text);
  if (stele::crawl::Redacted(once) != once) std::abort();
  return 0;
}
