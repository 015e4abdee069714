#pragma once

#include <string_view>
#include <vector>

#include "formats/record/record.h"
#include "util/result.h"

namespace stele::record {

enum class Match : std::uint8_t { kYes, kNo, kNeedMore };

// How records look in one format: where one begins, what its head says, what stands between two.
// The reader does the rest: compression, damage, streaming. Implementations keep no state between
// records, except what the first record of a file says about the others.
class Grammar {
 public:
  virtual ~Grammar() = default;

  virtual Format format() const = 0;

  // Whether a record begins at the front of `bytes`. kNeedMore for a prefix of one.
  virtual Match BeginsRecord(std::string_view bytes) const = 0;

  // Where in `bytes` a record may begin at the earliest, at or after `from`; bytes.size() when
  // nowhere. Cheap and generous: what it finds is then tried with BeginsRecord and ParseHead.
  virtual std::size_t FindCandidate(std::string_view bytes, std::size_t from) const = 0;

  // The length of the head at the front of `bytes`; 0 when it is not complete yet.
  // Errors: kCorrupt when this cannot be a head.
  virtual Result<std::size_t> HeadLength(std::string_view bytes) const = 0;

  // Reads a whole head into `record`, with views into `head` or text that the record's fields keep;
  // `defects` gets what is wrong but readable. Errors: kCorrupt when this is no head, or does not
  // say how long its block is.
  virtual Status ParseHead(std::string_view head, Record& record, std::vector<Defect>& defects) = 0;

  // Formats whose heads do not say what the block is look at its begin: the reader calls Classify()
  // after ParseHead() with the first classify_bytes() of the block, or as many as there are.
  virtual std::size_t classify_bytes() const { return 0; }
  virtual void Classify(std::string_view /*block_begin*/, Record& /*record*/) const {}

  // How many of the bytes after a block stand between it and the next record, at most what is
  // given. `defects` gets what should be otherwise; null when nobody wants to know.
  virtual std::size_t SeparatorLength(std::string_view bytes,
                                      std::vector<Defect>* defects) const = 0;

  // How many records in a row must be right before one found after damage is believed.
  virtual int confirmations() const = 0;
};

// No block is longer, whatever its head says.
inline constexpr std::uint64_t kBlockBytesMax = std::uint64_t{1} << 60;
// A head that is longer is none.
inline constexpr std::size_t kHeadBytesMax = 512 * 1024;
// More separator than this is not looked for at once.
inline constexpr std::size_t kSeparatorBytesMax = 64;

}  // namespace stele::record
