#include "access/requested_url.h"

#include <algorithm>

#include "formats/url/request_key.h"

namespace stele::access {
namespace {

constexpr std::string_view kMethods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};

Result<std::string> ReadBody(io::Source& source) {
  std::string body;
  std::string piece(16 << 10, '\0');
  for (;;) {
    const Result<std::size_t> size = source.Read(piece);
    if (!size) return size.error();
    if (*size == 0) return body;
    body.append(piece, 0, *size);
    if (body.size() > kRequestBodyMax) {
      return Error{ErrorCode::kFull, "The body of the request is too long."};
    }
  }
}

}  // namespace

bool IsReplayedMethod(std::string_view method) {
  return std::find(std::begin(kMethods), std::end(kMethods), method) != std::end(kMethods);
}

Result<std::string> RequestedUrl(net::Request& request, const std::string& url) {
  const std::string_view method = request.head().method;
  if (method == "GET" || method == "HEAD") return url;
  const Result<std::string> body = ReadBody(request.body());
  if (!body) return body.error();
  // A page that is itself the answer to such a request sends its forms to its own address.
  std::size_t own = url.find("__wb_method=");
  own = own == std::string::npos || own == 0 ? url.size() : own - 1;
  return url::RequestUrl(url.substr(0, own), method,
                         request.head().headers.Find("Content-Type").value_or(""), *body);
}

}  // namespace stele::access
