#pragma once

#include "formats/record/grammar.h"

namespace stele::warc {

// Reads heads of WARC 0.17, 0.18, 1.0, 1.1 and whatever else says "WARC/n.n": field names in any
// case, bare line feeds, folded lines, spaces before the colon, <> around target URIs. What breaks
// the standard becomes a defect.
class WarcGrammar final : public record::Grammar {
 public:
  record::Format format() const override { return record::Format::kWarc; }
  record::Match BeginsRecord(std::string_view bytes) const override;
  std::size_t FindCandidate(std::string_view bytes, std::size_t from) const override;
  Result<std::size_t> HeadLength(std::string_view bytes) const override;
  Status ParseHead(std::string_view head, record::Record& record,
                   std::vector<record::Defect>& defects) override;
  std::size_t SeparatorLength(std::string_view bytes,
                              std::vector<record::Defect>* defects) const override;
  int confirmations() const override { return 1; }
};

}  // namespace stele::warc
