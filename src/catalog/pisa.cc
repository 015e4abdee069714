#include "catalog/pisa.h"

#include <algorithm>

#include "util/check.h"

// Only the blocks that are alive grow; all others stay as they were when they died. A split makes
// blocks that begin now, tells the parent, which may split in turn, and at the top begins a new
// root. Everything that happens at one moment happens at once: a block that would be born and die
// at the same moment is replaced instead.
//
// The access list of a key has all its versions one behind the other, in blocks of their own that
// point to the one before. The key's note in a data block is the block of the list that was the
// last when the data block was alive.
namespace stele::catalog {

struct Pisa::AccessBlock {
  struct Item {
    Timestamp birth;
    CaptureId capture;
  };
  std::uint32_t previous = 0;  // as a note: its place and one; 0 for none
  std::vector<Item> items;
};

Pisa::Pisa(PisaOptions options) : options_(std::move(options)), now_(options_.start) {
  Check(options_.limits.Valid());
  parts_.push_back({options_.first_key, {{now_, 0}}});
  NewBlock(PisaBlock(0, options_.first_key, now_, kNoPisaBlock));
}

Pisa::~Pisa() = default;

Status Pisa::CheckKey(std::string_view key) const {
  if (key.size() > options_.limits.key_bytes_max) {
    return Error{ErrorCode::kInvalid, "a key has more bytes than the tree takes"};
  }
  if (key < options_.first_key) {
    return Error{ErrorCode::kInvalid, "a key is before the first one of the tree"};
  }
  return {};
}

Status Pisa::Carry(std::string_view key, Timestamp birth, CaptureId capture) {
  Check(!grown_);
  if (Status status = CheckKey(key); !status) return status;
  InsertCapture(key, birth, capture);
  return {};
}

Status Pisa::Insert(std::string_view key, Timestamp time, CaptureId capture) {
  if (Status status = CheckKey(key); !status) return status;
  if (time < now_) {
    return Error{ErrorCode::kInvalid, "a capture is older than what the tree has already"};
  }
  now_ = time;
  grown_ = true;
  InsertCapture(key, time, capture);
  return {};
}

void Pisa::InsertCapture(std::string_view key, Timestamp birth, CaptureId capture) {
  const PisaBlockNumber number = InsertAt(0, key, birth, PackCaptureId(capture));
  if (options_.access_lists) Remember(*blocks_[number], key, birth, capture);
}

PisaBlockNumber Pisa::NewBlock(PisaBlock block) {
  blocks_.push_back(std::make_shared<PisaBlock>(std::move(block)));
  return blocks_.size() - 1;
}

PisaBlockNumber Pisa::LiveBlock(std::uint32_t level, std::string_view key) const {
  PisaBlockNumber number = parts_[0].roots.back().block;
  while (blocks_[number]->level() > level) {
    const PisaBlock& block = *blocks_[number];
    std::size_t i = block.LowerBound(key);
    if (!block.HasKey(i, key)) --i;
    number = block.ValueOf(block.FirstVersion(i + 1) - 1);
  }
  return number;
}

PisaBlockNumber Pisa::InsertAt(std::uint32_t level, std::string_view key, Timestamp birth,
                               std::uint64_t value) {
  const PisaBlockNumber number = LiveBlock(level, key);
  PisaBlock& block = *blocks_[number];
  const std::size_t free_bytes = options_.limits.block_bytes_max - block.all_bytes();
  const std::size_t growth_max = key.size() + kPisaKeyBytes + kPisaVersionBytes;
  if (free_bytes < growth_max && free_bytes < block.Growth(key, birth)) {
    return Split(number, key, birth, value);
  }
  block.Add(key, birth, value);
  return number;
}

PisaBlockNumber Pisa::Split(PisaBlockNumber number, std::string_view key, Timestamp birth,
                            std::uint64_t value) {
  const std::uint32_t level = blocks_[number]->level();
  const bool is_root = parts_[0].roots.back().block == number;
  const bool is_new = blocks_[number]->birth() == now_;
  PisaSplit split =
      SplitPisaBlock(*blocks_[number], number, now_, {key, birth, value}, options_.limits);
  const bool goes_high = split.InHigh(key);
  Check(std::max(split.low.all_bytes(), split.high.all_bytes()) <=
        options_.limits.block_bytes_max - options_.limits.block_bytes_min() + 1);

  const std::string low_key(split.low.index_key());
  const std::string high_key(split.high.index_key());
  PisaBlockNumber low = number;
  if (is_new) {
    *blocks_[number] = std::move(split.low);
  } else {
    low = NewBlock(std::move(split.low));
  }
  const PisaBlockNumber high = split.has_high ? NewBlock(std::move(split.high)) : kNoPisaBlock;

  if (!is_root) {
    if (!is_new) InsertAt(level + 1, low_key, now_, low);
    if (split.has_high) InsertAt(level + 1, high_key, now_, high);
  } else if (split.has_high) {
    PisaBlock root(level + 1, low_key, now_, kNoPisaBlock);
    root.Append(low_key, now_, low);
    root.Append(high_key, now_, high);
    SetRoot(NewBlock(std::move(root)));
  } else {
    SetRoot(low);
  }
  return goes_high ? high : low;
}

void Pisa::SetRoot(PisaBlockNumber number) {
  std::vector<PisaRoot>& roots = parts_[0].roots;
  if (roots.back().birth == now_) roots.pop_back();
  roots.push_back({now_, number});
}

void Pisa::Remember(PisaBlock& block, std::string_view key, Timestamp birth, CaptureId capture) {
  const std::size_t i = block.LowerBound(key);
  std::uint32_t note = block.NoteOf(i);
  if (note != 0 && access_[note - 1].items.back().birth == birth) {
    access_[note - 1].items.back().capture = capture;
    return;
  }
  const std::size_t items_max = options_.limits.block_bytes_max / kPisaVersionBytes;
  if (note == 0 || access_[note - 1].items.size() == items_max) {
    access_.push_back({note, {}});
    note = static_cast<std::uint32_t>(access_.size());
    block.SetNote(i, note);
  }
  access_[note - 1].items.push_back({birth, capture});
}

std::vector<PisaCapture> Pisa::CapturesDuring(std::string_view key, Timestamp first, Timestamp last,
                                              std::size_t* blocks_read) const {
  Check(options_.access_lists);
  std::vector<PisaCapture> found;  // the newest first
  const Result<PisaBlockPointer> data = ReadDataBlock(*this, key, last);
  Check(data.ok());
  std::size_t count = *data ? blocks_[parts_[0].roots.back().block]->level() + 1 : 1;
  std::uint32_t note = 0;
  if (*data) {
    const std::size_t i = (*data)->LowerBound(key);
    if ((*data)->HasKey(i, key)) note = (*data)->NoteOf(i);
  }
  Timestamp death = kEndOfTime;
  while (note != 0) {
    const AccessBlock& block = access_[note - 1];
    ++count;
    for (auto item = block.items.rbegin(); item != block.items.rend() && death > first; ++item) {
      if (item->birth > last) continue;
      found.push_back({std::string(key), item->birth, death, item->capture});
      death = item->birth;
    }
    note = death > first ? block.previous : 0;
  }
  if (blocks_read != nullptr) *blocks_read = count;
  std::reverse(found.begin(), found.end());
  return found;
}

Result<PisaBlockPointer> Pisa::Read(PisaBlockNumber number) const {
  Check(number < blocks_.size());
  return PisaBlockPointer(blocks_[number]);
}

Error Pisa::Corrupt(PisaBlockNumber number, std::string_view what) const {
  return {ErrorCode::kCorrupt,
          "block " + std::to_string(number) + " of a tree in memory: " + std::string(what)};
}

}  // namespace stele::catalog
