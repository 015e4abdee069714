#pragma once

#include <optional>
#include <string_view>

namespace stele::html {

// The URL in a Refresh header or <meta http-equiv=refresh>, a view into `value`: "5;url=x",
// "5, URL = 'x'", "0;x", "5 x", also without the number, which browsers do not accept but old pages
// do ("url=x"). Nothing where there is only a delay: the document reloads itself.
std::optional<std::string_view> RefreshUrl(std::string_view value);

}  // namespace stele::html
