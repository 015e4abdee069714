#include "catalog/pisa_cursor.h"

#include <algorithm>

#include "util/check.h"

// Nothing is ever deleted, so each key that was alive in the time asked for is alive at its end.
// The data blocks of that last moment, in the order of keys, thus have all keys; older versions are
// in their predecessors, and as blocks are never merged, each has one predecessor, whose range
// includes its own. Neighbours often have predecessors in common; these are taken over.
namespace stele::catalog {

std::optional<std::string> EndOfPrefix(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (end.empty()) return std::nullopt;
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

PisaSelection StateAt(Timestamp time, std::string_view prefix) {
  return AliveDuring(time, time, prefix);
}

PisaSelection AliveDuring(Timestamp first, Timestamp last, std::string_view prefix) {
  return {first, last, std::string(prefix), EndOfPrefix(prefix)};
}

PisaCursor::PisaCursor(const PisaForest& forest, PisaSelection selection)
    : forest_(forest), selection_(std::move(selection)), from_(selection_.key_first) {
  Check(selection_.first <= selection_.last);
  if (selection_.after && selection_.after->key > from_) from_ = selection_.after->key;
  const std::vector<PisaPart>& parts = forest.parts();
  while (part_ + 1 < parts.size() && parts[part_ + 1].first_key <= from_) ++part_;
}

Result<bool> PisaCursor::Next() {
  if (given_ == selection_.limit) return false;
  while (!NextVersion()) {
    const Result<bool> more = NextDataBlock();
    if (!more || !*more) return more;
  }
  ++given_;
  return true;
}

bool PisaCursor::NextVersion() {
  if (++version_ < versions_.size()) return true;
  while (next_key_ < keys_end_) {
    Collect(next_key_++);
    version_ = 0;
    if (selection_.after && key_ == selection_.after->key) {
      while (version_ < versions_.size() && birth() <= selection_.after->birth) ++version_;
    }
    if (version_ < versions_.size()) return true;
  }
  return false;
}

// All versions of key `i` that were alive in the time asked for, ascending.
void PisaCursor::Collect(std::size_t i) {
  const PisaBlock& newest = *chain_.front().block;
  key_ = newest.Key(i);
  versions_.clear();
  if (selection_.first == selection_.last) {
    const std::size_t version = newest.VersionAt(i, selection_.last);
    if (version != PisaBlock::kNone) {
      versions_.push_back({newest.BirthOf(version), newest.ValueOf(version)});
    }
    return;
  }
  for (auto link = chain_.rbegin(); link != chain_.rend(); ++link) {
    const PisaBlock& data = *link->block;
    const std::size_t at = &data == &newest ? i : data.LowerBound(key_);
    if (!data.HasKey(at, key_)) continue;
    const std::size_t end = data.FirstVersion(at + 1);
    for (std::size_t v = data.FirstVersion(at); v < end; ++v) {
      const Timestamp birth = data.BirthOf(v);
      const Timestamp death = v + 1 < end ? data.BirthOf(v + 1) : data.death();
      if (birth > selection_.last || birth >= data.death() || death <= selection_.first) continue;
      if (!versions_.empty() && versions_.back().birth >= birth) continue;  // a copy
      versions_.push_back({birth, data.ValueOf(v)});
    }
  }
}

Result<bool> PisaCursor::NextDataBlock() {
  while (!path_.empty()) {
    Step& step = path_.back();
    const PisaBlock& block = *step.block;
    do {
      ++step.key;
    } while (step.key < block.key_count() &&
             block.VersionAt(step.key, selection_.last) == PisaBlock::kNone);
    if (step.key == block.key_count()) {
      path_.pop_back();
      continue;
    }
    if (selection_.key_end && block.Key(step.key) >= *selection_.key_end) return false;
    Result<PisaBlockPointer> child = ReadChildAt(forest_, block, step.key, selection_.last);
    if (!child) return child.error();
    if (Status status = Descend(std::move(*child)); !status) return status.error();
    return true;
  }
  return EnterPart();
}

Result<bool> PisaCursor::EnterPart() {
  if (part_ == forest_.parts().size()) return false;
  const PisaPart& part = forest_.parts()[part_++];
  if (selection_.key_end && part.first_key >= *selection_.key_end) return false;
  Result<PisaBlockPointer> root = ReadRootAt(forest_, part, selection_.last);
  if (!root) return root.error();
  keys_end_ = next_key_ = 0;
  if (*root) {
    if (Status status = Descend(std::move(*root)); !status) return status.error();
  }
  return true;
}

// From `block` down to the first data block that can have keys from `from_` on.
Status PisaCursor::Descend(PisaBlockPointer block) {
  while (block->level() > 0) {
    const std::string_view from = std::max(std::string_view(from_), block->index_key());
    const std::size_t i = block->FindAt(from, selection_.last);
    path_.push_back({block, i});
    Result<PisaBlockPointer> child = ReadChildAt(forest_, *block, i, selection_.last);
    if (!child) return child.error();
    block = std::move(*child);
  }
  return LoadChain(std::move(block));
}

PisaBlockNumber PisaCursor::NumberOfDataBlock() const {
  if (path_.empty()) return forest_.parts()[part_ - 1].roots.back().block;
  const Step& step = path_.back();
  return step.block->ValueOf(step.block->VersionAt(step.key, selection_.last));
}

Status PisaCursor::LoadChain(PisaBlockPointer block) {
  // Each one behind the last, or the way through damaged blocks might be very long.
  if (!chain_.empty() && block->index_key() <= chain_.front().block->index_key()) {
    return forest_.Corrupt(NumberOfDataBlock(), "its keys are those of another block, too");
  }
  next_key_ = block->LowerBound(from_);
  keys_end_ = selection_.key_end ? block->LowerBound(*selection_.key_end) : block->key_count();
  std::vector<Link> chain = {{kNoPisaBlock, std::move(block)}};
  while (chain.back().block->birth() > selection_.first) {
    const PisaBlockNumber number = chain.back().block->previous();
    const auto known = std::find_if(chain_.begin(), chain_.end(), [number](const Link& link) {
      return link.number == number && number != kNoPisaBlock;
    });
    if (known != chain_.end()) {
      chain.insert(chain.end(), known, chain_.end());
      break;
    }
    Result<PisaBlockPointer> previous = ReadPrevious(forest_, *chain.back().block);
    if (!previous) return previous.error();
    if (!*previous) break;
    chain.push_back({number, std::move(*previous)});
  }
  chain_ = std::move(chain);
  return {};
}

}  // namespace stele::catalog
