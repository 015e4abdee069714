#pragma once

#include "formats/html/link_collector.h"

namespace stele::html {

// An HTTP Live Streaming playlist (RFC 8216): each line that is no comment, and the URI attribute
// of every tag (EXT-X-KEY, EXT-X-MAP, EXT-X-MEDIA and so on). All are kEmbed, in context "hls".
void ExtractHlsLinks(const LinkSource& source, LinkCollector& links);

}  // namespace stele::html
