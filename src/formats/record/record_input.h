#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "formats/record/byte_window.h"
#include "formats/record/grammar.h"

namespace stele::record {

enum class Compression : std::uint8_t { kNone, kGzip, kZstd };

// The bytes of the records, decompressed. A compressed file is a sequence of members (gzip members,
// zstd frames); a plain file is one member. Damage is a kCorrupt error; SkipTo() goes on after it.
// Not thread-safe.
class RecordInput {
 public:
  virtual ~RecordInput() = default;

  // The bytes at the reading position that are decompressed by now.
  std::string_view available() const { return available_; }

  // Gets more of the current member; false when all of it is available. available() grows at its
  // end. Errors: kCorrupt, kIo.
  virtual Result<bool> More() = 0;

  // Requires: count <= available().size().
  virtual void Consume(std::size_t count) = 0;

  // Passes `count` bytes, available or not, but not beyond the member. Returns how many there
  // were. Errors: kCorrupt, kIo.
  virtual Result<std::uint64_t> Skip(std::uint64_t count) = 0;

  // Goes on with the next member, whose bytes follow what is still available. Requires: More() has
  // said false. False at the end of the file. Errors: kCorrupt (then offset() is the bad member's).
  virtual Result<bool> NextMember() = 0;

  // Where a record that begins here can be found again: the reading position, or the offset of the
  // member it is in.
  virtual std::uint64_t offset() const = 0;
  // Whether the reading position is the begin of a member; in plain files, always.
  virtual bool at_member_start() const = 0;
  // The end of the current member as far as it was read; in plain files, the reading position.
  virtual std::uint64_t end_offset() const = 0;

  virtual Compression compression() const = 0;

  // Reads on from a file offset at which a member (or, in a plain file, a record) begins.
  // Errors: kInvalid when the input is a pipe and the place is gone.
  virtual Status SkipTo(std::uint64_t offset) = 0;
  // Behind SkipTo(): so many bytes of the file are what somebody wants there.
  virtual void Expect(std::uint64_t bytes) = 0;

  // The first file offset from `from` on at which a member begins that begins with a record; in
  // plain files, at which the grammar sees a candidate. Nothing when there is none. Moves nothing
  // that SkipTo() would not set right. Errors: kIo.
  virtual Result<std::optional<std::uint64_t>> FindRecord(std::uint64_t from,
                                                          const Grammar& grammar) = 0;

  // Up to `want` bytes at a distance behind the reading position, for plain files; nothing where
  // that cannot be told without losing the place. May move available().
  virtual Result<std::optional<std::string_view>> PeekAt(std::uint64_t distance,
                                                         std::size_t want) = 0;

  // The size of the file, or the bytes read so far of a pipe.
  virtual Result<std::uint64_t> FileSize() const = 0;

 protected:
  std::string_view available_;
};

// Sees from the first bytes which compression a file has. Borrows `source` for life.
// Errors: kIo, kCorrupt when a zstd dictionary frame is broken.
Result<std::unique_ptr<RecordInput>> OpenRecordInput(io::Source& source);

// The implementations. Both take over a window that has been looked through only at its begin.
std::unique_ptr<RecordInput> NewPlainInput(std::unique_ptr<ByteWindow> window);
std::unique_ptr<RecordInput> NewGzipInput(std::unique_ptr<ByteWindow> window);
Result<std::unique_ptr<RecordInput>> NewZstdInput(std::unique_ptr<ByteWindow> window);

}  // namespace stele::record
