#include "archive/redirect_target.h"

#include "archive/http_head.h"
#include "formats/http/message.h"
#include "formats/url/url.h"

namespace stele::archive {

std::string RedirectTargetOf(const ArchiveView& view, const catalog::Capture& capture) {
  if ((capture.flags & catalog::kRedirect) == 0) return "";
  const Result<std::unique_ptr<StoredRecord>> stored = view.Open(capture);
  if (!stored) return "";
  const Result<std::string> raw = ReadResponseHead(**stored);
  if (!raw) return "";
  const Result<http::ResponseHead> head = http::ParseResponseHead(*raw);
  const std::string_view location = head ? head->headers.Find("Location").value_or("") : "";
  if (location.empty()) return "";
  const Result<url::Url> base = url::Parse(capture.url);
  const Result<url::Url> target = url::Parse(location, base ? &*base : nullptr);
  return target ? target->href() : std::string(location);
}

}  // namespace stele::archive
