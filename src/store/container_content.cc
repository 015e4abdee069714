#include "store/container_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "codec/gzip_member.h"

namespace stele::store {
namespace {

constexpr std::size_t kPieceBytes = 64 << 10;
constexpr std::size_t kHeadBytesMax = 64 << 10;
constexpr std::size_t kWholeBytesMax = 1 << 20;
constexpr std::string_view kEmptyLine = "\r\n\r\n";

}  // namespace

struct ContainerContent::Pieces {
  std::unique_ptr<SignatureStream> signing;
  codec::GzipDecoder decoder;
  std::uint64_t offset = 0;       // of the next byte to be read from the file
  std::uint64_t record_left = 0;  // bytes of the record that have not been read
  codec::Buffer packed;           // a piece of the record
  std::string_view packed_left;   // of `packed`
  bool inflated = false;
};

ContainerContent::ContainerContent(std::shared_ptr<const io::ReadableFile> file,
                                   const BlockRow& row, const SignatureFunction& function,
                                   ContentKey key)
    : file_(std::move(file)),
      function_(function),
      key_(std::move(key)),
      location_(row.location),
      content_left_(row.size) {}

ContainerContent::~ContainerContent() = default;

Error ContainerContent::Corrupt(std::string_view what) const {
  return {ErrorCode::kCorrupt, fmt::format("{}: {}", key_.Text(), what)};
}

Result<std::size_t> ContainerContent::Read(std::span<char> out) {
  if (error_) return *error_;
  if (finished_ || out.empty()) return std::size_t{0};
  Result<std::size_t> read = ReadContent(out);
  if (!read) error_ = read.error();
  return read;
}

Result<std::size_t> ContainerContent::ReadContent(std::span<char> out) {
  if (!begun_) {
    begun_ = true;
    const bool small = location_.length <= kWholeBytesMax && content_left_ <= kWholeBytesMax;
    const Status begun = small ? LoadWhole() : BeginPieces();
    if (!begun) return begun.error();
  }
  if (content_left_ == 0) {
    const Status finished = pieces_ == nullptr ? Status() : Finish();
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
  if (pieces_ != nullptr) pieces_->signing->Update(plain_left_.substr(0, count));
  plain_left_.remove_prefix(count);
  content_left_ -= count;
  return count;
}

Status ContainerContent::LoadWhole() {
  codec::Buffer packed;
  packed.Reserve(location_.length);
  const Result<std::size_t> read =
      file_->ReadAt(location_.offset, std::span(packed.data(), location_.length));
  if (!read) return read.error();
  if (*read < location_.length) return Corrupt("its container is cut off");
  packed.SetSize(*read);
  codec::GzipMemberInflater inflater;
  plain_.Reserve(content_left_ + 4096);
  const Result<codec::GzipMemberInflater::Outcome> inflated =
      inflater.Inflate(packed.view(), kHeadBytesMax + content_left_ + kEmptyLine.size(), plain_);
  if (!inflated) return Corrupt(inflated.error().text);
  if (inflated->kind != codec::GzipMemberInflater::Kind::kDone) {
    return Corrupt("its record is cut off, or there is more content than was stored");
  }
  if (inflated->consumed < location_.length) return Corrupt("bytes follow its record");
  const std::string_view record = plain_.view();
  const std::size_t head_end = record.find(kEmptyLine);
  if (head_end == std::string_view::npos) return Corrupt("its record has no head");
  plain_left_ = record.substr(head_end + kEmptyLine.size());
  if (plain_left_.size() != content_left_ + kEmptyLine.size() ||
      !plain_left_.ends_with(kEmptyLine)) {
    return Corrupt("there is more or less content than was stored");
  }
  plain_left_.remove_suffix(kEmptyLine.size());
  if (function_.Of(plain_left_) != key_.signature) {
    return Corrupt("the content does not have its signature");
  }
  return {};
}

Status ContainerContent::BeginPieces() {
  pieces_ = std::make_unique<Pieces>();
  pieces_->signing = function_.NewStream();
  pieces_->offset = location_.offset;
  pieces_->record_left = location_.length;
  pieces_->packed.Reserve(kPieceBytes);
  plain_.Reserve(kPieceBytes);
  return PassHead();
}

Result<bool> ContainerContent::Inflate() {
  Pieces& in = *pieces_;
  while (!in.inflated) {
    if (in.packed_left.empty() && in.record_left > 0) {
      const std::uint64_t want = std::min<std::uint64_t>(kPieceBytes, in.record_left);
      const Result<std::size_t> read = file_->ReadAt(in.offset, std::span(in.packed.data(), want));
      if (!read) return read.error();
      if (*read < want) return Corrupt("its container is cut off");
      in.packed.SetSize(want);
      in.packed_left = in.packed.view();
      in.offset += want;
      in.record_left -= want;
    }
    const Result<codec::Progress> step =
        in.decoder.Decode(in.packed_left, std::span(plain_.data(), kPieceBytes));
    if (!step) return Corrupt(step.error().text);
    if (in.packed_left.empty() && in.record_left == 0 && step->produced == 0 && !step->done) {
      return Corrupt("its record is cut off");
    }
    in.packed_left.remove_prefix(step->consumed);
    in.inflated = step->done;
    plain_.SetSize(step->produced);
    plain_left_ = plain_.view();
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
  if (pieces_->record_left + pieces_->packed_left.size() > 0) {
    return Corrupt("bytes follow its record");
  }
  if (pieces_->signing->Finish() != key_.signature) {
    return Corrupt("the content does not have its signature");
  }
  return {};
}

}  // namespace stele::store
