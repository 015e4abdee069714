// A group is what a search decodes from its begin: few keys, and not too many entries. The first
// key of a group is whole, the others share the front of the one before; a key whose entries go on
// in the next group stands there again.
#include "catalog/location_page.h"

#include <algorithm>

#include "catalog/capture.h"
#include "util/check.h"

namespace stele::catalog {
namespace {

constexpr std::size_t kGroupKeys = 16;
constexpr std::size_t kGroupEntries = 128;
constexpr std::size_t kGroupSize = 6;  // three offsets of two bytes

// Differences go around at the ends of their range, so that any two numbers have one.
std::int64_t Minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t Plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

void PutOffset(std::string& out, std::size_t offset) {
  Check(offset <= 0xFFFF);
  out += static_cast<char>(offset);
  out += static_cast<char>(offset >> 8);
}

Error Corrupt() { return {ErrorCode::kCorrupt, "a page of locations cannot be understood"}; }

}  // namespace

std::size_t LocationPageBuilder::bytes() const {
  return groups_.size() + keys_.size() + times_.size() + ids_.size();
}

void LocationPageBuilder::FinishKey() {
  if (key_entries_ > 0) PutVarint(keys_, key_entries_);
  key_entries_ = 0;
}

void LocationPageBuilder::BeginGroup() {
  FinishKey();
  PutOffset(groups_, keys_.size());
  PutOffset(groups_, times_.size());
  PutOffset(groups_, ids_.size());
  ++group_count_;
  group_keys_ = 0;
  group_entries_ = 0;
  key_time_ = base_time_;
}

void LocationPageBuilder::Add(const LocationEntry& entry) {
  Check(entry.key.size() <= kLocationKeyMax);
  if (entries_ == 0) base_time_ = entry.time.milliseconds;
  const bool same_key = entries_ > 0 && entry.key == key_;
  if (entries_ == 0 || group_entries_ == kGroupEntries ||
      (!same_key && group_keys_ == kGroupKeys)) {
    BeginGroup();
  }
  const std::int64_t time = entry.time.milliseconds;
  if (!same_key || group_entries_ == 0) {
    FinishKey();
    const std::size_t shared =
        group_keys_ == 0
            ? 0
            : static_cast<std::size_t>(
                  std::mismatch(key_.begin(), key_.end(), entry.key.begin(), entry.key.end())
                      .first -
                  key_.begin());
    PutVarint(keys_, shared);
    PutSized(keys_, entry.key.substr(shared));
    PutSignedVarint(times_, Minus(time, key_time_));
    key_time_ = time;
    key_.assign(entry.key);
    ++group_keys_;
  } else {
    PutVarint(times_, static_cast<std::uint64_t>(Minus(time, last_time_)));
  }
  last_time_ = time;
  // The lowest bit says that the batch is not the month of the time, and follows.
  const bool odd_batch = entry.id.batch != BatchOf(entry.time);
  const std::int64_t off =
      std::int64_t{entry.id.serial} - std::int64_t{clock_.Guess(entry.id.batch, entry.time)};
  PutSignedVarint(ids_, off * 2 + (odd_batch ? 1 : 0));
  if (odd_batch) PutVarint(ids_, entry.id.batch);
  ++key_entries_;
  ++group_entries_;
  ++entries_;
}

PageParts LocationPageBuilder::Take() {
  FinishKey();
  std::string head;
  PutVarint(head, group_count_);
  PutSignedVarint(head, base_time_);
  PutVarint(head, keys_.size());
  PutVarint(head, times_.size());
  PutVarint(head, ids_.size());
  PageParts page{head + groups_, keys_, times_, ids_};
  for (std::string* part : {&groups_, &keys_, &times_, &ids_}) part->clear();
  group_count_ = 0;
  entries_ = 0;
  return page;
}

Status LocationPageCursor::Open(std::string_view page) {
  ByteReader reader(page);
  const std::uint64_t groups = reader.Varint();
  base_time_ = reader.SignedVarint();
  const std::uint64_t keys_size = reader.Varint();
  const std::uint64_t times_size = reader.Varint();
  const std::uint64_t ids_size = reader.Varint();
  if (groups == 0 || groups > page.size()) return Corrupt();
  group_count_ = groups;
  groups_ = reader.Bytes(groups * kGroupSize);
  keys_ = reader.Bytes(keys_size);
  times_ = reader.Bytes(times_size);
  ids_ = reader.Bytes(ids_size);
  if (!reader.good() || !reader.AtEnd()) return Corrupt();
  return {};
}

std::size_t LocationPageCursor::GroupOffset(std::size_t group, std::size_t column) const {
  const std::size_t at = group * kGroupSize + column * 2;
  return static_cast<unsigned char>(groups_[at]) |
         std::size_t{static_cast<unsigned char>(groups_[at + 1])} << 8;
}

std::string_view LocationPageCursor::GroupSlice(std::string_view bytes, std::size_t group,
                                                std::size_t column) const {
  const std::size_t begin = GroupOffset(group, column);
  const std::size_t end = group + 1 < group_count_ ? GroupOffset(group + 1, column) : bytes.size();
  if (begin > end || end > bytes.size()) return {};
  return bytes.substr(begin, end - begin);
}

bool LocationPageCursor::EnterGroup(std::size_t group) {
  group_ = group;
  key_reader_ = ByteReader(GroupSlice(keys_, group, 0));
  time_reader_ = ByteReader(GroupSlice(times_, group, 1));
  id_reader_ = ByteReader(GroupSlice(ids_, group, 2));
  key_.clear();
  key_left_ = 0;
  key_time_ = base_time_;
  good_ = !key_reader_.AtEnd();  // no group is empty
  return good_;
}

bool LocationPageCursor::Step() {
  const bool key_begins = key_left_ == 0;
  if (key_begins) {
    if (key_reader_.AtEnd()) {
      good_ = good_ && time_reader_.AtEnd() && id_reader_.AtEnd();
      return false;
    }
    const std::uint64_t shared = key_reader_.Varint();
    const std::string_view rest = key_reader_.Sized();
    key_left_ = key_reader_.Varint();
    good_ = good_ && key_reader_.good() && shared <= key_.size() && key_left_ > 0 &&
            shared + rest.size() <= kLocationKeyMax;
    if (!good_) return false;
    key_.replace(shared, std::string::npos, rest);
    entry_.key = key_;
    key_time_ = Plus(key_time_, time_reader_.SignedVarint());
    entry_.time.milliseconds = key_time_;
  } else {
    entry_.time.milliseconds =
        Plus(entry_.time.milliseconds, static_cast<std::int64_t>(time_reader_.Varint()));
  }
  --key_left_;
  id_number_ = id_reader_.SignedVarint();
  odd_batch_ = id_number_ & 1 ? id_reader_.Varint() : 0;
  good_ = good_ && time_reader_.good() && id_reader_.good();
  return good_;
}

bool LocationPageCursor::TakeId() {
  const std::uint64_t batch = id_number_ & 1 ? odd_batch_ : BatchOf(entry_.time);
  good_ = good_ && batch <= 0xFFFF'FFFF;
  entry_.id.batch = static_cast<std::uint32_t>(batch);
  const std::int64_t serial =
      std::int64_t{clock_.Guess(entry_.id.batch, entry_.time)} + (id_number_ >> 1);
  good_ = good_ && serial >= 0 && serial <= 0xFFFF'FFFF;
  entry_.id.serial = static_cast<std::uint32_t>(serial);
  return good_;
}

LocationCursor::Move LocationPageCursor::Entry() {
  if (!TakeId()) return Corrupt();
  return &entry_;
}

bool LocationPageCursor::Before(const LocationEntry& at, bool or_at) {
  const int keys = entry_.key.compare(at.key);
  if (keys != 0) return keys < 0;
  if (entry_.time != at.time) return entry_.time < at.time;
  TakeId();
  return entry_.id < at.id || (or_at && entry_.id == at.id);
}

LocationCursor::Move LocationPageCursor::First() {
  if (!EnterGroup(0) || !Step()) return Corrupt();
  return Entry();
}

LocationCursor::Move LocationPageCursor::Next() {
  if (Step()) return Entry();
  if (!good_) return Corrupt();
  if (group_ + 1 == group_count_) return nullptr;
  if (!EnterGroup(group_ + 1) || !Step()) return Corrupt();
  return Entry();
}

std::size_t LocationPageCursor::GroupOf(const LocationEntry& at) {
  std::size_t low = 0;
  std::size_t high = group_count_ - 1;  // the answer is in [low, high]
  while (low < high) {
    const std::size_t middle = low + (high - low + 1) / 2;
    if (!EnterGroup(middle) || !Step()) return middle;  // found again when it is entered
    if (Before(at, /*or_at=*/true)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

LocationCursor::Move LocationPageCursor::Seek(const LocationEntry& at) {
  if (!EnterGroup(GroupOf(at)) || !Step()) return Corrupt();
  while (Before(at, /*or_at=*/false)) {
    if (Step()) continue;
    if (!good_) return Corrupt();
    if (group_ + 1 == group_count_) return nullptr;
    if (!EnterGroup(group_ + 1) || !Step()) return Corrupt();
  }
  return Entry();
}

LocationCursor::Move LocationPageCursor::SeekBackIn(std::size_t group, const LocationEntry* at) {
  if (!EnterGroup(group)) return Corrupt();
  LocationEntry best;
  std::int64_t best_number = 0;
  std::uint64_t best_batch = 0;
  bool found = false;
  while (Step()) {
    if (at != nullptr && !Before(*at, /*or_at=*/true)) break;
    if (!found || best.key != entry_.key) {
      back_key_ = key_;
    }
    best = entry_;
    best.key = back_key_;
    best_number = id_number_;
    best_batch = odd_batch_;
    found = true;
  }
  if (!good_) return Corrupt();
  if (!found) return nullptr;
  entry_ = best;
  id_number_ = best_number;
  odd_batch_ = best_batch;
  return Entry();
}

LocationCursor::Move LocationPageCursor::SeekBack(const LocationEntry& at) {
  return SeekBackIn(GroupOf(at), &at);
}

LocationCursor::Move LocationPageCursor::Last() { return SeekBackIn(group_count_ - 1, nullptr); }

}  // namespace stele::catalog
