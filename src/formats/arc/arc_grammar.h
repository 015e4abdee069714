#pragma once

#include "formats/record/grammar.h"

namespace stele::arc {

// Reads ARC 1.0, 1.1 and the records of version 2 into the fields of WARC:
//
//   filedesc:// ...         warcinfo, with WARC-Filename, ARC-Version and ARC-Origin; its block is
//                           what follows the two version lines (XML in ARC 1.1)
//   blocks with HTTP head   response, Content-Type application/http; msgtype=response
//   all others              resource, Content-Type as the line says
//
// The type that the line says is always in ARC-Content-Type, the fields of version 2 in
// ARC-Result-Code, ARC-Checksum, ARC-Location, ARC-Offset, ARC-Filename. Keeps no state.
class ArcGrammar final : public record::Grammar {
 public:
  record::Format format() const override { return record::Format::kArc; }
  record::Match BeginsRecord(std::string_view bytes) const override;
  std::size_t FindCandidate(std::string_view bytes, std::size_t from) const override;
  Result<std::size_t> HeadLength(std::string_view bytes) const override;
  Status ParseHead(std::string_view head, record::Record& record,
                   std::vector<record::Defect>& defects) override;
  std::size_t classify_bytes() const override { return 8; }
  void Classify(std::string_view block_begin, record::Record& record) const override;
  std::size_t SeparatorLength(std::string_view bytes,
                              std::vector<record::Defect>* defects) const override;
  int confirmations() const override { return 3; }
};

}  // namespace stele::arc
