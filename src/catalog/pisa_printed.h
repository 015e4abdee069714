#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// For tests: the procedures of the paper (figures 4.3 to 4.10) line by line, to show what they
// answer. Where the text says more than the figures (a root that splits, a block without a median),
// it is done as in the text.
namespace stele::catalog::printed {

using Time = int;
inline constexpr Time kForever = std::numeric_limits<Time>::max();

struct Block;
struct Entry {
  std::string key;
  Time t_birth;
  Time t_death = kForever;
  int loc = 0;           // in data blocks
  Block* ptr = nullptr;  // in index blocks
};

struct Block {
  bool is_data;
  std::string ik;
  Time t_birth;
  Time t_death = kForever;
  Block* ppv = nullptr;
  std::vector<Entry> entries = {};

  std::size_t Live() const {
    return static_cast<std::size_t>(std::count_if(
        entries.begin(), entries.end(), [](const Entry& e) { return e.t_death == kForever; }));
  }
};

// What is done otherwise than it is printed.
struct Corrections {
  bool descent = false;  // 4.3: ie is forgotten when the search goes down
  bool query = false;    // 4.3: index keys up to the key itself; data entries that are born
  bool index = false;    // 4.8: lines 10 and 14 change places
  bool births = false;   // 4.9: line 12, which gives copies a new birth, is left out
  bool median = true;    // 4.10: line 4 tells the parent of the block that it makes
};

class Tree {
 public:
  Tree(std::size_t b_max, std::size_t b_min, Corrections corrections)
      : b_max_(b_max), b_min_(b_min), corrections_(corrections) {
    root_ = New({false, "", 0});
    root_->entries.push_back({"", 0, kForever, 0, New({true, "", 0})});
  }

  // False when its block is not found.
  bool Insert(const Entry& de) {
    Block* const block = UrlTimeQuery(de.key, de.t_birth).block;
    if (block != nullptr) BlockInsert(de, block);
    return block != nullptr;
  }

  struct Found {
    std::optional<Entry> entry;
    Block* block;
  };
  // Figure 4.3. Without a block when it does not end, or there is no way down.
  Found UrlTimeQuery(const std::string& key, Time ts) const {
    Block* block = root_;
    const Entry* ie = nullptr;
    for (int steps = 0; !block->is_data; ++steps) {
      if (steps == kStepsMax) return {std::nullopt, nullptr};
      if (corrections_.descent) ie = nullptr;
      for (const Entry& ce : block->entries) {
        const bool before = corrections_.query ? ce.key <= key : ce.key < key;
        if (ce.t_birth <= ts && ts < ce.t_death && before) {
          if (ie == nullptr || ie->key < ce.key) ie = &ce;
        }
      }
      if (ie == nullptr) return {std::nullopt, nullptr};
      block = ie->ptr;
    }
    for (const Entry& de : block->entries) {
      const bool alive =
          corrections_.query ? de.t_birth <= ts && ts < de.t_death : de.t_death >= ts;
      if (alive && de.key == key) return {de, block};
    }
    return {std::nullopt, block};
  }

  // Figure 4.4.
  std::vector<Entry> UrlTimeSpanQuery(const std::string& key, Time ts_start, Time ts_end) const {
    std::vector<Entry> found;
    auto [de, db] = UrlTimeQuery(key, ts_end);
    while (de && de->t_death > ts_start) {
      found.push_back(*de);
      db = db->ppv;
      const Entry* older = db == nullptr ? nullptr : FindEntryInBlock(key, *db);
      de = older == nullptr ? std::nullopt : std::optional(*older);
    }
    return found;
  }

  int key_splits() const { return key_splits_; }
  int without_median() const { return without_median_; }  // of them

 private:
  static constexpr int kStepsMax = 1000;  // no tree is that high

  Block* New(Block block) {
    blocks_.push_back(std::make_unique<Block>(std::move(block)));
    return blocks_.back().get();
  }

  static Entry* FindEntryInBlock(const std::string& key, Block& b) {
    for (Entry& e : b.entries) {
      if (e.key == key && e.t_death == kForever) return &e;
    }
    return nullptr;
  }

  // The live index block with a live entry for `b`. Null when the tree has lost it.
  Block* Parent(const Block* b) const {
    std::vector<Block*> open = {root_};
    for (std::size_t i = 0; i < open.size(); ++i) {
      for (const Entry& e : open[i]->entries) {
        if (e.t_death != kForever) continue;
        if (e.ptr == b) return open[i];
        if (!e.ptr->is_data) open.push_back(e.ptr);
      }
    }
    return nullptr;
  }

  // Figure 4.8.
  void BlockInsert(const Entry& e, Block* b) {
    if (Entry* olde = FindEntryInBlock(e.key, *b)) olde->t_death = e.t_birth;
    if (b->entries.size() < b_max_) {
      b->entries.push_back(e);
      return;
    }
    if (b == root_) {
      root_ = New({false, b->ik, b->t_birth});
      root_->entries.push_back({b->ik, b->t_birth, kForever, 0, b});
    }
    Entry newe;
    if (b->Live() + 1 >= 4 * b_min_) {
      newe.ptr = KeySplit(e, b);
      newe.key = newe.ptr->ik;
      newe.t_birth = corrections_.index ? newe.ptr->t_birth : e.t_birth;
    } else {
      newe.ptr = VersionSplit(&e, e.t_birth, b);
      newe.key = b->ik;
      newe.t_birth = corrections_.index ? e.t_birth : b->t_birth;
    }
    if (Block* parent = Parent(b)) BlockInsert(newe, parent);
  }

  // Figure 4.9. Without `e` when a median is missing.
  Block* VersionSplit(const Entry* e, Time now, Block* b) {
    Block* newb = New({b->is_data, b->ik, now, kForever, b});
    for (Entry& olde : b->entries) {
      if (olde.t_death <= now) continue;
      Entry newe = olde;
      olde.t_death = now;
      if (!corrections_.births) newe.t_birth = now;
      newb->entries.push_back(newe);
    }
    if (e != nullptr) newb->entries.push_back(*e);
    return newb;
  }

  const Entry* FindMedianKey(const std::vector<Entry>& entries) const {
    std::vector<const Entry*> live;
    for (const Entry& e : entries) {
      if (e.t_death == kForever) live.push_back(&e);
    }
    std::sort(live.begin(), live.end(),
              [](const Entry* a, const Entry* b) { return a->key < b->key; });
    for (std::size_t i = b_min_; i + b_min_ <= live.size(); ++i) {
      const bool oldest = std::none_of(live.begin(), live.end(), [&](const Entry* other) {
        return other->t_birth < live[i]->t_birth;
      });
      if (oldest) return live[i];
    }
    return nullptr;
  }

  // Figure 4.10. When a version split comes first, `b` is the block that came of it.
  Block* KeySplit(const Entry& e, Block*& b) {
    ++key_splits_;
    b->entries.push_back(e);
    const Entry* found = FindMedianKey(b->entries);
    if (found == nullptr) {
      b->entries.pop_back();
      Block* version = VersionSplit(nullptr, e.t_birth, b);
      ++without_median_;
      if (Block* parent = corrections_.median ? Parent(b) : nullptr) {
        BlockInsert({b->ik, e.t_birth, kForever, 0, version}, parent);
      }
      version->entries.push_back(e);
      // True births may still have no oldest one in the middle; then the middle it is.
      found = FindMedianKey(version->entries);
      if (found == nullptr) found = &version->entries[version->entries.size() / 2];
      b = version;
    }
    const Entry me = *found;
    Block* newb = New({b->is_data, me.key, b->t_birth, kForever, b->ppv});
    std::vector<Entry> stay;
    for (const Entry& olde : b->entries) {
      const bool moves = olde.key >= me.key;
      if (moves && (olde.t_death == kForever || olde.t_death > me.t_birth)) {
        newb->entries.push_back(olde);
      }
      if (!moves || olde.t_death != kForever) stay.push_back(olde);
    }
    b->entries = std::move(stay);
    return newb;
  }

  const std::size_t b_max_;
  const std::size_t b_min_;
  const Corrections corrections_;
  std::vector<std::unique_ptr<Block>> blocks_;
  Block* root_;
  int key_splits_ = 0;
  int without_median_ = 0;
};

// Line 9 of figure 4.5: whether an entry is followed, or returned.
inline bool IsInTimeSlice(const Entry& e, Time ts_start, Time ts_end) {
  return (ts_start <= e.t_birth && e.t_birth < ts_end) ||
         (ts_start <= e.t_death && e.t_death < ts_end) ||
         (e.t_birth <= ts_start && e.t_death > ts_end);
}

}  // namespace stele::catalog::printed
