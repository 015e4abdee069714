#pragma once

#include "formats/html/link_collector.h"

namespace stele::html {

// RSS (0.9x, 1.0, 2.0) and Atom: links, permalinks, comments and sources are kNavigation;
// enclosures, media, icons and logos are kEmbed; HTML inside the entries is read like a page.
// xml:base holds for the element it stands on. Also takes any other XML: its style sheet
// instruction and whatever of the above it contains.
void ExtractFeedLinks(const LinkSource& source, LinkCollector& links);

}  // namespace stele::html
