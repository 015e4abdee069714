#include "archive/tianwang_export.h"

#include "archive/export_error.h"

namespace stele::archive {

Result<bool> TianwangExport::Add(const catalog::HeldCapture& capture) {
  Result<bool> added = catalog::IsRevisit(capture.row) ? AddRevisit(capture) : AddOriginal(capture);
  return added ? added : ExportError(added.error(), !in_record_);
}

Result<bool> TianwangExport::AddOriginal(const catalog::HeldCapture& capture) {
  const Result<std::unique_ptr<CaptureBlock>> block = CaptureBlock::Open(view_, capture.row);
  if (!block) return block.error();
  const Result<BlockFacts> facts = ExamineBlock(**block);
  if (!facts) return facts.error();
  return Write((*block)->record(), facts->length, !(*block)->flaw().empty(),
               [&](const TakePiece& take) -> Status {
                 const Result<std::unique_ptr<CaptureBlock>> again =
                     CaptureBlock::Open(view_, capture.row);
                 return again ? ForEachPiece(**again, 0, take) : again.error();
               });
}

Result<bool> TianwangExport::AddRevisit(const catalog::HeldCapture& capture) {
  const Result<catalog::HeldCapture> original = resolver_.Resolve(capture);
  if (!original) {
    if (original.error().code != ErrorCode::kNotFound) return original.error();
    return LeaveOut("repeat captures that are not in this archive");
  }
  const Result<WholeBlock> whole = WholeBlock::Of(view_, capture.row, original->row);
  if (!whole) return whole.error();
  return Write(whole->revisit(), whole->length(), whole->is_cut_off(),
               [&](const TakePiece& take) { return whole->ForEach(take); });
}

Result<bool> TianwangExport::Write(const record::Record& record, std::uint64_t length,
                                   bool is_cut_off,
                                   const std::function<Status(const TakePiece&)>& for_each) {
  if (!record.date) return LeaveOut("have no date that can be read");
  tianwang::Page page;
  page.url = record.target_uri;
  page.time = *record.date;
  page.ip = record.fields.Find("WARC-IP-Address").value_or("");
  page.origin = record.fields.Find("Tianwang-Origin").value_or("");
  in_record_ = true;
  if (const Status begun = writer_.Begin(page, length); !begun) {
    if (begun.error().code != ErrorCode::kInvalid) return begun.error();
    in_record_ = false;
    return LeaveOut("have a URL or date that the format cannot hold");
  }
  const Status written = for_each([&](std::string_view piece) { return writer_.Append(piece); });
  if (!written) return written.error();
  const Result<record::Extent> ended = writer_.End();
  if (!ended) return ended.error();
  in_record_ = false;
  if (is_cut_off) ++cut_off_;
  return true;
}

bool TianwangExport::LeaveOut(std::string_view why) {
  ++left_out_[std::string(why)];
  return false;
}

}  // namespace stele::archive
