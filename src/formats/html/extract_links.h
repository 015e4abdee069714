#pragma once

#include <span>
#include <string_view>

#include "formats/html/document_kind.h"
#include "formats/html/link.h"

namespace stele::html {

// A response as link extraction sees it. All views are borrowed for the call.
struct LinkDocument {
  std::string_view url{};           // absolute
  std::string_view page_url{};      // of a script: of the page that includes it; or empty
  std::string_view content{};       // transfer and content codings undone, in its own character set
  std::string_view content_type{};  // this and the following: header values, or empty
  std::span<const std::string_view> link_headers{};  // one for each Link field
  std::string_view refresh{};
  std::string_view location{};
  std::string_view content_location{};
  std::string_view robots_tag{};
};

// Hands out every distinct link of the response once per hop kind, those of the header first.
// Every input is accepted; time is linear in the content, memory bounded by the limits (and, for
// UTF-16 and ISO-2022-JP, by the size of the content in UTF-8; offsets are then in that).
LinkSummary ExtractLinks(const LinkDocument& document, const LinkSink& sink,
                         const LinkLimits& limits = {});

}  // namespace stele::html
