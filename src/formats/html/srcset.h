#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace stele::html {

// Walks the image candidates of a srcset attribute ("a.png 1x, b.png 2x"), by the WHATWG
// algorithm: a comma inside a URL is part of it, at its end it separates. Time is linear.
class SrcsetReader {
 public:
  explicit SrcsetReader(std::string_view srcset) : srcset_(srcset) {}

  // The next candidate's URL, a view into the attribute; nothing at the end.
  std::optional<std::string_view> Next();

 private:
  void SkipDescriptors();

  std::string_view srcset_;
  std::size_t at_ = 0;
};

}  // namespace stele::html
