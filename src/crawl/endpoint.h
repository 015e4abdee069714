#pragma once

#include "formats/url/url.h"
#include "net/socket_stream.h"

namespace stele::crawl {

// Where a URL is asked for. Requires: it is http or https.
inline net::Endpoint EndpointOf(const url::Url& url) {
  net::Endpoint endpoint{url.scheme() == "https", std::string(url.host()), *url.effective_port()};
  if (endpoint.host.starts_with('[')) {
    endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
  }
  return endpoint;
}

}  // namespace stele::crawl
