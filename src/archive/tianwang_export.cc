#include "archive/tianwang_export.h"

namespace stele::archive {

Result<bool> TianwangExport::Add(const catalog::HeldCapture& capture) {
  if ((capture.row.flags & catalog::kRevisit) != 0) return AddRevisit(capture);
  const Result<BlockFacts> facts = ExamineCapture(view_, capture.row);
  if (!facts) return facts.error();
  Result<std::unique_ptr<StoredRecord>> stored = view_.Open(capture.row);
  if (!stored) return stored.error();
  return Write((*stored)->record(), facts->length,
               [&](const TakePiece& take) { return ForEachPiece(**stored, 0, take); });
}

Result<bool> TianwangExport::AddRevisit(const catalog::HeldCapture& capture) {
  const Result<catalog::HeldCapture> original = resolver_.Resolve(capture);
  if (!original) {
    if (original.error().code != ErrorCode::kNotFound) return original.error();
    return LeaveOut("repeat captures that are not in this archive");
  }
  const Result<WholeBlock> whole = WholeBlock::Of(view_, capture.row, original->row);
  if (!whole) return whole.error();
  return Write(whole->revisit(), whole->length(),
               [&](const TakePiece& take) { return whole->ForEach(take); });
}

Result<bool> TianwangExport::Write(const record::Record& record, std::uint64_t length,
                                   const std::function<Status(const TakePiece&)>& for_each) {
  if (!record.date) return LeaveOut("have no date that can be read");
  tianwang::Page page;
  page.url = record.target_uri;
  page.time = *record.date;
  page.ip = record.fields.Find("WARC-IP-Address").value_or("");
  page.origin = record.fields.Find("Tianwang-Origin").value_or("");
  if (const Status begun = writer_.Begin(page, length); !begun) {
    if (begun.error().code != ErrorCode::kInvalid) return begun.error();
    return LeaveOut("have a URL or date that the format cannot hold");
  }
  const Status written = for_each([&](std::string_view piece) { return writer_.Append(piece); });
  if (!written) return written.error();
  const Result<record::Extent> ended = writer_.End();
  return ended ? Result<bool>(true) : ended.error();
}

bool TianwangExport::LeaveOut(std::string_view why) {
  ++left_out_[std::string(why)];
  return false;
}

}  // namespace stele::archive
