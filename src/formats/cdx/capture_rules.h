#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/record/record.h"

// What the Wayback tools agree on about captures, for all who make lists of them.
namespace stele::cdx {

// Whether the record is a capture, something that can be replayed: a response, revisit, resource,
// conversion, or metadata that no crawler wrote for itself.
bool IsCapture(const record::Record& record);

// "text/html; charset=utf-8" is "text/html"; "unk" where nothing is said.
std::string MimeOf(std::string_view content_type);

// A request that stands beside its response, whose method and body may change the response's key.
struct CaptureRequest {
  std::string uri;
  std::string method;
  std::string content_type;
  std::string body;  // at most kRequestBodyBytesMax bytes of it
};

// More of a body than this never reaches a key.
inline constexpr std::size_t kRequestBodyBytesMax = std::size_t{1} << 20;

// The sort key of the answer to a request.
std::string KeyOf(const CaptureRequest& request);

// Whether a media type is one that a person means by "text/html" or "image/*", in lower case.
bool MatchesType(std::string_view wanted, std::string_view type);
// Whether a text is "404" or "4xx", and whether a status is one that it means.
bool IsStatusPattern(std::string_view text);
bool MatchesStatus(std::string_view wanted, std::uint32_t status);

}  // namespace stele::cdx
