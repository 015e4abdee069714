#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/capture_id.h"
#include "catalog/pisa_block.h"
#include "util/result.h"

namespace stele::catalog {

// A capture that was what a key showed, from its birth until the next capture of that key.
struct PisaCapture {
  std::string key;
  Timestamp birth;
  // When the next one was born, where the question reached that far; otherwise kEndOfTime.
  Timestamp death = kEndOfTime;
  CaptureId capture;

  friend bool operator==(const PisaCapture&, const PisaCapture&) = default;
};

// From its birth until the next root's, a root is where questions about that time begin.
struct PisaRoot {
  Timestamp birth;
  PisaBlockNumber block;
};

// The tree for the keys from `first_key` on to the next part's. Roots are in the order of time.
struct PisaPart {
  std::string first_key;
  std::vector<PisaRoot> roots;
};

// Where the blocks of trees are, in memory or on disk. Readable by many threads when nobody writes.
class PisaForest {
 public:
  virtual ~PisaForest() = default;

  // In the order of keys; at least one.
  virtual const std::vector<PisaPart>& parts() const = 0;
  // Errors: kCorrupt, kIo.
  virtual Result<std::shared_ptr<const PisaBlock>> Read(PisaBlockNumber number) const = 0;
  // An error about a block that can be read and does not fit the others.
  virtual Error Corrupt(PisaBlockNumber number, std::string_view what) const = 0;
};

using PisaBlockPointer = std::shared_ptr<const PisaBlock>;

std::uint64_t PackCaptureId(CaptureId id);
CaptureId UnpackCaptureId(std::uint64_t value);

// The steps that all questions are made of. They check that a block is what its finder takes it
// for, so that damage on the disk ends in kCorrupt and not in a circle.

// Null when nothing was there yet at `time`.
Result<PisaBlockPointer> ReadRootAt(const PisaForest& forest, const PisaPart& part, Timestamp time);
// The child that showed the range of key `i` at `time`. Requires: born by then.
Result<PisaBlockPointer> ReadChildAt(const PisaForest& forest, const PisaBlock& parent,
                                     std::size_t i, Timestamp time);
// Null when there is none.
Result<PisaBlockPointer> ReadPrevious(const PisaForest& forest, const PisaBlock& block);
// The data block that shows `key` at `time`; null when nothing was there yet.
Result<PisaBlockPointer> ReadDataBlock(const PisaForest& forest, std::string_view key,
                                       Timestamp time);

// URLTIMEQUERY: what `key` showed at `time`. Nothing when it was not yet born.
Result<std::optional<PisaCapture>> FindPisaCapture(const PisaForest& forest, std::string_view key,
                                                   Timestamp time);

// URLTIMESPANQUERY: what `key` showed between `first` and `last`, both included, ascending. Goes
// back from block to block; Pisa::CapturesDuring() needs fewer.
Result<std::vector<PisaCapture>> BacktrackPisaCaptures(const PisaForest& forest,
                                                       std::string_view key, Timestamp first,
                                                       Timestamp last);

}  // namespace stele::catalog
