#pragma once

#include "formats/html/link_collector.h"

namespace stele::html {

// JSON-LD (schema.org in <script type="application/ld+json">): what the keys of images, media and
// logos name is kEmbed, other pages named by url, sameAs, @id and so on are kNavigation; any other
// string that is an absolute http or https URL is kSpeculative. @context and @type name vocabulary.
void ExtractJsonLdLinks(const LinkSource& source, LinkCollector& links);

// Other JSON: absolute http and https URLs and strings with the shape of a path to a file, all
// kSpeculative.
void ExtractJsonLinks(const LinkSource& source, LinkCollector& links);

}  // namespace stele::html
