// SQLite: one table in the order of URL and time, and an index by time.
#include <fmt/format.h>
#include <sqlite3.h>

#include <optional>

#include "catalog_load/contender.h"
#include "formats/url/surt.h"

namespace stele::bench {
namespace {

class Statement {
 public:
  Statement(sqlite3* db, const char* text) : db_(db) {
    Require(sqlite3_prepare_v2(db, text, -1, &statement_, nullptr) == SQLITE_OK,
            sqlite3_errmsg(db));
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& Bind(int place, std::string_view text) {
    sqlite3_bind_text(statement_, place, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
    return *this;
  }
  Statement& Bind(int place, std::int64_t number) {
    sqlite3_bind_int64(statement_, place, number);
    return *this;
  }
  // False behind the last row.
  bool Step() {
    const int code = sqlite3_step(statement_);
    Require(code == SQLITE_ROW || code == SQLITE_DONE, sqlite3_errmsg(db_));
    return code == SQLITE_ROW;
  }
  void Run() {
    Require(!Step(), "a row where none was expected");
    Reset();
  }
  void Reset() { sqlite3_reset(statement_); }
  std::string_view Text(int column) const {
    return {reinterpret_cast<const char*>(sqlite3_column_text(statement_, column)),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }
  std::int64_t Number(int column) const { return sqlite3_column_int64(statement_, column); }

 private:
  sqlite3* const db_;
  sqlite3_stmt* statement_ = nullptr;
};

sqlite3* OpenDatabase(const std::string& path, bool fill) {
  sqlite3* db = nullptr;
  const int flags = fill ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  Require(sqlite3_open_v2(path.c_str(), &db, flags, nullptr) == SQLITE_OK, "cannot open " + path);
  const std::string settings =
      fmt::format("PRAGMA cache_size=-{};", kCacheBytes / 1024) +
      (fill ? "PRAGMA page_size=16384; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
              "CREATE TABLE captures(key TEXT, time INTEGER, fields TEXT, PRIMARY KEY(key, time))"
              " WITHOUT ROWID;"
              "CREATE INDEX by_time ON captures(time);"
            : "");
  Require(sqlite3_exec(db, settings.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK,
          sqlite3_errmsg(db));
  return db;
}

class Sqlite final : public Contender {
 public:
  Sqlite(const std::string& directory, bool fill)
      : db_(OpenDatabase(directory + "/captures.sqlite", fill)) {}
  ~Sqlite() override { sqlite3_close_v2(db_); }  // when its statements are gone, too

  void Add(std::span<const Row> rows) override {
    Statement(db_, "BEGIN").Run();
    Statement insert(db_, "INSERT INTO captures VALUES(?1, ?2, ?3)");
    for (const Row& row : rows) {
      insert.Bind(1, url::SurtKey(row.url)).Bind(2, row.capture.time.milliseconds);
      insert.Bind(3, CdxFields(row.capture)).Run();
    }
    Statement(db_, "COMMIT").Run();
  }

  void Finish() override {
    Require(sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr) ==
                SQLITE_OK,
            sqlite3_errmsg(db_));
  }

  void Nearest(std::string_view key, Timestamp time, const Take& take) override {
    std::string fields;
    const std::optional<std::int64_t> found = FindNearest(key, time, fields);
    if (found) take(key, {*found});
  }

  std::size_t NearestLine(std::string_view key, Timestamp time) override {
    std::string fields;
    return FindNearest(key, time, fields) ? fields.size() : 0;
  }

  void Span(std::string_view key, Timestamp from, Timestamp to, const Take& take) override {
    Statement rows(db_, "SELECT time FROM captures WHERE key=?1 AND time BETWEEN ?2 AND ?3");
    rows.Bind(1, key).Bind(2, from.milliseconds).Bind(3, to.milliseconds);
    while (rows.Step()) take(key, {rows.Number(0)});
  }

  void Prefix(std::string_view prefix, const Take& take) override {
    Statement rows(db_, "SELECT key, time FROM captures WHERE key >= ?1 AND key < ?2");
    rows.Bind(1, prefix).Bind(2, std::string(prefix) + '\x7F');
    while (rows.Step()) take(rows.Text(0), {rows.Number(1)});
  }

  void AcquiredIn(Timestamp from, Timestamp to, const Take& take) override {
    Statement rows(db_, "SELECT key, time FROM captures WHERE time BETWEEN ?1 AND ?2");
    rows.Bind(1, from.milliseconds).Bind(2, to.milliseconds);
    while (rows.Step()) take(rows.Text(0), {rows.Number(1)});
  }

  void Alive(std::string_view prefix, Timestamp from, Timestamp to, const Take& take) override {
    AliveFilter filter(from, to, take);
    Prefix(prefix, [&](std::string_view key, Timestamp time) { filter.Add(key, time); });
    filter.Flush();
  }

 private:
  std::optional<std::int64_t> FindNearest(std::string_view key, Timestamp time,
                                          std::string& fields) {
    before_.Bind(1, key).Bind(2, time.milliseconds);
    after_.Bind(1, key).Bind(2, time.milliseconds);
    const bool has_before = before_.Step();
    const bool has_after = after_.Step();
    std::optional<std::int64_t> found;
    if (has_before || has_after) {
      const bool take_after =
          has_after && (!has_before || after_.Number(0) - time.milliseconds <
                                           time.milliseconds - before_.Number(0));
      Statement& taken = take_after ? after_ : before_;
      found = taken.Number(0);
      fields = taken.Text(1);
    }
    before_.Reset();
    after_.Reset();
    return found;
  }

  sqlite3* const db_;
  Statement before_{db_,
                    "SELECT time, fields FROM captures WHERE key=?1 AND time<=?2"
                    " ORDER BY time DESC LIMIT 1"};
  Statement after_{db_,
                   "SELECT time, fields FROM captures WHERE key=?1 AND time>=?2"
                   " ORDER BY time LIMIT 1"};
};

}  // namespace

std::unique_ptr<Contender> MakeSqlite(const std::string& directory, bool fill) {
  return std::make_unique<Sqlite>(directory, fill);
}

}  // namespace stele::bench
