#include "archive/joined_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/record/payload.h"
#include "util/ascii.h"
#include "util/digest.h"

namespace stele::archive {
namespace {

using record::Record;

// What is said of a segment and not of the whole.
constexpr std::array<std::string_view, 4> kOfSegments = {
    "Content-Length", "WARC-Segment-Number", "WARC-Segment-Total-Length", "WARC-Block-Digest"};

class PayloadHasher final : public record::PayloadSink {
 public:
  void OnPayload(std::string_view piece) override { hasher_.Update(piece); }
  std::string Finish() { return hasher_.Finish().Labelled(); }

 private:
  Hasher hasher_{DigestAlgorithm::kSha1};
};

// Gives the block of a segment to `take`. Errors: kCorrupt when it is not as long as it says.
Status ForEachPieceOf(StoredRecord& segment, const TakePiece& take) {
  std::uint64_t length = 0;
  const Status read = ForEachPiece(segment, 0, [&](std::string_view piece) {
    length += piece.size();
    return take(piece);
  });
  if (!read || length == segment.record().content_length) return read;
  return Error{ErrorCode::kCorrupt,
               fmt::format("segment {} has {} bytes and says {}", segment.record().record_id(),
                           length, segment.record().content_length)};
}

}  // namespace

Result<JoinedRecord> JoinedRecord::Of(const ArchiveView& view, const catalog::Capture& capture,
                                      const std::vector<Continuation>& segments) {
  JoinedRecord joined(view, capture, segments);
  if (const Status examined = joined.Examine(); !examined) return examined.error();
  return joined;
}

Status JoinedRecord::Examine() {
  const Result<std::unique_ptr<StoredRecord>> first = view_->Open(*capture_);
  if (!first) return first.error();
  const Record& record = (*first)->record();
  for (const http::Field& field : record.fields.fields()) {
    const bool is_of_segment =
        std::any_of(kOfSegments.begin(), kOfSegments.end(),
                    [&](std::string_view name) { return EqualsIgnoreCase(field.name, name); });
    if (!is_of_segment) fields_.Add(field.name, field.value);
  }
  record::PayloadStream payload;
  payload.Begin(record);
  PayloadHasher payload_hasher;
  Hasher block_hasher(DigestAlgorithm::kSha1);
  const Status read = ForEach([&](std::string_view piece) -> Status {
    length_ += piece.size();
    block_hasher.Update(piece);
    payload.Feed(piece, &payload_hasher);
    return {};
  });
  if (!read) return read;
  payload.Finish(&payload_hasher);
  fields_.Set("WARC-Payload-Digest", payload_hasher.Finish());
  fields_.Set("WARC-Block-Digest", block_hasher.Finish().Labelled());
  return {};
}

Status JoinedRecord::ForEach(const TakePiece& take) const {
  const Result<std::unique_ptr<StoredRecord>> first = view_->Open(*capture_);
  if (!first) return first.error();
  if (const Status taken = ForEachPieceOf(**first, take); !taken) return taken;
  for (const Continuation& segment : *segments_) {
    const Result<std::unique_ptr<StoredRecord>> stored =
        view_->Open(segment.container, segment.place);
    if (!stored) return stored.error();
    if (const Status taken = ForEachPieceOf(**stored, take); !taken) return taken;
  }
  return {};
}

}  // namespace stele::archive
