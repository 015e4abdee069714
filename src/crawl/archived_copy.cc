#include "crawl/archived_copy.h"

#include "archive/companions.h"
#include "formats/record/payload.h"
#include "util/ascii.h"

namespace stele::crawl {
namespace {

constexpr std::string_view kDistrustField = "tlsDistrust:";

class PayloadText final : public record::PayloadSink {
 public:
  PayloadText(std::string& text, std::size_t bytes_max) : text_(text), bytes_max_(bytes_max) {}
  void OnPayload(std::string_view piece) override {
    text_ += piece.substr(0, bytes_max_ - text_.size());
  }
  bool is_full() const { return text_.size() == bytes_max_; }

 private:
  std::string& text_;
  const std::size_t bytes_max_;
};

}  // namespace

Result<ArchivedCopy> ReadArchivedCopy(const archive::ArchiveView& view,
                                      const catalog::CaptureId& capture,
                                      std::size_t payload_bytes_max) {
  const Result<catalog::HeldCapture> held = view.catalog().Get(capture);
  if (!held) return held.error();
  Result<std::unique_ptr<archive::StoredRecord>> stored = view.Open(held->row);
  if (!stored) return stored.error();
  ArchivedCopy copy;
  copy.truncation = warc::TruncationOf((*stored)->record());
  PayloadText payload(copy.payload, payload_bytes_max);
  record::PayloadStream stream;
  stream.Begin((*stored)->record());
  while (!payload.is_full()) {
    const Result<std::string_view> piece = (*stored)->Read();
    if (!piece) return piece.error();
    if (piece->empty()) {
      stream.Finish(&payload);
      break;
    }
    stream.Feed(*piece, &payload);
  }
  if (const http::ResponseHead* head = stream.response()) copy.head = head->raw;
  return copy;
}

Result<std::string> ReadDistrust(const archive::ArchiveView& view,
                                 const catalog::Capture& capture) {
  const auto companions = archive::Companions::Behind(view, capture);
  if (!companions) return companions.error();
  for (const archive::Companion& companion : *companions) {
    if (companion.type != record::RecordType::kMetadata) continue;
    const auto stored = view.Open(capture.place.container, companion);
    if (!stored) return stored.error();
    std::string text;
    for (;;) {
      const Result<std::string_view> piece = (*stored)->Read();
      if (!piece) return piece.error();
      if (piece->empty()) break;
      text += *piece;
    }
    for (const std::string_view line : Split(text, '\n')) {
      if (!line.starts_with(kDistrustField)) continue;
      return std::string(TrimSpace(line.substr(kDistrustField.size())));
    }
  }
  return std::string();
}

}  // namespace stele::crawl
