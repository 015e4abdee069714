// A sorted vector per part, and parts that double in size: each entry is moved as often as the
// number of entries has binary digits, at most, and a crawl that nobody looks at sorts once.
#include "catalog/location_memtable.h"

#include <algorithm>

#include "util/check.h"

namespace stele::catalog {
namespace {

class VectorCursor final : public LocationCursor {
 public:
  explicit VectorCursor(const std::vector<LocationEntry>& entries) : entries_(entries) {}

  Move Seek(const LocationEntry& at) override {
    at_ = std::lower_bound(entries_.begin(), entries_.end(), at);
    return Give();
  }
  Move Next() override {
    ++at_;
    return Give();
  }
  Move SeekBack(const LocationEntry& at) override {
    at_ = std::upper_bound(entries_.begin(), entries_.end(), at);
    if (at_ == entries_.begin()) return nullptr;
    --at_;
    return Give();
  }

 private:
  Move Give() const { return at_ == entries_.end() ? nullptr : &*at_; }

  const std::vector<LocationEntry>& entries_;
  std::vector<LocationEntry>::const_iterator at_;
};

std::size_t KeyBytes(const std::vector<LocationEntry>& entries) {
  std::size_t bytes = 0;
  for (const LocationEntry& entry : entries) bytes += entry.key.size();
  return bytes;
}

}  // namespace

void SortedEntries::Append(const LocationEntry& entry) {
  if (!entries_.empty() && entries_.back() == entry) return;
  std::string_view key = entry.key;
  if (!entries_.empty() && entries_.back().key == key) {
    key = entries_.back().key;  // once for all its entries
  } else {
    Check(keys_.size() + key.size() <= keys_.capacity());
    keys_ += key;
    key = std::string_view(keys_).substr(keys_.size() - key.size());
  }
  entries_.push_back({key, entry.time, entry.id});
}

std::shared_ptr<const SortedEntries> SortedEntries::Sort(
    const std::vector<LocationEntry>& entries) {
  std::vector<LocationEntry> sorted = entries;
  std::sort(sorted.begin(), sorted.end());
  std::shared_ptr<SortedEntries> result(new SortedEntries);
  result->keys_.reserve(KeyBytes(entries));
  result->entries_.reserve(entries.size());
  for (const LocationEntry& entry : sorted) result->Append(entry);
  return result;
}

std::shared_ptr<const SortedEntries> SortedEntries::Merge(const SortedEntries& a,
                                                          const SortedEntries& b) {
  std::shared_ptr<SortedEntries> result(new SortedEntries);
  result->keys_.reserve(a.keys_.size() + b.keys_.size());
  result->entries_.reserve(a.size() + b.size());
  auto left = a.entries_.begin();
  auto right = b.entries_.begin();
  while (left != a.entries_.end() || right != b.entries_.end()) {
    const bool take_left =
        right == b.entries_.end() || (left != a.entries_.end() && *left <= *right);
    result->Append(take_left ? *left++ : *right++);
  }
  return result;
}

std::unique_ptr<LocationCursor> SortedEntries::NewCursor() const {
  return std::make_unique<VectorCursor>(entries_);
}

void LocationMemtable::Add(const LocationEntry& entry) {
  keys_ += entry.key;
  pending_.push_back({keys_.size(), entry.time, entry.id});
  ++entries_;
}

LocationMemtable::Parts LocationMemtable::Sorted() {
  if (pending_.empty()) return parts_;
  std::vector<LocationEntry> entries;
  entries.reserve(pending_.size());
  std::size_t begin = 0;
  for (const Pending& pending : pending_) {
    entries.push_back(
        {std::string_view(keys_).substr(begin, pending.key_end - begin), pending.time, pending.id});
    begin = pending.key_end;
  }
  parts_.push_back(SortedEntries::Sort(entries));
  pending_.clear();
  keys_.clear();
  while (parts_.size() > 1 && parts_[parts_.size() - 2]->size() <= 2 * parts_.back()->size()) {
    const auto merged = SortedEntries::Merge(*parts_[parts_.size() - 2], *parts_.back());
    parts_.resize(parts_.size() - 2);
    parts_.push_back(merged);
  }
  return parts_;
}

}  // namespace stele::catalog
