#include "store/container_table.h"

namespace stele::store {

Result<std::optional<std::string>> MemoryBlockTable::Get(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = rows_.find(key);
  if (found == rows_.end()) return std::optional<std::string>();
  return std::optional(found->second);
}

Status MemoryBlockTable::Write(const Changes& changes) {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, value] : changes) {
    if (value) {
      rows_[key] = *value;
    } else {
      rows_.erase(key);
    }
  }
  return {};
}

Status MemoryBlockTable::ScanAfter(const std::string& prefix, const std::string& after,
                                   const Visit& visit) const {
  Rows rows;
  {
    const std::lock_guard lock(mutex_);
    auto row = after < prefix ? rows_.lower_bound(prefix) : rows_.upper_bound(after);
    for (; row != rows_.end() && row->first.starts_with(prefix); ++row) {
      rows.insert(rows.end(), *row);
    }
  }
  for (const auto& [key, value] : rows) {
    if (!visit(key, value)) break;
  }
  return {};
}

Status MemoryBlockTable::Flush() {
  const std::lock_guard lock(mutex_);
  flushed_ = rows_;
  return {};
}

Status MemoryBlockTable::Clear() {
  const std::lock_guard lock(mutex_);
  rows_.clear();
  return {};
}

void MemoryBlockTable::Crash() {
  const std::lock_guard lock(mutex_);
  rows_ = flushed_;
}

}  // namespace stele::store
