#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace stele::html {

// How a crawler gets from a document to what it names. The letters are those of Heritrix's hop
// paths, so that crawl logs of both read alike.
enum class Hop : std::uint8_t {
  kNavigation,   // L: a person may go there
  kEmbed,        // E: needed to show the document
  kRedirect,     // R: the document sends its reader there by itself
  kSpeculative,  // X: a string in a script or data that looks like a URL
};

char HopLetter(Hop hop);

struct Link {
  std::string url;  // absolute and normalised, http, https or ftp, without fragment
  Hop hop = Hop::kNavigation;
  // Where in the document's structure: "a/@href", "img/@srcset", "css", "header/link". A literal,
  // valid for ever.
  std::string_view context;
  // Byte offset in the content of the reference, or of the element or string that holds it;
  // 0 for links of the HTTP header.
  std::size_t offset = 0;
  bool nofollow = false;  // rel=nofollow, ugc or sponsored, or the whole document says nofollow
};

struct LinkLimits {
  std::size_t links_max = 6000;               // distinct links handed out per document
  std::size_t speculative_links_max = 1000;   // of these, how many may be kSpeculative
  std::size_t url_bytes_max = 4096;           // longer references are left out
  int nesting_max = 4;                        // srcdoc in srcdoc, HTML in a feed
  std::size_t inflated_bytes_max = 64 << 20;  // of compressed parts, PDF object streams
};

struct LinkSummary {
  std::size_t links = 0;     // handed out
  std::size_t left_out = 0;  // references beyond links_max; a repeated one may count again
  std::size_t too_long = 0;  // references beyond url_bytes_max
  std::size_t invalid = 0;   // distinct references that are no URL
  bool nofollow = false;     // meta robots or X-Robots-Tag: nofollow or none
  bool noindex = false;
};

// Takes one link at a time; may move from it.
using LinkSink = std::function<void(Link&& link)>;

}  // namespace stele::html
