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

http::ContentDecoder DecoderFor(const http::Headers& headers) {
  static const codec::Registry registry = codec::StandardRegistry();
  return {registry, http::ContentCodings(headers), {.size_max = kPageTextBytesMax}};
}

// Without its content codings; nothing when that cannot be had in kPageTextBytesMax.
std::optional<std::string> Decode(std::string_view payload, http::ContentDecoder& decoder) {
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
    http::ContentDecoder decoder = DecoderFor(*headers);
    std::optional<std::string> plain = Decode(payload, decoder);
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

std::uint64_t ContentDigestOf(std::string_view payload, const http::Headers& headers) {
  http::ContentDecoder decoder = DecoderFor(headers);
  if (payload.size() > kPageTextBytesMax || decoder.passes_through()) return 0;
  const std::optional<std::string> content = Decode(payload, decoder);
  if (!content || !decoder.defects().empty()) return 0;
  return std::max<std::uint64_t>(1, ChecksumOf(*content));
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
  if (!page) return headers != nullptr ? ContentDigestOf(payload, *headers) : 0;
  return std::max<std::uint64_t>(1, ChecksumOf(html::NormalisedText(*page)));
}

}  // namespace stele::archive
