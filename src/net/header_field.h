#pragma once

#include <string>

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

}  // namespace stele::net
