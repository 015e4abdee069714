#include <cstddef>
#include <cstdint>

#include "access/access_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto rules = stele::access::AccessRules::Parse(input, "fuzz");
  if (!rules) return 0;
  const stele::Timestamp now{1'700'000'000'000};
  const stele::access::Viewer staff{"staff", stele::net::IpAddress::FromText("192.0.2.1")};
  static_cast<void>(rules->ClassOf(staff));
  for (const std::string_view key : {"org,example)/", "com,example)/a?b=1", "-"}) {
    static_cast<void>(rules->Judge(key, stele::Timestamp{1'000'000'000'000}, now, {}));
    static_cast<void>(rules->Judge(key, now, now, staff));
  }
  return 0;
}
