#include "store/container_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace stele::store {
namespace {

constexpr std::size_t kPieceBytes = 64 << 10;
constexpr std::size_t kHeadBytesMax = 64 << 10;
constexpr std::string_view kEmptyLine = "\r\n\r\n";

}  // namespace

ContainerContent::ContainerContent(std::shared_ptr<const io::ReadableFile> file,
                                   const BlockRow& row, const SignatureFunction& function,
                                   const Signature& signature, std::string name)
    : file_(std::move(file)),
      signing_(function.NewStream()),
      signature_(signature),
      name_(std::move(name)),
      offset_(row.location.offset),
      record_left_(row.location.length),
      content_left_(row.size) {
  packed_.resize(std::min<std::uint64_t>(record_left_, kPieceBytes));
  plain_.resize(kPieceBytes);
}

Error ContainerContent::Corrupt(std::string_view what) const {
  return {ErrorCode::kCorrupt, fmt::format("{}: {}", name_, what)};
}

Result<std::size_t> ContainerContent::Read(std::span<char> out) {
  if (error_) return *error_;
  if (finished_ || out.empty()) return std::size_t{0};
  Result<std::size_t> read = ReadContent(out);
  if (!read) error_ = read.error();
  return read;
}

Result<std::size_t> ContainerContent::ReadContent(std::span<char> out) {
  if (!head_passed_) {
    const Status passed = PassHead();
    if (!passed) return passed.error();
  }
  if (content_left_ == 0) {
    const Status finished = Finish();
    if (!finished) return finished.error();
    finished_ = true;
    return std::size_t{0};
  }
  if (plain_left_.empty()) {
    const Result<bool> more = Inflate();
    if (!more) return more.error();
    if (!*more) return Corrupt("there is less content than was stored");
  }
  const std::size_t count = std::min<std::uint64_t>(
      std::min<std::uint64_t>(plain_left_.size(), out.size()), content_left_);
  std::memcpy(out.data(), plain_left_.data(), count);
  signing_->Update(plain_left_.substr(0, count));
  plain_left_.remove_prefix(count);
  content_left_ -= count;
  return count;
}

Result<bool> ContainerContent::Inflate() {
  while (!inflated_) {
    if (packed_left_.empty() && record_left_ > 0) {
      const std::uint64_t want = std::min<std::uint64_t>(packed_.size(), record_left_);
      const Result<std::size_t> read = file_->ReadAt(offset_, std::span(packed_.data(), want));
      if (!read) return read.error();
      if (*read < want) return Corrupt("its container is cut off");
      packed_left_ = std::string_view(packed_).substr(0, want);
      offset_ += want;
      record_left_ -= want;
    }
    const Result<codec::Progress> step = decoder_.Decode(packed_left_, plain_);
    if (!step) return Corrupt(step.error().text);
    if (packed_left_.empty() && record_left_ == 0 && step->produced == 0 && !step->done) {
      return Corrupt("its record is cut off");
    }
    packed_left_.remove_prefix(step->consumed);
    inflated_ = step->done;
    plain_left_ = std::string_view(plain_).substr(0, step->produced);
    if (step->produced > 0) return true;
  }
  return false;
}

Status ContainerContent::PassHead() {
  std::string head;
  for (;;) {
    const Result<bool> more = Inflate();
    if (!more) return more.error();
    if (!*more || head.size() > kHeadBytesMax) return Corrupt("its record has no head");
    const std::size_t had = head.size();
    head += plain_left_;
    const std::size_t end = head.find(kEmptyLine, had < 3 ? 0 : had - 3);
    if (end == std::string::npos) continue;
    plain_left_.remove_prefix(end + kEmptyLine.size() - had);
    head_passed_ = true;
    return {};
  }
}

Status ContainerContent::Finish() {
  std::string rest(plain_left_);
  while (rest.size() <= kEmptyLine.size()) {
    const Result<bool> more = Inflate();
    if (!more) return more.error();
    if (!*more) break;
    rest += plain_left_;
  }
  if (rest != kEmptyLine) return Corrupt("there is more content than was stored");
  if (record_left_ + packed_left_.size() > 0) return Corrupt("bytes follow its record");
  if (signing_->Finish() != signature_) return Corrupt("the content does not have its signature");
  return {};
}

}  // namespace stele::store
