#include <cstddef>
#include <cstdint>

#include "access/users.h"
#include "util/check.h"

// What is read is written so that it reads the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto users = stele::access::Users::Parse(input);
  if (!users) return 0;
  const std::string text = users->Format();
  const auto again = stele::access::Users::Parse(text);
  Check(again.ok());
  Check(again->Format() == text);
  static_cast<void>(users->OwnerOf(input.substr(0, 40)));
  return 0;
}
