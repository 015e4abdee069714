#include "archive/capture_block.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/record/payload.h"
#include "formats/warc/segments.h"
#include "util/digest.h"

namespace stele::archive {

// Compares a payload with a digest as its block streams by.
class PayloadProof final : private record::PayloadSink {
 public:
  // `is_claimed`: by its writer. Some compute digests of the body as it was sent, in chunks say.
  PayloadProof(const record::Record& record, const Digest& digest, bool is_claimed)
      : digest_(digest), payload_(digest.algorithm()) {
    if (is_claimed) body_.emplace(digest.algorithm());
    stream_.Begin(record);
  }

  void Feed(std::string_view piece) {
    stream_.Feed(piece, this);
    if (body_ && stream_.head_is_known()) {
      const std::uint64_t head_left = stream_.head_length() - std::min(stream_.head_length(), fed_);
      body_->Update(piece.substr(std::min<std::uint64_t>(head_left, piece.size())));
    }
    fed_ += piece.size();
  }

  // Whether it is the same. Requires: all has been fed, and nobody has asked.
  bool Holds() {
    stream_.Finish(this);
    return payload_.Finish() == digest_ || (body_ && body_->Finish() == digest_);
  }

  const Digest& digest() const { return digest_; }
  bool is_claimed() const { return body_.has_value(); }

 private:
  void OnPayload(std::string_view piece) override { payload_.Update(piece); }

  const Digest digest_;
  record::PayloadStream stream_;
  Hasher payload_;
  std::optional<Hasher> body_;
  std::uint64_t fed_ = 0;
};

CaptureBlock::CaptureBlock(const ArchiveView& view, const catalog::CapturePlace& place)
    : view_(view), place_(place) {}

CaptureBlock::~CaptureBlock() = default;

Result<std::unique_ptr<CaptureBlock>> CaptureBlock::Open(const ArchiveView& view,
                                                         const catalog::Capture& capture,
                                                         Segments segments) {
  Result<std::unique_ptr<StoredRecord>> first = view.Open(capture);
  if (!first) return first.error();
  std::unique_ptr<CaptureBlock> block(new CaptureBlock(view, capture.place));
  block->first_ = *std::move(first);
  block->is_segmented_ = warc::BeginsSegments(block->record());
  if (block->is_segmented_) {
    if (const Status found = block->FindSegments(segments); !found) return found.error();
  }
  block->Expect(capture);
  return block;
}

Status CaptureBlock::FindSegments(Segments segments) {
  Result<Continuations::Found> found = view_.continuations().Of(view_, record(), place_.container);
  if (!found) return found.error();
  found_ = *std::move(found);
  const bool joins = segments == Segments::kAsFarAsHere ||
                     (segments == Segments::kJoinedIfAllHere && found_.flaw.empty());
  if (joins) joined_ = found_.leading;
  return {};
}

void CaptureBlock::Expect(const catalog::Capture& capture) {
  if (catalog::IsRevisit(capture)) return;
  if (joined_.empty() && capture.sha256) {
    const Digest digest(DigestAlgorithm::kSha256, {capture.sha256->data(), capture.sha256->size()});
    proof_ = std::make_unique<PayloadProof>(record(), digest, false);
  } else if (is_joined()) {
    const auto claim = Digest::Parse(record().fields.Find("WARC-Payload-Digest").value_or(""));
    if (claim) proof_ = std::make_unique<PayloadProof>(record(), *claim, true);
  }
}

Result<std::string_view> CaptureBlock::Read() {
  for (;;) {
    Result<std::string_view> piece = (later_ ? *later_ : *first_).Read();
    if (!piece) return piece;
    if (!piece->empty()) {
      length_ += piece->size();
      if (proof_) proof_->Feed(*piece);
      return piece;
    }
    const Result<bool> more = GoOn();
    if (!more) return more.error();
    if (!*more) break;
  }
  if (const Status checked = CheckPayload(); !checked) return checked.error();
  return std::string_view();
}

Result<bool> CaptureBlock::GoOn() {
  if (joined_.empty()) return false;
  const record::Record& segment = (later_ ? *later_ : *first_).record();
  if (length_ != segment.content_length) {
    return Damage(fmt::format("the segment {} has {} bytes and says {}", segment.record_id(),
                              length_, segment.content_length));
  }
  if (next_ == joined_.size()) return false;
  const Continuation& next = joined_[next_++];
  Result<std::unique_ptr<StoredRecord>> opened = view_.Open(next.container, next.place);
  if (!opened) return opened.error();
  later_ = *std::move(opened);
  length_ = 0;
  return true;
}

Status CaptureBlock::CheckPayload() {
  if (!is_right_) is_right_ = !proof_ || proof_->Holds();
  if (*is_right_) return {};
  if (!proof_->is_claimed()) return Damage("the payload is not what it was when it came");
  return Damage(
      fmt::format("the payload of all segments together is not what the first one says: {}",
                  proof_->digest().Labelled()));
}

Error CaptureBlock::Damage(std::string_view what) const {
  return Error{ErrorCode::kCorrupt, fmt::format("container {}, byte {}: {}; run stele verify",
                                                place_.container, place_.offset, what)};
}

}  // namespace stele::archive
