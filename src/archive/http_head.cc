#include "archive/http_head.h"

#include <memory>

#include "formats/http/message.h"
#include "formats/record/payload.h"

namespace stele::archive {

Result<std::string> ReadResponseHead(StoredRecord& stored) {
  record::PayloadStream stream;
  stream.Begin(stored.record());
  while (!stream.head_is_known()) {
    const Result<std::string_view> piece = stored.Read();
    if (!piece) return piece.error();
    if (piece->empty()) stream.Finish(nullptr);
    if (piece->empty()) break;
    stream.Feed(*piece, nullptr);
  }
  const http::ResponseHead* head = stream.response();
  return head == nullptr ? std::string() : std::string(head->raw);
}

std::optional<std::string> ReadOwnHead(StoredRecord& revisit) {
  constexpr int kNotModified = 304;
  Result<std::string> raw = ReadResponseHead(revisit);
  if (!raw) return std::nullopt;
  const Result<http::ResponseHead> head = http::ParseResponseHead(*raw);
  const bool is_own = head && head->status != 0 && head->status != kNotModified;
  return is_own ? std::optional(*std::move(raw)) : std::nullopt;
}

std::optional<std::string> ReadOwnHead(const ArchiveView& view, const catalog::Capture& revisit) {
  const Result<std::unique_ptr<StoredRecord>> stored = view.Open(revisit);
  return stored ? ReadOwnHead(**stored) : std::nullopt;
}

}  // namespace stele::archive
