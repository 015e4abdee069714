#pragma once

#include <string_view>
#include <vector>

#include "formats/html/tokenizer_testing.h"

namespace stele::html::testing {

// The slow, obvious twin of the tokenizer: the states of the standard one by one, a character at a
// time, over a whole input. Knows no limits and no switching of states by tag, and leaves all
// source ranges empty.
std::vector<RecordedToken> TokenizeSlowly(std::string_view source, const Start& start);

}  // namespace stele::html::testing
