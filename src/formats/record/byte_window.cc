#include "formats/record/byte_window.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stele::record {

Result<std::string_view> ByteWindow::At(std::uint64_t offset, std::size_t want) {
  Check(want <= kBytes);
  const std::uint64_t end = begin_ + buffer_.size();
  if (offset >= begin_ && offset + want <= end) {
    return buffer_.view().substr(offset - begin_);
  }
  if (offset < begin_ || offset > end) {
    if (file_ == nullptr && offset < begin_) {
      return Error{ErrorCode::kInvalid, "the input is a pipe and cannot be read again"};
    }
    if (file_ != nullptr) {
      begin_ = offset;
      buffer_.Clear();
      ended_ = false;
      ahead_ = std::exchange(expected_, kFirstBytes);
    }
  }
  // What a pipe gave is kept for a second look.
  buffer_.Reserve(2 * (file_ == nullptr ? kBytes : std::max(want, ahead_)));
  // Drop from the front what neither the caller nor the pin needs, and more if there is no room.
  while (begin_ + buffer_.size() < offset + want && !ended_) {
    std::uint64_t keep = std::min(std::min(pin_, offset), begin_ + buffer_.size());
    keep = std::max(keep, begin_);
    if (offset + want > keep + buffer_.capacity()) {
      keep = std::min(offset, begin_ + buffer_.size());
    }
    const std::size_t drop = keep - begin_;
    std::memmove(buffer_.data(), buffer_.data() + drop, buffer_.size() - drop);
    buffer_.SetSize(buffer_.size() - drop);
    begin_ = keep;
    const Status status = ReadMore(offset + want - begin_ - buffer_.size());
    if (!status) return status.error();
  }
  if (offset > begin_ + buffer_.size()) return std::string_view();
  return buffer_.view().substr(offset - begin_);
}

Status ByteWindow::ReadMore(std::size_t least) {
  const std::size_t size = buffer_.size();
  const std::size_t room = std::min(buffer_.capacity() - size, std::max(least, ahead_));
  Check(room > 0);
  ahead_ = std::clamp(2 * ahead_, kFirstBytes, kBytes);
  const std::span<char> out(buffer_.data() + size, room);
  Result<std::size_t> read =
      file_ != nullptr ? file_->ReadAt(begin_ + size, out) : source_.Read(out);
  if (!read) return read.error();
  ended_ = *read == 0;
  buffer_.SetSize(size + *read);
  return {};
}

Result<std::string_view> ByteWindow::PeekFar(std::uint64_t offset, std::size_t want) {
  Check(file_ != nullptr);
  if (offset >= begin_ && offset + want <= begin_ + buffer_.size()) {
    return buffer_.view().substr(offset - begin_, want);
  }
  far_.resize(want);
  Result<std::size_t> read = file_->ReadAt(offset, far_);
  if (!read) return read.error();
  return std::string_view(far_).substr(0, *read);
}

Result<std::uint64_t> ByteWindow::Size() const {
  if (file_ != nullptr) return file_->Size();
  return begin_ + buffer_.size();
}

}  // namespace stele::record
