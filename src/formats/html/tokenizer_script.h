#pragma once

#include <string_view>

#include "formats/html/tokenizer_markup.h"

namespace stele::html {

// Knows whether a script is inside "<!-- ... -->", and there inside "<script ... </script", where
// the end tag of the script is only text.
class ScriptEscapes {
 public:
  // Before the first byte of a script.
  void Start() { *this = ScriptEscapes(); }

  // Outside of "<!--" dashes mean nothing, and need not be looked for.
  bool watches_dashes() const { return mode_ != Mode::kPlain; }

  // Decides about a '<': kMore, kText or kEndTag of `element` (in lower case). Dashes before the
  // '<' are forgotten. Requires: source begins with '<'.
  Opening Classify(std::string_view source, std::string_view element);

  // Goes on at [p, end), behind what Classify or this decided last. Passes the dashes there; if the
  // byte after them is not one of its own, they are forgotten. Returns where ordinary text begins.
  const char* PassDashes(const char* p, const char* end);

 private:
  enum class Mode { kPlain, kEscaped, kDoubleEscaped };

  Mode mode_ = Mode::kPlain;
  int dashes_ = 0;  // that just passed, counted to two
};

}  // namespace stele::html
