#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "util/result.h"

namespace stele::store {

// Rows that can be lost and made again from the containers: changes become durable in the order
// they were written, sooner or later, each Write() as a whole or not at all. Thread-safe.
class BlockTable {
 public:
  virtual ~BlockTable() = default;

  // No value: the row goes.
  using Changes = std::map<std::string, std::optional<std::string>, std::less<>>;
  // False stops the scan.
  using Visit = std::function<bool(std::string_view key, std::string_view value)>;

  virtual Result<std::optional<std::string>> Get(const std::string& key) const = 0;
  virtual Status Write(const Changes& changes) = 0;
  // The rows whose keys begin with `prefix`, in the order of their bytes, as they are at the
  // begin of the scan; those behind `after` only.
  virtual Status ScanAfter(const std::string& prefix, const std::string& after,
                           const Visit& visit) const = 0;
  Status Scan(const std::string& prefix, const Visit& visit) const {
    return ScanAfter(prefix, "", visit);
  }
  // Makes everything written so far durable.
  virtual Status Flush() = 0;
  // Removes all rows.
  virtual Status Clear() = 0;
};

// In memory only.
class MemoryBlockTable final : public BlockTable {
 public:
  Result<std::optional<std::string>> Get(const std::string& key) const override;
  Status Write(const Changes& changes) override;
  Status ScanAfter(const std::string& prefix, const std::string& after,
                   const Visit& visit) const override;
  Status Flush() override;
  Status Clear() override;

  // The rows as they were at the last Flush().
  void Crash();

 private:
  using Rows = std::map<std::string, std::string, std::less<>>;

  mutable std::mutex mutex_;
  Rows rows_;
  Rows flushed_;
};

// In RocksDB, in `directory`, which is made when missing. Rows that RocksDB itself finds damaged
// when it opens are given up, all of them. Errors: kBusy when it is open elsewhere, kIo.
Result<std::unique_ptr<BlockTable>> OpenRocksBlockTable(const std::string& directory);

// The same with rows that cannot be made again: each Write() is durable when it returns, and
// writers that come together share a sync. Errors: also kCorrupt when something that was written is
// damaged; nothing is given up.
Result<std::unique_ptr<BlockTable>> OpenDurableRocksTable(const std::string& directory);

}  // namespace stele::store
