#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/page_file_format.h"
#include "util/result.h"

namespace stele::catalog {

// The pages of one file: where each lies and with which key it begins. Keys are any bytes, in
// rising order as bytes; files that are not searched by key leave them empty. About the length of
// a key and 16 bytes of memory for each page.
class PageIndex {
 public:
  // Requires: `first_key` is not before that of the last page; `length` is that of the frame.
  void Add(std::string_view first_key, std::uint64_t length);

  std::uint32_t size() const { return static_cast<std::uint32_t>(key_ends_.size()); }
  // Requires: page < size().
  std::string_view first_key(std::uint32_t page) const;
  std::uint64_t offset(std::uint32_t page) const { return offsets_[page]; }
  std::uint64_t length(std::uint32_t page) const { return offsets_[page + 1] - offsets_[page]; }
  // Where the last page ends.
  std::uint64_t end() const { return offsets_.back(); }

  // The last page whose first key is not behind `key`, where `key` must be if it is anywhere; of
  // pages with the same first key the last. Nothing when all pages begin behind it.
  std::optional<std::uint32_t> LastAtOrBefore(std::string_view key) const;

  std::string Format() const;
  // Errors: kCorrupt.
  static Result<PageIndex> Parse(std::string_view text);

 private:
  std::string keys_;                                          // one after another
  std::vector<std::uint64_t> key_ends_;                       // in keys_
  std::vector<std::uint64_t> offsets_ = {kPageFileHeadSize};  // one more than pages
};

}  // namespace stele::catalog
