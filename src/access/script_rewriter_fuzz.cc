#include <cstddef>
#include <cstdint>
#include <string>

#include "access/script_rewriter.h"
#include "util/check.h"

// Something may be put in; nothing is lost or changed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view script(reinterpret_cast<const char*>(data), size);
  const stele::access::UrlRewriter urls("/web/2014", "http://a.org/x/");
  std::size_t at = 0;
  for (const char c : stele::access::RewriteScript(script, urls)) {
    if (at < script.size() && script[at] == c) ++at;
  }
  Check(at == script.size());
  return 0;
}
