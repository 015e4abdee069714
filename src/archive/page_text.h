#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/http/message.h"

// What a page says, whatever its markup, and any file, whatever its compression: for comparing
// captures of it.
namespace stele::archive {

// Larger payloads are not looked at.
inline constexpr std::size_t kPageTextBytesMax = std::size_t{16} << 20;

// Whether payloads of this media type ("text/html", in lower case) are read as pages.
bool HasPageText(std::string_view type);

// The text of a payload: `content_type` is the header's value, `headers` say the content codings
// and may be null. As a reader sees it, line by line. Nothing where it is no HTML and no plain
// text, is larger than kPageTextBytesMax, or cannot be decoded.
std::optional<std::string> PageTextOf(std::string_view payload, std::string_view content_type,
                                      const http::Headers* headers);

// What stands in the head of such a page; empty where PageTextOf() gives nothing.
std::string PageTitleOf(std::string_view payload, std::string_view content_type,
                        const http::Headers* headers);

// A number for what the text says without case, punctuation and markup; equal for equal texts.
// Where PageTextOf() gives nothing: for the bytes without their content codings. 0 where there are
// none, they are broken, or there are more bytes than kPageTextBytesMax.
std::uint64_t TextDigestOf(std::string_view payload, std::string_view content_type,
                           const http::Headers* headers);

}  // namespace stele::archive
