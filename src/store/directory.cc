#include "store/directory.h"

#include <fmt/format.h>

#include <utility>

namespace stele::store {
namespace {

// The first byte of a row's key says what it is.
constexpr char kMarker[] = "d";
constexpr char kStub = 's';
constexpr char kMove = 'm';
constexpr char kArrival = 'a';
constexpr char kOwed = 'o';

std::string StubPrefix(const Signature& signature) {
  std::string key(1, kStub);
  key += static_cast<char>(signature.bytes().size());
  return key.append(signature.bytes());
}

std::string ArrivalKey(const Directory::Move& move) {
  return kArrival + move.to.Text() + ' ' + move.from.Text();
}

Error Damaged(std::string_view what) {
  return {ErrorCode::kCorrupt, fmt::format("the directory has a row that is no {}", what)};
}

}  // namespace

Directory::Directory(std::unique_ptr<BlockTable> table, std::string volume)
    : table_(std::move(table)), volume_(std::move(volume)) {}

Result<std::unique_ptr<Directory>> Directory::Open(std::unique_ptr<BlockTable> table,
                                                   const std::string& volume, bool must_exist) {
  const Result<std::optional<std::string>> marker = table->Get(kMarker);
  if (!marker) return marker.error();
  const std::string wanted = "1 " + volume;
  if (!*marker && must_exist) {
    return Error{ErrorCode::kCorrupt, fmt::format("the directory of volume {} is lost", volume)};
  }
  if (*marker && **marker != wanted) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("the directory of volume {} is another one's or damaged", volume)};
  }
  if (!*marker) {
    const Status made = table->Write({{kMarker, wanted}});
    if (!made) return made.error();
  }
  std::unique_ptr<Directory> directory(new Directory(std::move(table), volume));
  const Result<bool> stubs = directory->HasRows(std::string(1, kStub));
  if (!stubs) return stubs.error();
  const Result<bool> moves = directory->HasRows(std::string(1, kMove));
  if (!moves) return moves.error();
  directory->has_stubs_ = *stubs;
  directory->has_moves_ = *moves;
  return directory;
}

Result<bool> Directory::HasRows(const std::string& prefix) const {
  bool found = false;
  const Status scanned = table_->Scan(prefix, [&](std::string_view, std::string_view) {
    found = true;
    return false;
  });
  if (!scanned) return scanned.error();
  return found;
}

// Rows that are there already cost no sync.
Status Directory::Put(const BlockTable::Changes& rows) {
  BlockTable::Changes missing;
  for (const auto& [key, value] : rows) {
    const Result<std::optional<std::string>> known = table_->Get(key);
    if (!known) return known.error();
    if (*known != value) missing.emplace(key, value);
  }
  return missing.empty() ? Status() : table_->Write(missing);
}

Status Directory::AddStubs(std::span<const Signature> signatures, const std::string& volume) {
  BlockTable::Changes rows;
  for (const Signature& signature : signatures) rows.emplace(StubPrefix(signature) + volume, "");
  has_stubs_ = true;
  return Put(rows);
}

Result<std::vector<std::string>> Directory::Holders(const Signature& signature) const {
  std::vector<std::string> holders;
  if (!has_stubs_) return holders;
  const std::string prefix = StubPrefix(signature);
  const Status scanned = table_->Scan(prefix, [&](std::string_view key, std::string_view) {
    holders.emplace_back(key.substr(prefix.size()));
    return true;
  });
  if (!scanned) return scanned.error();
  return holders;
}

Status Directory::AddMove(const ContentKey& from, const ContentKey& to) {
  BlockTable::Changes rows = {{kMove + from.Text(), to.Text()}};
  if (to.volume == volume_) rows.emplace(ArrivalKey({from, to}), "");
  has_moves_ = true;
  return Put(rows);
}

Result<std::optional<ContentKey>> Directory::MovedTo(const ContentKey& from) const {
  if (!has_moves_) return std::optional<ContentKey>();
  const Result<std::optional<std::string>> row = table_->Get(kMove + from.Text());
  if (!row) return row.error();
  if (!*row) return std::optional<ContentKey>();
  std::optional<ContentKey> to = ContentKey::Parse(**row);
  if (!to) return Damaged("move");
  return to;
}

Result<std::vector<Directory::Move>> Directory::MovesOf(const std::string& volume,
                                                        const Signature& signature) const {
  std::vector<Move> moves;
  if (!has_moves_) return moves;
  bool damaged = false;
  const Status scanned = table_->Scan(kMove + ContentKey{volume, signature, 0}.Text(),
                                      [&](std::string_view key, std::string_view value) {
                                        auto from = ContentKey::Parse(key.substr(1));
                                        auto to = ContentKey::Parse(value);
                                        damaged |= !from || !to;
                                        // Longer signatures begin with shorter ones.
                                        if (from && to && from->signature == signature) {
                                          moves.push_back({*std::move(from), *std::move(to)});
                                        }
                                        return true;
                                      });
  if (!scanned) return scanned.error();
  if (damaged) return Damaged("move");
  return moves;
}

Result<std::vector<ContentKey>> Directory::FormerKeys(const ContentKey& to) const {
  std::vector<ContentKey> keys;
  if (!has_moves_) return keys;
  bool damaged = false;
  const std::string prefix = kArrival + to.Text() + ' ';
  const Status scanned = table_->Scan(prefix, [&](std::string_view key, std::string_view) {
    auto from = ContentKey::Parse(key.substr(prefix.size()));
    damaged |= !from;
    if (from) keys.push_back(*std::move(from));
    return true;
  });
  if (!scanned) return scanned.error();
  if (damaged) return Damaged("arrival");
  return keys;
}

Result<std::vector<Directory::Move>> Directory::Arrivals(const std::optional<Move>& after,
                                                         std::size_t limit) const {
  std::vector<Move> arrivals;
  const std::string begin = after ? ArrivalKey(*after) : std::string();
  bool damaged = false;
  const Status scanned =
      table_->Scan(std::string(1, kArrival), [&](std::string_view key, std::string_view) {
        if (key <= begin) return true;
        const std::size_t space = std::min(key.find(' '), key.size() - 1);
        auto to = ContentKey::Parse(key.substr(1, space - 1));
        auto from = ContentKey::Parse(key.substr(space + 1));
        damaged |= !from || !to;
        if (from && to) arrivals.push_back({*std::move(from), *std::move(to)});
        return arrivals.size() < limit;
      });
  if (!scanned) return scanned.error();
  if (damaged) return Damaged("arrival");
  return arrivals;
}

Status Directory::Owe(const Signature& signature) {
  return Put({{kOwed + std::string(signature.bytes()), ""}});
}

Result<std::vector<Signature>> Directory::Owed(const std::optional<Signature>& after,
                                               std::size_t limit) const {
  std::vector<Signature> owed;
  bool damaged = false;
  const Status scanned =
      table_->Scan(std::string(1, kOwed), [&](std::string_view key, std::string_view) {
        key.remove_prefix(1);
        if (after && key <= after->bytes()) return true;
        damaged |= key.empty() || key.size() > Signature::kBytesMax;
        if (!damaged) owed.emplace_back(key);
        return !damaged && owed.size() < limit;
      });
  if (!scanned) return scanned.error();
  if (damaged) return Damaged("signature");
  return owed;
}

Status Directory::Forget(std::span<const Signature> owed) {
  BlockTable::Changes rows;
  for (const Signature& signature : owed) {
    rows.emplace(kOwed + std::string(signature.bytes()), std::nullopt);
  }
  return rows.empty() ? Status() : table_->Write(rows);
}

}  // namespace stele::store
