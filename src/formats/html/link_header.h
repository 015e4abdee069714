#pragma once

#include "formats/html/link_collector.h"

namespace stele::html {

// The value of one header field in source.bytes. `Link` (RFC 8288): each <reference> with its hop
// by rel (link_relation.h); links whose anchor is another document are left out.
void ExtractLinkHeaderLinks(const LinkSource& source, LinkCollector& links);

// Refresh: kRedirect.
void ExtractRefreshHeaderLinks(const LinkSource& source, LinkCollector& links);

// Location: kRedirect.
void ExtractLocationLinks(const LinkSource& source, LinkCollector& links);

// Content-Location: kNavigation, as it is another name of what was received.
void ExtractContentLocationLinks(const LinkSource& source, LinkCollector& links);

}  // namespace stele::html
