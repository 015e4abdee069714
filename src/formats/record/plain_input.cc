#include <algorithm>

#include "formats/record/record_input.h"

namespace stele::record {
namespace {

constexpr std::size_t kStep = 64 * 1024;

class PlainInput final : public RecordInput {
 public:
  explicit PlainInput(std::unique_ptr<ByteWindow> window) : window_(std::move(window)) {}

  Result<bool> More() override {
    const std::size_t had = available_.size();
    if (had >= ByteWindow::kBytes) return false;  // the caller's limits are below this
    const std::size_t want = std::min(had + kStep, ByteWindow::kBytes);
    Result<std::string_view> bytes = window_->At(position_, want);
    if (!bytes) return bytes.error();
    available_ = *bytes;
    return available_.size() > had;
  }

  void Consume(std::size_t count) override {
    Check(count <= available_.size());
    available_.remove_prefix(count);
    position_ += count;
    window_->Pin(position_);
  }

  Result<std::uint64_t> Skip(std::uint64_t count) override {
    const std::uint64_t here = std::min<std::uint64_t>(count, available_.size());
    Consume(here);
    if (here == count) return count;
    if (window_->seekable()) {
      Result<std::uint64_t> size = window_->Size();
      if (!size) return size.error();
      const std::uint64_t left = *size > position_ ? *size - position_ : 0;
      const std::uint64_t far = std::min(count - here, left);
      position_ += far;
      window_->Pin(position_);
      available_ = {};
      return here + far;
    }
    std::uint64_t passed = here;
    while (passed < count) {
      Result<bool> more = More();
      if (!more) return more.error();
      if (!*more) break;
      const std::uint64_t part = std::min<std::uint64_t>(count - passed, available_.size());
      Consume(part);
      passed += part;
    }
    return passed;
  }

  Result<bool> NextMember() override { return false; }
  std::uint64_t offset() const override { return position_; }
  bool at_member_start() const override { return true; }
  std::uint64_t end_offset() const override { return position_; }
  Compression compression() const override { return Compression::kNone; }

  Status SkipTo(std::uint64_t offset) override {
    if (!window_->Reaches(offset)) {
      return Error{ErrorCode::kInvalid, "the input is a pipe and cannot be read again"};
    }
    position_ = offset;
    window_->Pin(offset);
    available_ = {};
    return {};
  }

  void Expect(std::uint64_t bytes) override { window_->Expect(bytes); }

  Result<std::optional<std::uint64_t>> FindRecord(std::uint64_t from,
                                                  const Grammar& grammar) override {
    available_ = {};
    if (!window_->Reaches(from)) from = position_;
    for (std::uint64_t at = from;;) {
      Result<std::string_view> bytes = window_->At(at, kStep);
      if (!bytes) return bytes.error();
      for (std::size_t i = 0; i < bytes->size(); ++i) {
        i = grammar.FindCandidate(*bytes, i);
        if (i >= bytes->size()) break;
        const Match match = grammar.BeginsRecord(bytes->substr(i));
        if (match == Match::kYes) return std::optional(at + i);
        if (match == Match::kNo) continue;
        // Too close to the end of what is seen: look again from there, unless it is the file's.
        if (bytes->size() - i >= kStep || bytes->size() < kStep) continue;
        at += i;
        bytes = window_->At(at, kStep);
        if (!bytes) return bytes.error();
        i = 0;
        if (grammar.BeginsRecord(*bytes) == Match::kYes) return std::optional(at);
      }
      if (bytes->size() < kStep) return std::optional<std::uint64_t>();
      // A candidate may straddle the border.
      at += bytes->size() - kOverlap;
      window_->Pin(at);
    }
  }

  Result<std::optional<std::string_view>> PeekAt(std::uint64_t distance,
                                                 std::size_t want) override {
    if (distance + want <= available_.size()) {
      return std::optional(available_.substr(distance, want));
    }
    if (!window_->seekable()) {
      if (distance + want > ByteWindow::kBytes) return std::optional<std::string_view>();
      Result<std::string_view> bytes = window_->At(position_, distance + want);
      if (!bytes) return bytes.error();
      available_ = *bytes;
      if (available_.size() < distance) return std::optional(std::string_view());
      return std::optional(available_.substr(distance, want));
    }
    Result<std::string_view> far = window_->PeekFar(position_ + distance, want);
    if (!far) return far.error();
    return std::optional(*far);
  }

  Result<std::uint64_t> FileSize() const override { return window_->Size(); }

 private:
  static constexpr std::size_t kOverlap = 4096;

  std::unique_ptr<ByteWindow> window_;
  std::uint64_t position_ = 0;
};

}  // namespace

std::unique_ptr<RecordInput> NewPlainInput(std::unique_ptr<ByteWindow> window) {
  return std::make_unique<PlainInput>(std::move(window));
}

}  // namespace stele::record
