#include "archive/capture_text.h"

#include "archive/capture_block.h"
#include "archive/page_text.h"
#include "formats/record/payload.h"
#include "util/ascii.h"
#include "util/check.h"

namespace stele::archive {
namespace {

class Collector final : public record::PayloadSink {
 public:
  void OnPayload(std::string_view piece) override {
    // One byte more than has text is enough to see that it has none.
    bytes += piece.substr(0, kPageTextBytesMax + 1 - bytes.size());
  }
  std::string bytes;
};

// What one of the functions of page_text.h finds in the payload.
template <typename Found, typename Look>
Result<Found> LookInto(const ArchiveView& view, const catalog::Capture& capture, const Look& look) {
  Check(!catalog::IsRevisit(capture));
  if (!HasPageText(AsciiLower(capture.type))) return Found();
  Result<std::unique_ptr<CaptureBlock>> block = CaptureBlock::Open(view, capture);
  if (!block) return block.error();
  const record::Record& record = (*block)->record();
  const bool is_http = record::BlockKindOf(record) != record::BlockKind::kOther;
  std::string type(is_http ? "" : record.content_type);
  record::PayloadStream stream;
  stream.Begin(record);
  Collector payload;
  for (;;) {
    Result<std::string_view> piece = (*block)->Read();
    if (!piece) return piece.error();
    if (piece->empty()) break;
    stream.Feed(*piece, &payload);
  }
  stream.Finish(&payload);
  const http::ResponseHead* head = stream.response();
  if (head != nullptr) type = head->headers.Find("Content-Type").value_or("");
  return look(payload.bytes, type, head != nullptr ? &head->headers : nullptr);
}

}  // namespace

Result<std::optional<std::string>> TextOfCapture(const ArchiveView& view,
                                                 const catalog::Capture& capture) {
  return LookInto<std::optional<std::string>>(view, capture, PageTextOf);
}

Result<std::string> TitleOfCapture(const ArchiveView& view, const catalog::Capture& capture) {
  return LookInto<std::string>(view, capture, PageTitleOf);
}

}  // namespace stele::archive
