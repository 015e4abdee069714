// RocksDB with a key of URL and time, compressed by zstd: once with nothing behind the key but the
// id of the capture, once with the fields of an index line.
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/table.h>

#include "catalog_load/contender.h"
#include "formats/url/surt.h"

namespace stele::bench {
namespace {

void Must(const rocksdb::Status& status) { Require(status.ok(), status.ToString()); }

class Rocks final : public Contender {
 public:
  Rocks(const std::string& directory, bool fill, bool lines) : lines_(lines) {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
    table.block_size = 16384;
    rocksdb::Options options;
    options.create_if_missing = fill;
    options.compression = rocksdb::kZSTD;
    options.max_background_jobs = 2;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::DB* db = nullptr;
    Must(fill ? rocksdb::DB::Open(options, directory + "/rocksdb", &db)
              : rocksdb::DB::OpenForReadOnly(options, directory + "/rocksdb", &db));
    db_.reset(db);
  }

  void Add(std::span<const Row> rows) override {
    rocksdb::WriteBatch batch;
    for (const Row& row : rows) {
      const std::string key = SortedKey(url::SurtKey(row.url), row.capture.time);
      if (lines_) {
        Must(batch.Put(key, CdxFields(row.capture)));
      } else {
        const catalog::CaptureId id = row.capture.id;
        std::string value;
        for (int shift = 0; shift < 32; shift += 8) value += static_cast<char>(id.batch >> shift);
        for (int shift = 0; shift < 32; shift += 8) value += static_cast<char>(id.serial >> shift);
        Must(batch.Put(key, value));
      }
    }
    rocksdb::WriteOptions write;
    write.sync = true;
    Must(db_->Write(write, &batch));
  }

  void Finish() override {
    Must(db_->Flush({}));
    Must(db_->CompactRange({}, nullptr, nullptr));
  }

  void Nearest(std::string_view key, Timestamp time, const Take& take) override {
    const auto at = FindNearest(key, time);
    if (at != nullptr) take(key, TimePart(at->key().ToStringView()));
  }

  std::size_t NearestLine(std::string_view key, Timestamp time) override {
    const auto at = FindNearest(key, time);
    return at == nullptr || !lines_ ? 0 : at->value().size();
  }

  void Span(std::string_view key, Timestamp from, Timestamp to, const Take& take) override {
    const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator({}));
    const std::string last = SortedKey(key, to);
    for (at->Seek(SortedKey(key, from)); at->Valid() && at->key().compare(last) <= 0; at->Next()) {
      take(key, TimePart(at->key().ToStringView()));
    }
    Must(at->status());
  }

  void Prefix(std::string_view prefix, const Take& take) override { Scan(prefix, take); }

  void AcquiredIn(Timestamp from, Timestamp to, const Take& take) override {
    Scan("", [&](std::string_view key, Timestamp time) {
      if (from <= time && time <= to) take(key, time);
    });
  }

  void Alive(std::string_view prefix, Timestamp from, Timestamp to, const Take& take) override {
    AliveFilter filter(from, to, take);
    Scan(prefix, [&](std::string_view key, Timestamp time) { filter.Add(key, time); });
    filter.Flush();
  }

 private:
  // Null when the key was never captured.
  std::unique_ptr<rocksdb::Iterator> FindNearest(std::string_view key, Timestamp time) {
    std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator({}));
    const auto is_key = [&] { return at->Valid() && KeyPart(at->key().ToStringView()) == key; };
    at->SeekForPrev(SortedKey(key, time));
    if (!is_key()) {
      at->Seek(SortedKey(key, time));
      if (!is_key()) at.reset();
      return at;
    }
    const Timestamp before = TimePart(at->key().ToStringView());
    at->Next();
    const bool later =
        is_key() && TimePart(at->key().ToStringView()).milliseconds - time.milliseconds <
                        time.milliseconds - before.milliseconds;
    if (!later) at->SeekForPrev(SortedKey(key, before));
    Must(at->status());
    return at;
  }

  template <typename Give>
  void Scan(std::string_view prefix, const Give& give) {
    rocksdb::ReadOptions read;
    read.readahead_size = prefix.empty() ? 2 << 20 : 0;
    read.fill_cache = !prefix.empty();
    const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(read));
    for (at->Seek(prefix); at->Valid() && at->key().starts_with(prefix); at->Next()) {
      const std::string_view key = at->key().ToStringView();
      give(KeyPart(key), TimePart(key));
    }
    Must(at->status());
  }

  const bool lines_;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace

std::unique_ptr<Contender> MakeRocksKeys(const std::string& directory, bool fill) {
  return std::make_unique<Rocks>(directory, fill, false);
}

std::unique_ptr<Contender> MakeRocksLines(const std::string& directory, bool fill) {
  return std::make_unique<Rocks>(directory, fill, true);
}

}  // namespace stele::bench
