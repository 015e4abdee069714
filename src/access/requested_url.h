#pragma once

#include <string>
#include <string_view>

#include "net/http_handler.h"
#include "util/result.h"

// Answers to requests with a body are archived, too: forms, searches, queries of scripts.
// docs/access.md, "Requests with a body".
namespace stele::access {

// Longer bodies are refused: no key is made of more.
inline constexpr std::size_t kRequestBodyMax = std::size_t{1} << 20;

// Whether an archived answer to such a request is looked for.
bool IsReplayedMethod(std::string_view method);

// The URL under which the answer to this request for `url` is filed: `url` itself for GET and HEAD,
// else with method and body as arguments, as url::RequestUrl() has it. Reads the body. Errors:
// kFull when it is too long; those of Request::body().
Result<std::string> RequestedUrl(net::Request& request, const std::string& url);

}  // namespace stele::access
