#include "catalog/page_index.h"

#include <algorithm>

#include "catalog/page_frame.h"
#include "util/check.h"
#include "util/coding.h"

namespace stele::catalog {

void PageIndex::Add(std::string_view first_key, std::uint64_t length) {
  Check(size() == 0 || this->first_key(size() - 1) <= first_key);
  keys_ += first_key;
  key_ends_.push_back(keys_.size());
  offsets_.push_back(offsets_.back() + length);
}

std::string_view PageIndex::first_key(std::uint32_t page) const {
  const std::uint64_t begin = page == 0 ? 0 : key_ends_[page - 1];
  return std::string_view(keys_).substr(begin, key_ends_[page] - begin);
}

std::optional<std::uint32_t> PageIndex::LastAtOrBefore(std::string_view key) const {
  std::uint32_t low = 0;
  std::uint32_t high = size();  // the first page that begins behind `key` is in [low, high]
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (first_key(middle) <= key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return std::nullopt;
  return low - 1;
}

std::string PageIndex::Format() const {
  std::string text;
  PutVarint(text, size());
  std::string_view before;
  for (std::uint32_t page = 0; page < size(); ++page) {
    const std::string_view key = first_key(page);
    const auto shared = static_cast<std::size_t>(
        std::mismatch(before.begin(), before.end(), key.begin(), key.end()).second - key.begin());
    PutVarint(text, length(page));
    PutVarint(text, shared);
    PutSized(text, key.substr(shared));
    before = key;
  }
  return text;
}

Result<PageIndex> PageIndex::Parse(std::string_view text) {
  const Error corrupt{ErrorCode::kCorrupt, "the page index cannot be understood"};
  ByteReader reader(text);
  PageIndex index;
  std::string key;
  for (std::uint64_t left = reader.Varint(); left > 0; --left) {
    const std::uint64_t length = reader.Varint();
    const std::uint64_t shared = reader.Varint();
    const std::string_view rest = reader.Sized();
    if (!reader.good() || shared > key.size() || index.size() == 0xFFFF'FFFF) return corrupt;
    if (length < kFrameOverhead || length > kIndexBytesMax) return corrupt;
    const std::string_view replaced = std::string_view(key).substr(shared);
    // Rising, and with no more written than needed.
    if (rest < replaced || (!rest.empty() && !replaced.empty() && rest[0] == replaced[0])) {
      return corrupt;
    }
    key.replace(shared, std::string::npos, rest);
    if (index.keys_.size() + key.size() > kIndexBytesMax) return corrupt;
    index.Add(key, length);
  }
  if (!reader.good() || !reader.AtEnd()) return corrupt;
  return index;
}

}  // namespace stele::catalog
