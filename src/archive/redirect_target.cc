#include "archive/redirect_target.h"

#include "formats/record/payload.h"
#include "formats/url/url.h"

namespace stele::archive {

std::string RedirectTargetOf(const ArchiveView& view, const catalog::Capture& capture) {
  if ((capture.flags & catalog::kRedirect) == 0) return "";
  const Result<std::unique_ptr<StoredRecord>> stored = view.Open(capture);
  if (!stored) return "";
  record::PayloadStream stream;
  stream.Begin((*stored)->record());
  while (!stream.head_is_known()) {
    const Result<std::string_view> piece = (*stored)->Read();
    if (!piece) return "";
    if (piece->empty()) break;
    stream.Feed(*piece, nullptr);
  }
  stream.Finish(nullptr);
  const http::ResponseHead* head = stream.response();
  const std::string_view location =
      head == nullptr ? "" : head->headers.Find("Location").value_or("");
  if (location.empty()) return "";
  const Result<url::Url> base = url::Parse(capture.url);
  const Result<url::Url> target = url::Parse(location, base ? &*base : nullptr);
  return target ? target->href() : std::string(location);
}

}  // namespace stele::archive
