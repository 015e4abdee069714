#pragma once

#include <cstdint>
#include <string_view>

namespace stele::html {

// Which extractor reads a document.
enum class DocumentKind : std::uint8_t {
  kNone,  // pictures, sound, archives, plain text: nothing to extract
  kHtml,  // HTML, XHTML, SVG
  kCss,
  kScript,
  kJson,
  kJsonLd,
  kFeed,  // RSS, Atom, OPML, and any XML of unknown kind
  kSitemap,
  kPdf,
  kHls,
  kDash,
};

// By the media type in lower case, without parameters ("text/html"), corrected by the first bytes
// where they cannot be mistaken: %PDF-, #EXTM3U, the root element of an XML document, the magic
// numbers of pictures and archives labelled as HTML, a page of HTML labelled as a style sheet or
// script (an error page). Without a usable label (none, text/plain, application/octet-stream) only
// the bytes count.
DocumentKind KindOfDocument(std::string_view content, std::string_view media_type);

}  // namespace stele::html
