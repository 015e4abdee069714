#pragma once

#include <string>
#include <string_view>

namespace stele::cli {

// Text of strangers for a terminal: control characters, with which a URL could move the cursor or
// change the title of a window, as \x1b, and those that turn the direction of what follows, so that
// it would read as something else. Line ends and tabs stay.
std::string VisibleText(std::string_view text);

}  // namespace stele::cli
