#pragma once

#include <string_view>

namespace stele::access {

// docs/access-api.yaml, as it was when the program was built.
std::string_view ApiDocument();

}  // namespace stele::access
