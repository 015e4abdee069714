#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/pisa_forest.h"

namespace stele::catalog {

// Where a cursor stood: on a capture of this key that was born then. A later cursor goes on behind.
struct PisaPosition {
  std::string key;
  Timestamp birth;
};

// What a cursor gives: all captures of keys from `key_first` to just before `key_end` that were
// alive at some moment from `first` to `last`, both included. With first == last it is the state at
// that moment: at most one capture for each key.
struct PisaSelection {
  Timestamp first;
  Timestamp last;
  std::string key_first = {};
  std::optional<std::string> key_end = {};
  std::optional<PisaPosition> after = {};
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
};

// Nothing when no key is behind all those that begin with `prefix`.
std::optional<std::string> EndOfPrefix(std::string_view prefix);
PisaSelection StateAt(Timestamp time, std::string_view prefix = {});
// Requires: first <= last.
PisaSelection AliveDuring(Timestamp first, Timestamp last, std::string_view prefix = {});

// TIMESLICEQUERY, in the order of keys and births. Reads the blocks that were alive at `last` and,
// from each of them, its predecessors back to `first`; each block about once, and each has at least
// B_min bytes of the answer, or is one of the few that hold the tree's end. Holds those of one
// range of keys at a time. Not thread-safe. Borrows the forest, which must not change.
class PisaCursor {
 public:
  PisaCursor(const PisaForest& forest, PisaSelection selection);

  // False when there are no more, or the limit is reached. Errors: those of the forest; the cursor
  // is of no more use then.
  Result<bool> Next();

  // Of the capture that Next() found. `key` is valid until the next call.
  std::string_view key() const { return key_; }
  Timestamp birth() const { return versions_[version_].birth; }
  // As in PisaCapture: within the selection's time, or kEndOfTime.
  Timestamp death() const {
    return version_ + 1 < versions_.size() ? versions_[version_ + 1].birth : kEndOfTime;
  }
  CaptureId capture() const { return UnpackCaptureId(versions_[version_].value); }
  PisaPosition position() const { return {std::string(key_), birth()}; }

 private:
  struct Version {
    Timestamp birth;
    std::uint64_t value;
  };
  // An index block on the way to the data block, and the key that was followed.
  struct Step {
    PisaBlockPointer block;
    std::size_t key;
  };
  struct Link {
    PisaBlockNumber number;
    PisaBlockPointer block;
  };

  bool NextVersion();
  Result<bool> NextDataBlock();
  Result<bool> EnterPart();
  Status Descend(PisaBlockPointer block);
  PisaBlockNumber NumberOfDataBlock() const;
  Status LoadChain(PisaBlockPointer block);
  void Collect(std::size_t i);

  const PisaForest& forest_;
  const PisaSelection selection_;
  std::string from_;  // where it begins: key_first, or the position to go on behind
  std::uint64_t given_ = 0;

  std::size_t part_ = 0;  // to be entered next
  std::vector<Step> path_;
  // The data block that was alive at `last`, and behind it those before, as far as they are needed.
  std::vector<Link> chain_;
  std::size_t next_key_ = 0;
  std::size_t keys_end_ = 0;

  std::string_view key_;
  std::vector<Version> versions_;  // of key_
  std::size_t version_ = 0;
};

}  // namespace stele::catalog
