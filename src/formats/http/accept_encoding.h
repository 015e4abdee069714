#pragma once

#include <string_view>

#include "formats/http/message.h"

namespace stele::http {

// Whether a client takes this content coding (RFC 9110, 12.5.3). Only codings that it names are
// used, not "*", and not those with a weight of 0.
bool AcceptsCoding(const Headers& headers, std::string_view coding);

}  // namespace stele::http
