// Any bytes as Set-Cookie values and as a cookies.txt: what a jar sends back has no control
// characters and stays within its bounds.
#include <cstdint>
#include <string_view>

#include "formats/cookies/cookies.h"
#include "util/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele::cookies;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const stele::Timestamp now{1'700'000'000'000};
  const Site site{"www.example.org", "/a/b", true};
  JarLimits limits;
  limits.bytes_per_domain_max = 500;
  CookieJar jar(limits);
  for (Cookie& cookie : ParseCookiesTxt(input, now)) jar.Set(std::move(cookie), now);
  std::string_view rest = input;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const auto cookie = ParseSetCookie(rest.substr(0, end), site, now);
    if (cookie) {
      Check(site.host.ends_with(cookie->domain));
      Check(cookie->path.starts_with('/'));
      jar.Set(*cookie, now);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::string header = jar.HeaderFor(site, now);
  for (const char c : header) Check(static_cast<unsigned char>(c) >= 0x20 || c == '\t');
  Check(header.size() <= 3 * limits.bytes_per_domain_max);  // three domains are for this host
  return 0;
}
