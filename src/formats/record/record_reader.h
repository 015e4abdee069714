#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/record/grammar.h"
#include "formats/record/record_input.h"

namespace stele::record {

// Reads an archive file record by record, as a stream in bounded memory, and goes on after damage:
// what cannot be read is passed to the next record that can, and named in losses(). Not
// thread-safe.
//
//   while (const Record* record = *reader.Next()) {       // (with errors looked at)
//     for (std::string_view piece; !(piece = *reader.ReadBlock()).empty();) ...
//     const Extent extent = *reader.Finish();
//   }
class RecordReader {
 public:
  RecordReader(std::unique_ptr<RecordInput> input, std::unique_ptr<Grammar> grammar);

  // The next record; null at the end. What is left of the record before is passed.
  // Errors: kIo. Damage is no error: see losses() and Record::damaged.
  Result<const Record*> Next();

  // The next piece of the block; empty at its end. The view is valid until the next call.
  // Errors: kIo; kCorrupt when the rest of the block is damaged (Next() then goes on behind it).
  Result<std::string_view> ReadBlock();

  // Passes what is left of the block and of the separator behind it. Errors: as ReadBlock().
  Result<Extent> Finish();

  // What is wrong with the record, though it can be read; complete after Finish().
  const std::vector<Defect>& defects() const { return defects_; }

  // What could not be read so far, in file order. Adjoining losses are one.
  const std::vector<Loss>& losses() const { return losses_; }

  // Goes to a record whose offset is known; `length`, where it is known, is how many bytes of the
  // file it has, so that no others are read. Errors: kInvalid in pipes.
  Status SkipTo(std::uint64_t offset, std::optional<std::uint64_t> length = std::nullopt);

  // Bytes of the file that are behind us.
  std::uint64_t position() const { return input_->end_offset(); }
  Compression compression() const { return input_->compression(); }
  Format format() const { return grammar_->format(); }

 private:
  enum class State { kBetween, kInBlock, kBroken, kEnded };
  // What stands at the place where the head says that the block ends.
  enum class Boundary { kRecord, kSeparator, kNothing, kBeyondEnd, kUnknown };

  // Steps of Next(). False: the end of the file.
  Result<bool> GoToRecord();
  Result<bool> ReadHead();  // false: it was none, and we are behind it
  Result<std::size_t> WholeHeadLength();

  Result<bool> ClassifyBlock();  // false: it is damaged from its first bytes, and we are behind it

  // In plain files, where only the head says how long a block is, checks it against the file.
  Status LimitPlainBlock();
  Result<Boundary> BoundaryAt(std::uint64_t distance);

  // Names the bytes from `from` on as lost and goes to the next good record. False: there is none.
  Result<bool> Recover(std::uint64_t from, std::string reason);
  Result<std::optional<std::uint64_t>> FindGoodRecord(std::uint64_t from);
  // Whether the record at the reading position and those behind it are right.
  Result<bool> Confirmed();
  // Bytes at a distance, enough of them for the head of a record that begins there.
  Result<std::optional<std::string_view>> PeekHead(std::uint64_t distance);

  // At the end of a member inside a block: goes on, unless a new record begins there.
  Result<bool> BlockGoesOn();
  Status PassSeparator(Extent& extent);
  Status PassGarbageInMember();
  Error Broken(const Error& error);
  void AddLoss(std::uint64_t begin, std::uint64_t end, std::string reason);

  std::unique_ptr<RecordInput> input_;
  std::unique_ptr<Grammar> grammar_;
  State state_ = State::kBetween;
  Record record_;
  std::string head_;
  std::uint64_t block_left_ = 0;
  std::size_t handed_out_ = 0;              // of available(), by the last ReadBlock()
  bool next_member_is_open_ = false;        // we are at its begin already
  std::optional<std::uint64_t> resume_at_;  // where the next record is, when the head is wrong
  std::string broken_reason_;
  std::vector<Defect> defects_;
  std::vector<Loss> losses_;
};

}  // namespace stele::record
