#pragma once

#include <string_view>

namespace stele::warc {

// A URI or record id of a head without the <> around it, which some writers leave out.
inline std::string_view WithoutBrackets(std::string_view uri) {
  if (uri.size() >= 2 && uri.front() == '<' && uri.back() == '>') {
    uri = uri.substr(1, uri.size() - 2);
  }
  return uri;
}

}  // namespace stele::warc
