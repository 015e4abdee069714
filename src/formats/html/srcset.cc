#include "formats/html/srcset.h"

#include "util/ascii.h"

namespace stele::html {

std::optional<std::string_view> SrcsetReader::Next() {
  while (at_ < srcset_.size() && (IsAsciiSpace(srcset_[at_]) || srcset_[at_] == ',')) ++at_;
  if (at_ >= srcset_.size()) return std::nullopt;
  const std::size_t start = at_;
  while (at_ < srcset_.size() && !IsAsciiSpace(srcset_[at_])) ++at_;
  std::size_t end = at_;
  while (srcset_[end - 1] == ',') --end;  // the first byte is no comma
  if (end == at_) SkipDescriptors();
  return srcset_.substr(start, end - start);
}

// "100w", "2x", anything in parentheses, up to and including the comma after them.
void SrcsetReader::SkipDescriptors() {
  bool in_parentheses = false;
  while (at_ < srcset_.size()) {
    const char c = srcset_[at_++];
    if (c == '(') in_parentheses = true;
    if (c == ')') in_parentheses = false;
    if (c == ',' && !in_parentheses) return;
  }
}

}  // namespace stele::html
