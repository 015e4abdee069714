#pragma once

#include <string>
#include <string_view>

#include "util/result.h"

namespace stele::net {

// A header to be sent.
struct HeaderField {
  std::string name;
  std::string value;
};

// Errors: kInvalid where the name is no token or the value has a control character, which could
// begin another header or another message.
Status CheckField(const HeaderField& field);

// The same for the first line of a request. Errors: kInvalid where the method is no token, or the
// target is empty or has a space or a control character.
Status CheckRequestLine(std::string_view method, std::string_view target);

}  // namespace stele::net
