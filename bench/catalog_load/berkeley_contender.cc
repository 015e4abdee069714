// Berkeley DB: a B+-tree with a key of URL and time, and the fields of an index line, as Wayback
// had it. Durable by a checkpoint of the file after each group of rows.
#include <db.h>

#include <cstring>

#include "catalog_load/contender.h"
#include "formats/url/surt.h"

namespace stele::bench {
namespace {

void Must(int code) { Require(code == 0, db_strerror(code)); }

DBT Slice(std::string_view text) {
  DBT slice = {};
  slice.data = const_cast<char*>(text.data());
  slice.size = static_cast<u_int32_t>(text.size());
  return slice;
}

std::string_view TextOf(const DBT& slice) {
  return {static_cast<const char*>(slice.data), slice.size};
}

class Cursor {
 public:
  explicit Cursor(DB* db) { Must(db->cursor(db, nullptr, &cursor_, 0)); }
  ~Cursor() { cursor_->close(cursor_); }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  // To the first that is not before `at`; false when there is none.
  bool Seek(std::string_view at) {
    key_ = Slice(at);
    return Move(DB_SET_RANGE);
  }
  bool Next() { return Move(DB_NEXT); }
  bool Back() { return Move(DB_PREV); }
  bool Last() { return Move(DB_LAST); }
  std::string_view key() const { return TextOf(key_); }
  std::string_view value() const { return TextOf(value_); }

 private:
  bool Move(u_int32_t how) {
    const int code = cursor_->get(cursor_, &key_, &value_, how);
    if (code == DB_NOTFOUND) return false;
    Must(code);
    return true;
  }

  DBC* cursor_ = nullptr;
  DBT key_ = {};
  DBT value_ = {};
};

class Berkeley final : public Contender {
 public:
  Berkeley(const std::string& directory, bool fill) {
    Must(db_create(&db_, nullptr, 0));
    Must(db_->set_cachesize(db_, 0, kCacheBytes, 1));
    Must(db_->set_pagesize(db_, 16384));
    Must(db_->open(db_, nullptr, (directory + "/captures.db").c_str(), nullptr, DB_BTREE,
                   fill ? DB_CREATE : DB_RDONLY, 0644));
  }
  ~Berkeley() override { db_->close(db_, 0); }

  void Add(std::span<const Row> rows) override {
    for (const Row& row : rows) {
      const std::string name = SortedKey(url::SurtKey(row.url), row.capture.time);
      const std::string fields = CdxFields(row.capture);
      DBT key = Slice(name);
      DBT value = Slice(fields);
      Must(db_->put(db_, nullptr, &key, &value, 0));
    }
    Must(db_->sync(db_, 0));
  }

  void Finish() override { Must(db_->sync(db_, 0)); }

  void Nearest(std::string_view key, Timestamp time, const Take& take) override {
    Cursor at(db_);
    if (FindNearest(at, key, time)) take(key, TimePart(at.key()));
  }

  std::size_t NearestLine(std::string_view key, Timestamp time) override {
    Cursor at(db_);
    return FindNearest(at, key, time) ? at.value().size() : 0;
  }

  void Span(std::string_view key, Timestamp from, Timestamp to, const Take& take) override {
    Cursor at(db_);
    const std::string last = SortedKey(key, to);
    for (bool more = at.Seek(SortedKey(key, from)); more && at.key() <= last; more = at.Next()) {
      take(key, TimePart(at.key()));
    }
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
  static bool FindNearest(Cursor& at, std::string_view key, Timestamp time) {
    const auto is_key = [&] { return KeyPart(at.key()) == key; };
    // First behind it, then before it.
    const bool behind = at.Seek(SortedKey(key, time));
    const bool has_later = behind && is_key();
    const std::int64_t later = has_later ? TimePart(at.key()).milliseconds : 0;
    if (has_later && later == time.milliseconds) return true;
    const bool has_before = (behind ? at.Back() : at.Last()) && is_key();
    if (!has_before) return has_later && at.Seek(SortedKey(key, {later}));
    const std::int64_t before = TimePart(at.key()).milliseconds;
    if (has_later && later - time.milliseconds < time.milliseconds - before) {
      return at.Seek(SortedKey(key, {later}));
    }
    return true;
  }

  template <typename Give>
  void Scan(std::string_view prefix, const Give& give) {
    Cursor at(db_);
    for (bool more = at.Seek(prefix); more && at.key().starts_with(prefix); more = at.Next()) {
      give(KeyPart(at.key()), TimePart(at.key()));
    }
  }

  DB* db_ = nullptr;
};

}  // namespace

std::unique_ptr<Contender> MakeBerkeley(const std::string& directory, bool fill) {
  return std::make_unique<Berkeley>(directory, fill);
}

}  // namespace stele::bench
