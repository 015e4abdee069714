#pragma once

#include "formats/html/link_collector.h"

namespace stele::html {

// A DASH manifest (ISO/IEC 23009-1): initialisation and media segments, resolved against the
// BaseURL elements around them, Location, and xlink:href of remote elements. Segment templates with
// $...$ in them name no single resource and are left out. A BaseURL that no segment list follows is
// itself the media. All are kEmbed, in context "dash/...".
void ExtractDashLinks(const LinkSource& source, LinkCollector& links);

}  // namespace stele::html
