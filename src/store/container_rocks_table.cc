// RocksDB without its own log: the containers are the log. Writes go to memory and reach the disk
// in their order, a batch never in part, so that what is found after a crash is what the rows were
// at some earlier moment, with the log position that belongs to it.
#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>

#include "io/file_system.h"
#include "store/container_rocks_table.h"
#include "store/rocks_log.h"

namespace stele::store {
namespace {

Status Translated(const rocksdb::Status& status, const std::string& directory) {
  if (status.ok()) return {};
  const ErrorCode code = status.IsCorruption() ? ErrorCode::kCorrupt
                         : status.IsNoSpace()  ? ErrorCode::kFull
                                               : ErrorCode::kIo;
  return Error{code, fmt::format("the table in {}: {}", directory, status.ToString())};
}

constexpr std::uint64_t kOpeningBytes = 1 << 20;

// Of a table, in memory.
enum class Indexes {
  kWhole,    // fast, and as long as the table is
  kBounded,  // within the cache, as are rows that wait to be written
};

rocksdb::Options MakeOptions(Indexes indexes) {
  const bool is_bounded = indexes == Indexes::kBounded;
  const std::size_t cache_bytes = (is_bounded ? 48 : 64) << 20;
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = (is_bounded ? 16 : 32) << 20;
  options.max_background_jobs = 2;
  options.keep_log_file_num = 2;
  options.info_log_level = rocksdb::WARN_LEVEL;
  options.compression = rocksdb::kLZ4Compression;
  // Most rows that are asked for are not there: operations that nobody has done yet.
  options.memtable_prefix_bloom_size_ratio = 0.1;
  options.memtable_whole_key_filtering = true;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(cache_bytes);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.cache_index_and_filter_blocks = is_bounded;
  table.pin_l0_filter_and_index_blocks_in_cache = is_bounded;
  if (is_bounded) {
    // While several buffers wait to be written, the cache has less room for what is read.
    options.write_buffer_manager =
        std::make_shared<rocksdb::WriteBufferManager>(options.write_buffer_size, table.block_cache);
    // Whoever writes a file has its index and filter in memory until it is whole.
    options.target_file_size_base = 8 << 20;
    // In parts: the whole filter of a large file finds no room in the cache, and would be read
    // again for each key.
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
    table.metadata_block_size = 4 << 10;
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

class RocksBlockTable final : public BlockTable {
 public:
  RocksBlockTable(std::string directory, std::unique_ptr<rocksdb::DB> db, bool durable)
      : directory_(std::move(directory)), db_(std::move(db)) {
    write_options_.disableWAL = !durable;
    write_options_.sync = durable;
  }

  Result<std::optional<std::string>> Get(const std::string& key) const override {
    std::string value;
    const rocksdb::Status got = db_->Get({}, key, &value);
    if (got.IsNotFound()) return std::optional<std::string>();
    if (const Status status = Translated(got, directory_); !status) return status.error();
    return std::optional(std::move(value));
  }

  Status Write(const Changes& changes) override {
    rocksdb::WriteBatch batch;
    rocksdb::Status status;
    for (const auto& [key, value] : changes) {
      if (status.ok()) status = value ? batch.Put(key, *value) : batch.Delete(key);
    }
    if (status.ok()) status = db_->Write(write_options_, &batch);
    return Translated(status, directory_);
  }

  Status ScanAfter(const std::string& prefix, const std::string& after,
                   const Visit& visit) const override {
    const std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator({}));
    rows->Seek(std::max(prefix, after));
    if (rows->Valid() && !after.empty() && rows->key() == after) rows->Next();
    for (; rows->Valid() && rows->key().starts_with(prefix); rows->Next()) {
      if (!visit(rows->key().ToStringView(), rows->value().ToStringView())) break;
    }
    return Translated(rows->status(), directory_);
  }

  Status Flush() override { return Translated(db_->Flush({}), directory_); }

  Status Clear() override {
    const std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator({}));
    rocksdb::WriteBatch batch;
    rocksdb::Status status;
    for (rows->SeekToFirst(); rows->Valid() && status.ok(); rows->Next()) {
      status = batch.Delete(rows->key());
      if (status.ok() && batch.Count() >= 10'000) {
        status = db_->Write(write_options_, &batch);
        batch.Clear();
      }
    }
    if (status.ok()) status = rows->status();
    if (status.ok()) status = db_->Write(write_options_, &batch);
    return Translated(status, directory_);
  }

 private:
  const std::string directory_;
  const std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions write_options_;
};

Result<std::unique_ptr<BlockTable>> Opened(const rocksdb::Status& status, rocksdb::DB* db,
                                           const std::string& directory, bool durable) {
  if (status.IsIOError() && status.ToString().find("lock") != std::string::npos) {
    return Error{ErrorCode::kBusy, fmt::format("the table in {} is open elsewhere", directory)};
  }
  if (const Status translated = Translated(status, directory); !translated) {
    return translated.error();
  }
  return std::unique_ptr<BlockTable>(
      std::make_unique<RocksBlockTable>(directory, std::unique_ptr<rocksdb::DB>(db), durable));
}

// RocksDB writes some files when it opens a table; where the disk has no room for them, it may end
// the program.
Status CheckRoom(rocksdb::Env& env, const std::string& directory) {
  std::uint64_t free = 0;
  rocksdb::Status asked = env.GetFreeSpace(directory, &free);
  if (!asked.ok()) asked = env.GetFreeSpace(io::ParentDirectory(directory), &free);
  if (!asked.ok() || free >= kOpeningBytes) return {};
  return Error{
      ErrorCode::kFull,
      fmt::format("the table in {} cannot be opened, as its disk is full: make room, a few "
                  "megabytes at least",
                  directory)};
}

Result<bool> IsDamagedAtItsEnd(rocksdb::Env& env, const std::string& directory) {
  std::vector<std::string> names;
  rocksdb::Status status = env.GetChildren(directory, &names);
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".log"); });
  std::sort(names.begin(), names.end());  // numbers with leading zeros
  std::vector<std::string> logs;
  for (const std::string& name : names) {
    if (!status.ok()) break;
    status = rocksdb::ReadFileToString(&env, directory + '/' + name, &logs.emplace_back());
  }
  if (const Status read = Translated(status, directory); !read) return read.error();
  return OnlyTheEndIsDamaged(logs);
}

// Takes the end off the manifest when it alone is damaged: RocksDB does not pass over wrong bytes
// there, as it does over missing ones. True when that was done.
Result<bool> CutManifest(rocksdb::Env& env, const std::string& directory) {
  std::string name;
  rocksdb::Status status = rocksdb::ReadFileToString(&env, directory + "/CURRENT", &name);
  if (name.ends_with('\n')) name.pop_back();
  const std::string path = directory + '/' + name;
  std::string manifest;
  if (status.ok()) status = rocksdb::ReadFileToString(&env, path, &manifest);
  if (status.ok() && !OnlyTheEndIsDamaged(std::span(&manifest, 1))) return false;
  manifest.resize(ReadableBytes(manifest));
  std::unique_ptr<rocksdb::Directory> names;
  if (status.ok()) status = rocksdb::WriteStringToFile(&env, manifest, path + ".cut", true);
  if (status.ok()) status = env.RenameFile(path + ".cut", path);
  if (status.ok()) status = env.NewDirectory(directory, &names);
  if (status.ok()) status = names->Fsync();
  if (const Status cut = Translated(status, directory); !cut) return cut.error();
  return true;
}

}  // namespace

Result<std::unique_ptr<BlockTable>> OpenRocksBlockTable(const std::string& directory) {
  return OpenRocksBlockTableOn(*rocksdb::Env::Default(), directory);
}

Result<std::unique_ptr<BlockTable>> OpenRocksBlockTableOn(rocksdb::Env& env,
                                                          const std::string& directory) {
  if (const Status room = CheckRoom(env, directory); !room) return room.error();
  rocksdb::Options options = MakeOptions(Indexes::kWhole);
  options.env = &env;
  rocksdb::DB* opened = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(options, directory, &opened);
  if (status.IsCorruption()) {
    status = rocksdb::DestroyDB(directory, options);
    if (status.ok()) status = rocksdb::DB::Open(options, directory, &opened);
  }
  return Opened(status, opened, directory, false);
}

Result<std::unique_ptr<BlockTable>> OpenDurableRocksTable(const std::string& directory) {
  return OpenDurableRocksTableOn(*rocksdb::Env::Default(), directory);
}

// What the power left of the last write, which was never acknowledged, is no damage: a record that
// is cut off, which RocksDB tells by itself, or one with wrong bytes. Any other damage is an error.
Result<std::unique_ptr<BlockTable>> OpenDurableRocksTableOn(rocksdb::Env& env,
                                                            const std::string& directory) {
  if (const Status room = CheckRoom(env, directory); !room) return room.error();
  rocksdb::Options options = MakeOptions(Indexes::kBounded);
  options.env = &env;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  rocksdb::DB* opened = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(options, directory, &opened);
  if (status.IsCorruption()) {
    const Result<bool> cut = CutManifest(env, directory);
    if (!cut) return cut.error();
    if (*cut) status = rocksdb::DB::Open(options, directory, &opened);
  }
  if (status.IsCorruption()) {
    const Result<bool> at_end = IsDamagedAtItsEnd(env, directory);
    if (!at_end) return at_end.error();
    if (*at_end) {
      options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
      status = rocksdb::DB::Open(options, directory, &opened);
    }
  }
  return Opened(status, opened, directory, true);
}

}  // namespace stele::store
