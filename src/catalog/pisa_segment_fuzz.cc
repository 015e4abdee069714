#include <cstddef>
#include <cstdint>

#include "catalog/pisa_check.h"
#include "catalog/pisa_cursor.h"
#include "catalog/pisa_page.h"
#include "catalog/pisa_segment_format.h"
#include "util/check.h"
#include "util/coding.h"

// A summary and pages behind it, each with its length: what a segment is when all checksums are
// good. Whatever is in them, every question ends with an answer or with an error.
namespace stele::catalog {
namespace {

class FuzzForest final : public PisaForest {
 public:
  FuzzForest(PisaSegmentSummary summary, ByteReader& pages) : summary_(std::move(summary)) {
    while (pages.good() && !pages.AtEnd()) pages_.emplace_back(pages.Sized());
  }
  const std::vector<PisaPart>& parts() const override { return summary_.parts; }
  Result<PisaBlockPointer> Read(PisaBlockNumber number) const override {
    if (number >= pages_.size()) return Corrupt(number, "missing");
    Result<PisaBlock> block = ParsePisaPage(pages_[number], summary_.clock);
    if (!block) return block.error();
    return PisaBlockPointer(std::make_shared<const PisaBlock>(std::move(*block)));
  }
  Error Corrupt(PisaBlockNumber, std::string_view what) const override {
    return {ErrorCode::kCorrupt, std::string(what)};
  }

 private:
  const PisaSegmentSummary summary_;
  std::vector<std::string_view> pages_;
};

void Drain(const PisaForest& forest, const PisaSelection& selection) {
  PisaCursor cursor(forest, selection);
  for (Result<bool> more = cursor.Next(); more && *more; more = cursor.Next()) {
    Check(cursor.key() >= selection.key_first);
    Check(cursor.birth() <= selection.last && cursor.birth() < cursor.death());
  }
}

void Ask(std::string_view bytes) {
  ByteReader in(bytes);
  const std::string_view text = in.Sized();
  Result<PisaSegmentSummary> summary = ParsePisaSummary(text);
  if (!summary) return;
  Check(FormatPisaSummary(*summary) == text);
  const PisaLimits limits = summary->limits;
  const Timestamp first = summary->first;
  const Timestamp last{summary->end.milliseconds - 1};
  const FuzzForest forest(std::move(*summary), in);
  const Result<PisaCounts> counts = CheckPisa(forest, limits, [](const Error&) {});
  Check(counts.ok());
  Drain(forest, StateAt(first));
  Drain(forest, StateAt(last, "a"));
  Drain(forest, AliveDuring(first, last));
  const Result<std::vector<PisaCapture>> found = BacktrackPisaCaptures(forest, "a", first, last);
  if (found && !found->empty()) Check(found->back().death == kEndOfTime);
}

}  // namespace
}  // namespace stele::catalog

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const stele::Result<stele::catalog::PisaBlock> block = stele::catalog::ParsePisaPage(bytes, {});
  if (block) Check(block->key_count() <= block->version_count());
  stele::catalog::Ask(bytes);
  return 0;
}
