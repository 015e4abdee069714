#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/record/payload.h"
#include "formats/record/record.h"
#include "util/digest.h"

namespace stele::record {

// Compares the digests that a record's head claims with its block, as it streams by. Not
// thread-safe; Begin() makes it ready for the next record.
class DigestChecker {
 public:
  DigestChecker();
  ~DigestChecker();

  void Begin(const Record& record);
  // The block's pieces in order. A piece must stay in memory until the next call.
  void Feed(std::string_view piece);
  // Adds what is wrong: digests that do not fit, cannot be read, or were computed over other bytes
  // than the standard says.
  void Finish(std::vector<Defect>& defects);

  // Digests that were compared since construction.
  std::uint64_t compared() const { return compared_; }
  const PayloadStream& payload() const { return payload_; }

 private:
  class Part;

  std::optional<Digest> Claimed(const Record& record, std::string_view field);
  void ExplainPayloadMismatch(std::vector<Defect>& defects) const;

  PayloadStream payload_;
  std::unique_ptr<Part> block_part_;
  std::unique_ptr<Part> payload_part_;
  std::optional<Digest> block_claim_;
  std::optional<Digest> payload_claim_;
  std::vector<Defect> unreadable_;
  std::optional<std::string_view> whole_;  // the block, while it has come in one piece
  int pieces_ = 0;
  std::uint64_t compared_ = 0;
};

}  // namespace stele::record
