#pragma once

#include <string>
#include <string_view>

namespace stele::access {

// "<" as "&lt;" and so on, also for attributes in quotes.
std::string EscapeHtml(std::string_view text);

// The same for a value of an attribute that has no quotes.
std::string EscapeBareValue(std::string_view value);

}  // namespace stele::access
