#pragma once

#include <string>
#include <string_view>

#include "access/url_rewriter.h"

namespace stele::access {

// A style sheet with its references leading into the archive; all other bytes as they are. Takes
// time linear in its size.
std::string RewriteCss(std::string_view css, const UrlRewriter& urls);

}  // namespace stele::access
