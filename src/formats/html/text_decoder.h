#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "formats/html/encoding.h"

namespace stele::html {

// Turns bytes of one encoding into UTF-8 as a stream, with U+FFFD for what is not in the encoding.
// Every input is accepted, the output is always valid UTF-8, and it does not depend on how the
// input is cut. Not thread-safe. Holds a few KiB however long the input is. Byte order marks are
// decoded like any other character: the caller skips them (EncodingChoice::bom_size).
class TextDecoder {
 public:
  explicit TextDecoder(Encoding encoding);
  ~TextDecoder();
  TextDecoder(TextDecoder&&) noexcept;
  TextDecoder& operator=(TextDecoder&&) noexcept;

  // Appends to `out` at most three bytes per input byte, and what earlier calls held back.
  void Decode(std::string_view bytes, std::string& out);

  // What an unfinished last character comes to. The decoder is then as new.
  void Finish(std::string& out);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// All at once.
std::string DecodeText(std::string_view bytes, Encoding encoding);

}  // namespace stele::html
