#pragma once

#include <string>
#include <string_view>

namespace stele::http {

// What a Content-Type says, as far as archives use it.
struct MediaType {
  std::string type;     // "text/html", lower case; empty when there is none with a slash
  std::string charset;  // lower case, as labelled; empty when there is none
  bool operator==(const MediaType&) const = default;
};

// Forgives case, spaces, single or missing quotes, "," for ";", "charset: x" and a missing
// separator. The first charset counts.
MediaType ParseMediaType(std::string_view value);

}  // namespace stele::http
