#include "formats/url/public_suffix.h"

#include <libpsl.h>

#include <string>

#include "formats/url/host.h"
#include "util/ascii.h"

namespace stele::url {
namespace {

// Lower case and without the dot at the end, as libpsl wants it.
std::string Plain(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  return AsciiLower(host);
}

// Longer names cannot exist in the DNS, and libpsl's time grows with the number of labels.
constexpr std::size_t kMaxNameBytes = 512;

}  // namespace

std::string_view RegisteredDomain(std::string_view host) {
  if (host.size() > kMaxNameBytes || IsIpAddress(host)) return host;
  const std::string name = Plain(host);
  const char* registered = psl_registrable_domain(psl_builtin(), name.c_str());
  if (registered == nullptr) return host;
  return host.substr(static_cast<std::size_t>(registered - name.c_str()));
}

bool IsPublicSuffix(std::string_view host) {
  if (host.empty() || host.size() > kMaxNameBytes || IsIpAddress(host)) return false;
  return psl_is_public_suffix(psl_builtin(), Plain(host).c_str()) == 1;
}

}  // namespace stele::url
