#pragma once

#include "formats/html/link_collector.h"

namespace stele::html {

// A sitemap or sitemap index, not compressed: <loc> and the alternates of xhtml:link are
// kNavigation; the images and videos of a page are kEmbed. Context "sitemap/loc" and so on.
void ExtractSitemapLinks(const LinkSource& source, LinkCollector& links);

}  // namespace stele::html
