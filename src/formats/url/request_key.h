#pragma once

#include <string>
#include <string_view>

// Lookup keys for requests that are not GET: docs/formats/surt.md, "Other methods".
namespace stele::url {

// The URL under which pywb (2.6.7 and later) and cdxj-indexer file the answer to a request: `url`
// for GET, else `url` with "__wb_method=METHOD" and, for POST and PUT, the body as arguments. Feed
// it to SurtKey(); its SURT is the key, it is not a URL to fetch. Never fails.
//
//   POST http://a.com/x  application/json  {"q": {"n": 1}}   -> http://a.com/x?__wb_method=POST&n=1
//
// `content_type` is the header's value with its parameters, `body` the body without transfer
// coding. Of a body at most kMaxBodyQueryCharacters characters reach the key.
std::string RequestUrl(std::string_view url, std::string_view method, std::string_view content_type,
                       std::string_view body);

inline constexpr std::size_t kMaxBodyQueryCharacters = 4096;

// Longer or deeper JSON is not read; it counts as broken.
inline constexpr std::size_t kMaxJsonBodyBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxJsonBodyDepth = 500;

}  // namespace stele::url
