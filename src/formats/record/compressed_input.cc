// One class for both compressions: they differ in how a member begins and in its decoder. Members
// that fit are inflated whole, so that their damage is known before a byte of them is seen; larger
// ones come in pieces through a bounded buffer.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/gzip_decoder.h"
#include "codec/gzip_member.h"
#include "codec/zstd_codec.h"
#include "formats/record/record_input.h"

namespace stele::record {
namespace {

constexpr std::size_t kPiece = 256 * 1024;               // of a member that comes in pieces
constexpr std::size_t kFirstPiece = 32 * 1024;           // at a new place: it may be all we want
constexpr std::size_t kWholeBytesMax = 4 * 1024 * 1024;  // inflated, of a member that comes whole
constexpr std::size_t kProbeBytes = 4096;

// Whether a member begins at the front of `bytes`, which may be cut short.
bool BeginsGzip(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b\x08") && bytes.size() > 3 &&
         (static_cast<unsigned char>(bytes[3]) & 0xe0) == 0;
}

bool BeginsSkippableFrame(std::string_view bytes) {
  return bytes.size() >= 4 && (static_cast<unsigned char>(bytes[0]) & 0xf0) == 0x50 &&
         bytes.substr(1, 3) == "\x2a\x4d\x18";
}

bool BeginsZstd(std::string_view bytes) {
  return bytes.starts_with("\x28\xb5\x2f\xfd") || BeginsSkippableFrame(bytes);
}

class CompressedInput final : public RecordInput {
 public:
  CompressedInput(std::unique_ptr<ByteWindow> window, Compression compression,
                  std::unique_ptr<codec::Decoder> decoder, std::uint64_t first_member)
      : window_(std::move(window)),
        compression_(compression),
        decoder_(std::move(decoder)),
        member_offset_(first_member),
        raw_(first_member) {}

  Result<bool> More() override {
    if (member_done_) return false;
    Compact(kPiece);
    const std::size_t had = out_.size();
    while (out_.size() == had && !member_done_) {
      Result<std::string_view> in = window_->At(raw_, kPiece);
      if (!in) return in.error();
      Result<codec::Progress> step =
          decoder_->Decode(*in, {out_.data() + had, out_.capacity() - had});
      if (!step) return Damaged(step.error().text);
      raw_ += step->consumed;
      out_.SetSize(had + step->produced);
      member_done_ = step->done;
      if (in->empty() && step->produced == 0 && !step->done) {
        return Damaged("the file ends in the middle of it");
      }
    }
    available_ = out_.view().substr(position_);
    return out_.size() > had;
  }

  void Consume(std::size_t count) override {
    Check(count <= available_.size());
    available_.remove_prefix(count);
    position_ += count;
    consumed_ += static_cast<std::int64_t>(count);
  }

  Result<std::uint64_t> Skip(std::uint64_t count) override {
    std::uint64_t passed = 0;
    for (;;) {
      const std::uint64_t part = std::min<std::uint64_t>(count - passed, available_.size());
      Consume(part);
      passed += part;
      if (passed == count) return passed;
      Result<bool> more = More();
      if (!more) return more.error();
      if (!*more) return passed;
    }
  }

  Result<bool> NextMember() override {
    Check(member_done_);
    Result<std::string_view> in = window_->At(raw_, std::exchange(next_piece_, kPiece));
    if (!in) return in.error();
    if (in->empty()) return false;
    member_offset_ = raw_;
    consumed_ = -static_cast<std::int64_t>(available_.size());
    window_->Pin(raw_);
    if (!BeginsMember(*in)) {
      return Error{ErrorCode::kCorrupt, fmt::format("no {} member begins here", Name())};
    }
    if (compression_ == Compression::kGzip && available_.empty()) return NextWhole(*in);
    return NextInPieces();
  }

  std::uint64_t offset() const override { return member_offset_; }
  bool at_member_start() const override { return consumed_ == 0; }
  std::uint64_t end_offset() const override { return raw_; }
  Compression compression() const override { return compression_; }

  Status SkipTo(std::uint64_t offset) override {
    if (!window_->Reaches(offset)) {
      return Error{ErrorCode::kInvalid, "the input is a pipe and cannot be read again"};
    }
    raw_ = member_offset_ = offset;
    next_piece_ = kFirstPiece;
    window_->Pin(offset);
    member_done_ = true;
    out_.Clear();
    position_ = 0;
    consumed_ = 0;
    available_ = {};
    return {};
  }

  // A member that is here as a whole is inflated at once.
  void Expect(std::uint64_t bytes) override {
    next_piece_ = static_cast<std::size_t>(std::clamp<std::uint64_t>(bytes, 1, kPiece));
    window_->Expect(next_piece_);
  }

  Result<std::optional<std::uint64_t>> FindRecord(std::uint64_t from,
                                                  const Grammar& grammar) override {
    if (!window_->Reaches(from)) from = raw_;
    for (std::uint64_t at = from;;) {
      Result<std::string_view> in = window_->At(at, kPiece);
      if (!in) return in.error();
      const std::size_t found = FindMember(*in);
      if (found == in->size()) {
        if (in->size() < kPiece) return std::optional<std::uint64_t>();
        at += in->size() - 3;  // a magic number may straddle the border
        window_->Pin(at);
        continue;
      }
      at += found;
      Result<bool> begins = BeginsWithRecord(at, grammar);
      if (!begins) return begins.error();
      if (*begins) return std::optional(at);
      ++at;
    }
  }

  Result<std::optional<std::string_view>> PeekAt(std::uint64_t, std::size_t) override {
    return std::optional<std::string_view>();
  }

  Result<std::uint64_t> FileSize() const override { return window_->Size(); }

 private:
  std::string_view Name() const { return compression_ == Compression::kGzip ? "gzip" : "zstd"; }

  bool BeginsMember(std::string_view bytes) const {
    return compression_ == Compression::kGzip ? BeginsGzip(bytes) : BeginsZstd(bytes);
  }

  // Where in `bytes` a member may begin; bytes.size() when nowhere.
  std::size_t FindMember(std::string_view bytes) const {
    const char first = compression_ == Compression::kGzip ? '\x1f' : '\x28';
    for (std::size_t at = 0; (at = bytes.find(first, at)) != std::string_view::npos; ++at) {
      if (BeginsMember(bytes.substr(at))) return at;
    }
    return bytes.size();
  }

  Error Damaged(std::string_view why) {
    member_done_ = true;
    return {ErrorCode::kCorrupt,
            fmt::format("the {} member at byte {} is damaged: {}", Name(), member_offset_, why)};
  }

  // Room for `room` bytes behind those that are still to be read, which move to the front.
  void Compact(std::size_t room) {
    const std::size_t rest = out_.size() - position_;
    if (position_ > 0) std::memmove(out_.data(), out_.data() + position_, rest);
    position_ = 0;
    out_.Reserve(std::max<std::size_t>(rest + room, 2 * kPiece));
    out_.SetSize(rest);
    available_ = out_.view();
  }

  Result<bool> NextWhole(std::string_view in) {
    position_ = 0;
    Result<codec::GzipMemberInflater::Outcome> outcome =
        inflater_.Inflate(in, kWholeBytesMax, out_);
    if (!outcome) {
      available_ = {};
      return Damaged(outcome.error().text);
    }
    if (outcome->kind == codec::GzipMemberInflater::Kind::kNeedMore) {
      out_.Clear();
      return NextInPieces();
    }
    raw_ += outcome->consumed;
    available_ = out_.view();
    return true;
  }

  Result<bool> NextInPieces() {
    decoder_->Reset();
    member_done_ = false;
    Result<bool> more = More();
    if (!more) return more.error();
    return true;  // also for a member that is empty
  }

  // Whether the member at `at` can be decoded and begins with a record.
  Result<bool> BeginsWithRecord(std::uint64_t at, const Grammar& grammar) {
    Result<std::string_view> in = window_->At(at, kPiece);
    if (!in) return in.error();
    std::array<char, kProbeBytes> probe;
    decoder_->Reset();
    const Result<codec::Progress> step = decoder_->Decode(*in, probe);
    return step.ok() && grammar.BeginsRecord({probe.data(), step->produced}) == Match::kYes;
  }

  std::unique_ptr<ByteWindow> window_;
  Compression compression_;
  std::unique_ptr<codec::Decoder> decoder_;
  codec::GzipMemberInflater inflater_;
  codec::Buffer out_;
  std::size_t position_ = 0;   // in out_
  std::int64_t consumed_ = 0;  // of the current member; below 0 in what is left of the one before
  std::uint64_t member_offset_;
  std::uint64_t raw_;        // file offset of the next compressed byte
  bool member_done_ = true;  // nothing of the current member is left to decode
  std::size_t next_piece_ = kFirstPiece;
};

// The dictionary that a `.warc.zst` may begin with, and the offset behind it.
struct DictionaryFrame {
  std::string dictionary;
  std::uint64_t end = 0;
};

constexpr std::string_view kDictionaryMagic = "\x5d\x2a\x4d\x18";
constexpr std::size_t kDictionaryBytesMax = 8 * 1024 * 1024;

Result<DictionaryFrame> ReadDictionaryFrame(ByteWindow& window) {
  Result<std::string_view> head = window.At(0, 8);
  if (!head) return head.error();
  if (head->size() < 8 || !head->starts_with(kDictionaryMagic)) return DictionaryFrame{};
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    size |= std::uint64_t{static_cast<unsigned char>((*head)[4 + i])} << (8 * i);
  }
  if (size == 0 || size > kDictionaryBytesMax) {
    return Error{ErrorCode::kCorrupt, fmt::format("the dictionary frame says {} bytes", size)};
  }
  DictionaryFrame frame;
  frame.end = 8 + size;
  while (frame.dictionary.size() < size) {
    const std::size_t left = size - frame.dictionary.size();
    Result<std::string_view> part =
        window.At(8 + frame.dictionary.size(), std::min<std::size_t>(left, kPiece));
    if (!part) return part.error();
    if (part->empty()) return Error{ErrorCode::kCorrupt, "the dictionary frame is cut off"};
    frame.dictionary += part->substr(0, left);
  }
  if (frame.dictionary.starts_with("\x28\xb5\x2f\xfd")) {
    Result<std::string> inflated =
        codec::ZstdCodec().Decompress(frame.dictionary, kDictionaryBytesMax);
    if (!inflated) return inflated.error();
    frame.dictionary = *std::move(inflated);
  }
  return frame;
}

}  // namespace

std::unique_ptr<RecordInput> NewGzipInput(std::unique_ptr<ByteWindow> window) {
  return std::make_unique<CompressedInput>(std::move(window), Compression::kGzip,
                                           std::make_unique<codec::GzipDecoder>(), 0);
}

Result<std::unique_ptr<RecordInput>> NewZstdInput(std::unique_ptr<ByteWindow> window) {
  Result<DictionaryFrame> frame = ReadDictionaryFrame(*window);
  if (!frame) return frame.error();
  std::unique_ptr<codec::ZstdCodec> codec = std::make_unique<codec::ZstdCodec>();
  if (!frame->dictionary.empty()) {
    auto with = codec::ZstdCodec::WithDictionary(std::move(frame->dictionary));
    if (!with) return with.error();
    codec = *std::move(with);
  }
  return std::unique_ptr<RecordInput>(std::make_unique<CompressedInput>(
      std::move(window), Compression::kZstd, codec->NewDecoder(), frame->end));
}

Result<std::unique_ptr<RecordInput>> OpenRecordInput(io::Source& source) {
  auto window = std::make_unique<ByteWindow>(source);
  Result<std::string_view> first = window->At(0, 4);
  if (!first) return first.error();
  if (BeginsGzip(*first)) return NewGzipInput(std::move(window));
  if (BeginsZstd(*first)) return NewZstdInput(std::move(window));
  return NewPlainInput(std::move(window));
}

}  // namespace stele::record
