#pragma once

#include <string>
#include <string_view>

#include "access/url_rewriter.h"

namespace stele::access {

// A script with its simplest references leading into the archive; all other bytes as they are:
// strings that are a whole absolute URL ("https://a.org/x.js", '//a.org/x'), and paths from the
// root of the site that are given to "location". Names of XML namespaces and the like are left.
// Takes time linear in its size.
std::string RewriteScript(std::string_view script, const UrlRewriter& urls);

}  // namespace stele::access
