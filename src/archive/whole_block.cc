// Everything is read twice: first to know that it is whole, how long it is and which digests it
// has, which stand in a record's head, and then to write it.
#include "archive/whole_block.h"

#include <fmt/format.h>

#include "formats/http/body.h"
#include "formats/record/payload.h"
#include "formats/warc/revisit.h"
#include "util/ascii.h"
#include "util/digest.h"

namespace stele::archive {
namespace {

using record::Record;

// The HTTP head of a revisit has no more.
constexpr std::size_t kRevisitBytesMax = std::size_t{1} << 20;

class PayloadExaminer final : public record::PayloadSink {
 public:
  void OnPayload(std::string_view piece) override {
    length_ += piece.size();
    sha1_.Update(piece);
  }
  void Finish(BlockFacts& facts) {
    facts.payload_digest = sha1_.Finish().Labelled();
    facts.payload_length = length_;
  }

 private:
  Hasher sha1_{DigestAlgorithm::kSha1};
  std::uint64_t length_ = 0;
};

class TakingSink final : public record::PayloadSink {
 public:
  explicit TakingSink(const TakePiece& take) : take_(take) {}
  void OnPayload(std::string_view piece) override {
    if (status_) status_ = take_(piece);
  }
  const Status& status() const { return status_; }

 private:
  const TakePiece& take_;
  Status status_;
};

// Gives the payload to `take`, without transfer coding.
Status ForEachPayloadPiece(BlockSource& source, const TakePiece& take) {
  record::PayloadStream payload;
  payload.Begin(source.record());
  TakingSink sink(take);
  const Status read = ForEachPiece(source, 0, [&](std::string_view piece) {
    payload.Feed(piece, &sink);
    return sink.status();
  });
  if (!read) return read;
  payload.Finish(&sink);
  return sink.status();
}

// The head of a message without what says how its body was transferred.
std::string WithoutFraming(const http::ResponseHead& head) {
  std::string out(head.raw.substr(0, head.raw.find('\n') + 1));
  for (const http::Field& field : head.headers.fields()) {
    if (EqualsIgnoreCase(field.name, "Transfer-Encoding")) continue;
    out += fmt::format("{}: {}\r\n", field.name, field.value);
  }
  return out + "\r\n";
}

}  // namespace

Status ForEachPiece(BlockSource& source, std::uint64_t from, const TakePiece& take) {
  for (;;) {
    Result<std::string_view> piece = source.Read();
    if (!piece) return piece.error();
    if (piece->empty()) return {};
    const std::uint64_t passed = std::min<std::uint64_t>(from, piece->size());
    from -= passed;
    const std::string_view rest = piece->substr(passed);
    if (rest.empty()) continue;
    if (const Status taken = take(rest); !taken) return taken;
  }
}

Result<BlockFacts> ExamineBlock(BlockSource& source) {
  BlockFacts facts;
  record::PayloadStream payload;
  payload.Begin(source.record());
  PayloadExaminer examiner;
  Hasher block(DigestAlgorithm::kSha1);
  for (;;) {
    Result<std::string_view> piece = source.Read();
    if (!piece) return piece.error();
    if (piece->empty()) break;
    facts.length += piece->size();
    block.Update(*piece);
    payload.Feed(*piece, &examiner);
  }
  payload.Finish(&examiner);
  examiner.Finish(facts);
  facts.digest = block.Finish().Labelled();
  facts.head_length = payload.head_length();
  if (const http::ResponseHead* head = payload.response()) {
    facts.is_chunked = http::PlanStoredBody(head->headers).framing == http::BodyFraming::kChunked;
  }
  return facts;
}

Result<WholeBlock> WholeBlock::Of(const ArchiveView& view, const catalog::Capture& revisit,
                                  const catalog::Capture& original) {
  WholeBlock whole(view, original);
  Result<std::unique_ptr<StoredRecord>> stored = view.Open(revisit);
  if (!stored) return stored.error();
  whole.revisit_ = *std::move(stored);
  std::string block;
  const Status read = ForEachPiece(*whole.revisit_, 0, [&](std::string_view piece) -> Status {
    block += piece.substr(0, kRevisitBytesMax - block.size());
    return {};
  });
  if (!read) return read.error();
  Result<std::unique_ptr<CaptureBlock>> source = CaptureBlock::Open(view, original);
  if (!source) return source.error();
  whole.original_block_ = *std::move(source);
  Result<BlockFacts> facts = ExamineBlock(*whole.original_block_);
  if (!facts) return facts.error();
  whole.facts_ = *std::move(facts);

  const Result<http::ResponseHead> head = http::ParseResponseHead(block);
  const bool own_head =
      head && whole.facts_.head_length > 0 &&
      warc::RevisitProfileOf(whole.revisit()) != warc::RevisitProfile::kServerNotModified;
  if (!own_head) return whole;
  const bool is_chunked =
      http::PlanStoredBody(head->headers).framing == http::BodyFraming::kChunked;
  whole.as_stored_ = is_chunked == whole.facts_.is_chunked;
  whole.begin_ = whole.as_stored_ ? std::string(head->raw) : WithoutFraming(*head);
  whole.body_from_ = whole.facts_.head_length;
  return whole;
}

std::uint64_t WholeBlock::length() const {
  return begin_.size() + (as_stored_ ? facts_.length - body_from_ : facts_.payload_length);
}

Status WholeBlock::ForEach(const TakePiece& take) const {
  Result<std::unique_ptr<CaptureBlock>> source = CaptureBlock::Open(*view_, *original_);
  if (!source) return source.error();
  if (const Status taken = begin_.empty() ? Status() : take(begin_); !taken) return taken;
  return as_stored_ ? ForEachPiece(**source, body_from_, take)
                    : ForEachPayloadPiece(**source, take);
}

}  // namespace stele::archive
