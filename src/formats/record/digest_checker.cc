#include "formats/record/digest_checker.h"

#include <fmt/format.h>

namespace stele::record {

// Hashes with whatever algorithm a claim needs; hashers are made once and kept.
class DigestChecker::Part final : public PayloadSink {
 public:
  void Begin(const std::optional<Digest>& claim) {
    hasher_ = nullptr;
    if (!claim) return;
    std::unique_ptr<Hasher>& hasher = hashers_[static_cast<std::size_t>(claim->algorithm())];
    if (hasher == nullptr) hasher = std::make_unique<Hasher>(claim->algorithm());
    hasher_ = hasher.get();
  }
  bool active() const { return hasher_ != nullptr; }
  void OnPayload(std::string_view piece) override {
    if (hasher_ != nullptr) hasher_->Update(piece);
  }
  Digest Finish() { return hasher_->Finish(); }

 private:
  std::array<std::unique_ptr<Hasher>, 4> hashers_;
  Hasher* hasher_ = nullptr;
};

DigestChecker::DigestChecker()
    : block_part_(std::make_unique<Part>()), payload_part_(std::make_unique<Part>()) {}
DigestChecker::~DigestChecker() = default;

std::optional<Digest> DigestChecker::Claimed(const Record& record, std::string_view field) {
  const std::optional<std::string_view> text = record.fields.Find(field);
  if (!text) return std::nullopt;
  std::optional<Digest> digest = Digest::Parse(*text);
  if (!digest) {
    unreadable_.push_back(
        {"digest-unreadable", fmt::format("{} \"{}\" is not a digest that we know", field, *text)});
  }
  return digest;
}

void DigestChecker::Begin(const Record& record) {
  payload_.Begin(record);
  unreadable_.clear();
  block_claim_ = Claimed(record, "WARC-Block-Digest");
  payload_claim_ = Claimed(record, "WARC-Payload-Digest");
  // A revisit has the payload digest of another record; a segment that of the joined payload.
  if (record.type == RecordType::kRevisit || record.fields.Find("WARC-Segment-Number")) {
    payload_claim_.reset();
  }
  block_part_->Begin(block_claim_);
  payload_part_->Begin(payload_claim_);
  whole_.reset();
  pieces_ = 0;
}

void DigestChecker::Feed(std::string_view piece) {
  block_part_->OnPayload(piece);
  payload_.Feed(piece, payload_part_->active() ? payload_part_.get() : nullptr);
  whole_ = pieces_ == 0 ? std::optional(piece) : std::nullopt;
  ++pieces_;
}

void DigestChecker::Finish(std::vector<Defect>& defects) {
  payload_.Finish(payload_part_->active() ? payload_part_.get() : nullptr);
  defects.insert(defects.end(), unreadable_.begin(), unreadable_.end());
  if (block_claim_) {
    const Digest actual = block_part_->Finish();
    ++compared_;
    if (actual != *block_claim_) {
      defects.push_back({"block-digest", fmt::format("WARC-Block-Digest is {}, the block has {}",
                                                     block_claim_->Labelled(), actual.Labelled())});
    }
  }
  if (payload_claim_) {
    const Digest actual = payload_part_->Finish();
    ++compared_;
    if (actual != *payload_claim_) {
      defects.push_back(
          {"payload-digest", fmt::format("WARC-Payload-Digest is {}, the payload has {}",
                                         payload_claim_->Labelled(), actual.Labelled())});
      ExplainPayloadMismatch(defects);
    }
  }
}

void DigestChecker::ExplainPayloadMismatch(std::vector<Defect>& defects) const {
  if (!whole_) return;
  const std::string_view body = whole_->substr(payload_.head_length());
  if (DigestOf(payload_claim_->algorithm(), body) == *payload_claim_) {
    defects.back().rule = "payload-digest-of-coded-body";
    defects.back().text += "; it was computed without taking off the transfer coding";
  } else if (DigestOf(payload_claim_->algorithm(), *whole_) == *payload_claim_) {
    defects.back().rule = "payload-digest-of-block";
    defects.back().text += "; it was computed over the whole block, HTTP head included";
  }
}

}  // namespace stele::record
