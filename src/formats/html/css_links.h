#pragma once

#include "formats/html/link_collector.h"

namespace stele::html {

// A style sheet, a <style> element or a style attribute: url(), @import, image-set() and the
// `src` of AlphaImageLoader filters, with CSS escapes undone. @namespace and @charset name no
// resources. All are kEmbed, in context "css" or "css/@import".
void ExtractCssLinks(const LinkSource& source, LinkCollector& links);

}  // namespace stele::html
