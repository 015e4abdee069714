#include "formats/html/charset.h"

#include <uchardet/uchardet.h>
#include <unicode/ucsdet.h>

#include <memory>
#include <string>

#include "formats/html/utf8.h"
#include "util/ascii.h"

namespace stele::html {
namespace {

constexpr std::size_t kDetectionWindow = 64 << 10;
constexpr std::size_t kSampleMax = 16 << 10;
constexpr std::size_t kIcuSampleMax = 4 << 10;  // its models are thorough and slow
constexpr int kIcuConfidenceMin = 30;  // of 100; below it ICU's own guesses are mostly noise

std::optional<EncodingChoice> FromByteOrderMark(std::string_view content) {
  if (content.starts_with("\xEF\xBB\xBF")) {
    return EncodingChoice{Encoding::kUtf8, EncodingSource::kByteOrderMark, 3};
  }
  if (content.starts_with("\xFE\xFF")) {
    return EncodingChoice{Encoding::kUtf16Be, EncodingSource::kByteOrderMark, 2};
  }
  if (content.starts_with("\xFF\xFE")) {
    return EncodingChoice{Encoding::kUtf16Le, EncodingSource::kByteOrderMark, 2};
  }
  return std::nullopt;
}

// <?xml ... encoding="x" ...?>; a document that is itself UTF-16 shows it by its zero bytes.
std::optional<Encoding> FromXmlDeclaration(std::string_view content) {
  if (content.starts_with(std::string_view("<\0?\0x\0", 6))) return Encoding::kUtf16Le;
  if (content.starts_with(std::string_view("\0<\0?\0x", 6))) return Encoding::kUtf16Be;
  if (!content.starts_with("<?xml")) return std::nullopt;
  const std::string_view head = content.substr(0, kPrescanSize);
  const std::string_view declaration = head.substr(0, head.find('>'));
  std::size_t at = declaration.find("encoding");
  if (at == std::string_view::npos) return std::nullopt;
  at += 8;
  while (at < declaration.size() && IsAsciiSpace(declaration[at])) ++at;
  if (at >= declaration.size() || declaration[at] != '=') return std::nullopt;
  ++at;
  while (at < declaration.size() && IsAsciiSpace(declaration[at])) ++at;
  if (at >= declaration.size()) return std::nullopt;
  const char quote = declaration[at];
  if (quote != '"' && quote != '\'') return std::nullopt;
  const std::size_t end = declaration.find(quote, at + 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::optional<Encoding> named = EncodingForLabel(declaration.substr(at + 1, end - at - 1));
  // The declaration was readable as ASCII, so it cannot be in UTF-16.
  if (named == Encoding::kUtf16Be || named == Encoding::kUtf16Le) return Encoding::kUtf8;
  return named;
}

// CSS: the file begins with exactly @charset "x";
std::optional<Encoding> FromCssCharset(std::string_view content) {
  constexpr std::string_view kRule = "@charset \"";
  if (!content.starts_with(kRule)) return std::nullopt;
  const std::string_view rest = content.substr(kRule.size(), kPrescanSize - kRule.size());
  const std::size_t end = rest.find("\";");
  if (end == std::string_view::npos) return std::nullopt;
  const std::optional<Encoding> named = EncodingForLabel(rest.substr(0, end));
  if (named == Encoding::kUtf16Be || named == Encoding::kUtf16Le) return Encoding::kUtf8;
  return named;
}

// Text without its tags, from the first byte above 127 on: what a statistical guess needs.
std::string DetectionSample(std::string_view content) {
  std::string sample;
  std::size_t at = AsciiPrefix(content);
  at = at > 256 ? at - 256 : 0;
  const std::string_view window = content.substr(at, kDetectionWindow);
  sample.reserve(kSampleMax);
  bool in_tag = false;
  for (const char c : window) {
    if (sample.size() >= kSampleMax) break;
    if (c == '<') in_tag = true;
    if (!in_tag) sample.push_back(c);
    if (c == '>') in_tag = false;
  }
  // Some documents are all tags to this eye; then the tags have to do.
  if (IsAscii(sample)) sample.assign(window.substr(0, kSampleMax));
  return sample;
}

std::optional<Encoding> AskUchardet(std::string_view sample) {
  const std::unique_ptr<struct uchardet, void (*)(uchardet_t)> detector(uchardet_new(),
                                                                        uchardet_delete);
  if (!detector || uchardet_handle_data(detector.get(), sample.data(), sample.size()) != 0) {
    return std::nullopt;
  }
  uchardet_data_end(detector.get());
  return EncodingForLabel(uchardet_get_charset(detector.get()));
}

std::optional<Encoding> AskIcu(std::string_view sample) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UCharsetDetector, void (*)(UCharsetDetector*)> detector(
      ucsdet_open(&status), ucsdet_close);
  if (U_FAILURE(status)) return std::nullopt;
  ucsdet_setText(detector.get(), sample.data(), static_cast<std::int32_t>(sample.size()), &status);
  const UCharsetMatch* match = ucsdet_detect(detector.get(), &status);
  if (U_FAILURE(status) || match == nullptr) return std::nullopt;
  if (ucsdet_getConfidence(match, &status) < kIcuConfidenceMin) return std::nullopt;
  const char* name = ucsdet_getName(match, &status);
  if (U_FAILURE(status) || name == nullptr) return std::nullopt;
  return EncodingForLabel(name);
}

// uchardet's models for multi-byte encodings and for scripts of their own are good; its many
// models for Latin alphabets outvote each other on short texts.
bool TrustsUchardet(Encoding encoding) {
  switch (encoding) {
    case Encoding::kWindows1251:
    case Encoding::kKoi8R:
    case Encoding::kIso8859_5:
    case Encoding::kIso8859_7:
    case Encoding::kWindows1253:
    case Encoding::kWindows1255:
    case Encoding::kWindows874:
      return true;
    default:
      return !IsSingleByte(encoding);
  }
}

// UTF-16 without a mark: mostly ASCII, so that every second byte is zero.
std::optional<Encoding> LooksLikeUtf16(std::string_view content) {
  const std::string_view head = content.substr(0, kPrescanSize);
  std::size_t zeros[2] = {0, 0};
  for (std::size_t i = 0; i < head.size(); ++i) zeros[i & 1] += head[i] == '\0' ? 1 : 0;
  const std::size_t half = head.size() / 2;
  if (half < 2) return std::nullopt;
  if (zeros[1] * 10 > half * 7 && zeros[0] * 10 < half) return Encoding::kUtf16Le;
  if (zeros[0] * 10 > half * 7 && zeros[1] * 10 < half) return Encoding::kUtf16Be;
  return std::nullopt;
}

// The window may cut the last character in two.
bool LooksLikeUtf8(std::string_view window) {
  const std::size_t valid = ValidUtf8Prefix(window);
  return valid == window.size() || MeasureBrokenUtf8(window.substr(valid)).unfinished;
}

}  // namespace

std::optional<EncodingChoice> DeclaredEncoding(std::string_view content, std::string_view charset) {
  if (std::optional<EncodingChoice> marked = FromByteOrderMark(content)) return marked;
  if (const std::optional<Encoding> named = EncodingForLabel(charset)) {
    return EncodingChoice{*named, EncodingSource::kHttpHeader, 0};
  }
  std::optional<Encoding> own = FromCssCharset(content);
  if (!own) own = PrescanMeta(content);
  if (!own) own = FromXmlDeclaration(content);
  if (own) return EncodingChoice{*own, EncodingSource::kDocument, 0};
  return std::nullopt;
}

EncodingChoice DetectEncoding(std::string_view content) {
  if (const std::optional<Encoding> wide = LooksLikeUtf16(content)) {
    return {*wide, EncodingSource::kDetected, 0};
  }
  const std::size_t ascii = AsciiPrefix(content);
  const bool escapes = content.substr(0, kDetectionWindow).find("\x1B$") != std::string_view::npos;
  if (ascii == content.size() && !escapes) return {};
  if (ascii < content.size() && LooksLikeUtf8(content.substr(ascii, kDetectionWindow))) {
    return {Encoding::kUtf8, EncodingSource::kDetected, 0};
  }
  const std::string sample =
      escapes ? std::string(content.substr(0, kDetectionWindow)) : DetectionSample(content);
  std::optional<Encoding> found = AskUchardet(sample);
  if (!found || !TrustsUchardet(*found)) {
    const std::optional<Encoding> second =
        AskIcu(std::string_view(sample).substr(0, kIcuSampleMax));
    if (second) found = second;
  }
  // UTF-8 was ruled out above, and nothing decodes to less than the replacement encoding.
  if (!found || *found == Encoding::kUtf8 || *found == Encoding::kReplacement) return {};
  return {*found, EncodingSource::kDetected, 0};
}

EncodingChoice ChooseEncoding(std::string_view content, std::string_view charset) {
  const std::optional<EncodingChoice> declared = DeclaredEncoding(content, charset);
  return declared ? *declared : DetectEncoding(content);
}

}  // namespace stele::html
