#pragma once

#include "formats/html/link_collector.h"

namespace stele::html {

// An HTML, XHTML or SVG document, or a fragment of one. What is taken from which attribute, and as
// which hop, is the table in docs/formats/html.md. Style sheets, scripts, JSON-LD, srcdoc
// documents, conditional comments and the contents of <noscript>, <noframes> and <template> are
// read as well, nested documents down to limits().nesting_max.
void ExtractHtmlLinks(const LinkSource& source, LinkCollector& links);

}  // namespace stele::html
