#include "archive/page_text.h"

#include <algorithm>

#include "codec/registry.h"
#include "formats/html/charset.h"
#include "formats/html/document_kind.h"
#include "formats/html/text.h"
#include "formats/http/content_decoder.h"
#include "formats/http/media_type.h"
#include "util/checksum.h"

namespace stele::archive {
namespace {

constexpr std::size_t kPieceBytes = 64 << 10;

// Without its content codings; nothing when that cannot be had in kPageTextBytesMax.
std::optional<std::string> Decode(std::string_view payload,
                                  const std::vector<std::string_view>& codings) {
  static const codec::Registry registry = codec::StandardRegistry();
  http::ContentDecoder decoder(registry, codings, {.size_max = kPageTextBytesMax});
  if (decoder.passes_through()) return std::string(payload);
  std::string out;
  for (;;) {
    const std::size_t before = out.size();
    out.resize(before + kPieceBytes);
    const http::ContentDecoder::Step step =
        decoder.Decode(payload, std::span(out).subspan(before), true);
    payload.remove_prefix(step.consumed);
    out.resize(before + step.produced);
    if (step.done) return out;
    if (out.size() > kPageTextBytesMax) return std::nullopt;
  }
}

std::optional<html::PageText> TextOf(std::string_view payload, std::string_view content_type,
                                     const http::Headers* headers) {
  const http::MediaType media = http::ParseMediaType(content_type);
  if (payload.size() > kPageTextBytesMax || !HasPageText(media.type)) return std::nullopt;
  std::string decoded;
  if (headers != nullptr && headers->Find("Content-Encoding")) {
    std::optional<std::string> plain = Decode(payload, http::ContentCodings(*headers));
    if (!plain) return std::nullopt;
    decoded = std::move(*plain);
    payload = decoded;
  }
  const html::EncodingChoice choice = html::ChooseEncoding(payload, media.charset);
  const std::string_view content = payload.substr(choice.bom_size);
  if (media.type == "text/plain") return html::ExtractPlainText(content, choice.encoding);
  if (html::KindOfDocument(payload, media.type) != html::DocumentKind::kHtml) return std::nullopt;
  return html::ExtractText(content, choice.encoding, {.anchors_max = 0});
}

}  // namespace

bool HasPageText(std::string_view type) {
  return type == "text/html" || type == "application/xhtml+xml" || type == "text/plain";
}

std::optional<std::string> PageTextOf(std::string_view payload, std::string_view content_type,
                                      const http::Headers* headers) {
  std::optional<html::PageText> page = TextOf(payload, content_type, headers);
  if (!page) return std::nullopt;
  return std::move(page->text);
}

std::string PageTitleOf(std::string_view payload, std::string_view content_type,
                        const http::Headers* headers) {
  const std::optional<html::PageText> page = TextOf(payload, content_type, headers);
  return page ? page->TextOf(html::kTitleText) : "";
}

std::uint64_t TextDigestOf(std::string_view payload, std::string_view content_type,
                           const http::Headers* headers) {
  const std::optional<html::PageText> page = TextOf(payload, content_type, headers);
  if (!page) return 0;
  return std::max<std::uint64_t>(1, ChecksumOf(html::NormalisedText(*page)));
}

}  // namespace stele::archive
