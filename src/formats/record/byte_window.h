#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "codec/buffer.h"
#include "io/stream.h"

namespace stele::record {

// Looks at a file or pipe through one buffer of bounded size. A file can be looked at anywhere; in
// a pipe, what was passed can be seen again only as far back as Pin() asked and the buffer holds.
// Borrows `source` for life. Not thread-safe.
class ByteWindow {
 public:
  static constexpr std::size_t kBytes = 1 << 20;
  // So much is read at a new place, and twice as much each time while reading goes on from there.
  static constexpr std::size_t kFirstBytes = 32 << 10;

  explicit ByteWindow(io::Source& source) : source_(source), file_(source.file()) {}

  // The bytes from `offset` on: at least `want` of them (want <= kBytes), fewer only at the end.
  // Errors: kIo; kInvalid for bytes of a pipe that are no longer there. The view is valid until
  // the next call.
  Result<std::string_view> At(std::uint64_t offset, std::size_t want);

  // True when At(offset, ...) can be answered.
  bool Reaches(std::uint64_t offset) const {
    return file_ != nullptr || (offset >= begin_ && offset <= begin_ + buffer_.size());
  }

  // So much, and no more, is read at the next new place, instead of kFirstBytes: somebody knows how
  // long what lies there is.
  void Expect(std::uint64_t bytes) {
    expected_ = static_cast<std::size_t>(std::clamp<std::uint64_t>(bytes, 1, kBytes));
  }

  // Asks to keep the bytes from `offset` on, while there is room.
  void Pin(std::uint64_t offset) { pin_ = offset; }

  // Reads a few bytes elsewhere without moving the window. Only for files; empty at the end.
  Result<std::string_view> PeekFar(std::uint64_t offset, std::size_t want);

  bool seekable() const { return file_ != nullptr; }

  // The size of a file; the bytes read so far of a pipe.
  Result<std::uint64_t> Size() const;

 private:
  Status ReadMore(std::size_t least);

  io::Source& source_;
  const io::ReadableFile* file_;
  codec::Buffer buffer_;
  std::uint64_t begin_ = 0;  // file offset of the buffer's first byte
  std::uint64_t pin_ = 0;
  bool ended_ = false;
  std::size_t ahead_ = kFirstBytes;     // to be read next
  std::size_t expected_ = kFirstBytes;  // at the next new place
  std::string far_;
};

}  // namespace stele::record
