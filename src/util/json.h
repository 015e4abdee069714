#pragma once

#include <string>
#include <string_view>

namespace stele {

// Appends `text` as a JSON string, with its quotes. Bytes that are no UTF-8 become U+FFFD, so that
// what we write is JSON whatever a server sent.
void AppendJsonString(std::string& out, std::string_view text);

}  // namespace stele
