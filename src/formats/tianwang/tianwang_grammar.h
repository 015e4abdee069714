#pragma once

#include "formats/record/grammar.h"

namespace stele::tianwang {

// Reads Tianwang 1.0. All attributes stay in the fields under their own names; besides,
//
//   url     WARC-Target-URI           date    WARC-Date, in ISO form
//   origin  Tianwang-Origin           ip      WARC-IP-Address
//
// Data that begins with an HTTP status line is a response (application/http; msgtype=response),
// any other a resource without a Content-Type. With unzip-length the block is compressed, which
// record::BlockStream undoes; both the type and the coding (zlib or gzip) are told by its first
// bytes. Keeps no state.
class TianwangGrammar final : public record::Grammar {
 public:
  record::Format format() const override { return record::Format::kTianwang; }
  record::Match BeginsRecord(std::string_view bytes) const override;
  std::size_t FindCandidate(std::string_view bytes, std::size_t from) const override;
  Result<std::size_t> HeadLength(std::string_view bytes) const override;
  Status ParseHead(std::string_view head, record::Record& record,
                   std::vector<record::Defect>& defects) override;
  // Enough for the code tables of a compressed block and the first bytes behind them.
  std::size_t classify_bytes() const override { return 1024; }
  void Classify(std::string_view block_begin, record::Record& record) const override;
  std::size_t SeparatorLength(std::string_view bytes,
                              std::vector<record::Defect>* defects) const override;
  int confirmations() const override { return 3; }
};

}  // namespace stele::tianwang
