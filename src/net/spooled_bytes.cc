#include "net/spooled_bytes.h"

#include <algorithm>
#include <cstring>

namespace stele::net {
namespace {

class SpooledSource final : public io::Source {
 public:
  SpooledSource(const SpooledBytes& bytes, std::uint64_t offset, std::uint64_t end)
      : bytes_(bytes), offset_(offset), end_(std::min(end, bytes.size())) {}

  Result<std::size_t> Read(std::span<char> out) override {
    if (offset_ >= end_) return std::size_t{0};
    const std::uint64_t size = std::min<std::uint64_t>(out.size(), end_ - offset_);
    const Result<std::size_t> got =
        bytes_.ReadAt(offset_, out.first(static_cast<std::size_t>(size)));
    if (got) offset_ += *got;
    return got;
  }

 private:
  const SpooledBytes& bytes_;
  std::uint64_t offset_;
  const std::uint64_t end_;
};

}  // namespace

Result<std::size_t> SpooledBytes::ReadAt(std::uint64_t offset, std::span<char> out) const {
  std::size_t done = 0;
  if (offset < memory_.size()) {
    done = std::min(out.size(), memory_.size() - static_cast<std::size_t>(offset));
    std::memcpy(out.data(), memory_.data() + offset, done);
  }
  if (done == out.size() || file_ == nullptr) return done;
  const Result<std::size_t> more = file_->ReadAt(offset + done - memory_.size(), out.subspan(done));
  if (!more) return more.error();
  return done + *more;
}

std::unique_ptr<io::Source> SpooledBytes::Open(std::uint64_t offset, std::uint64_t end) const {
  return std::make_unique<SpooledSource>(*this, offset, end);
}

}  // namespace stele::net
