#include "formats/http/defects.h"

#include <iterator>

namespace stele::http {
namespace {

constexpr std::string_view kNames[] = {
    "leading-empty-lines", "leading-junk",       "odd-version",           "bad-status",
    "no-reason",           "bare-line-feed",     "folded-line",           "space-before-colon",
    "line-without-colon",  "bad-field-name",     "control-character",     "eight-bit",
    "head-unterminated",   "length-and-chunked", "length-repeated",       "lengths-differ",
    "length-invalid",      "chunked-not-last",   "other-transfer-coding", "short-body",
    "not-chunked",         "bad-chunk-size",     "space-in-chunk-size",   "chunk-line-feed",
    "missing-chunk-end",   "no-final-chunk",     "no-final-line",         "bad-trailer",
    "unknown-coding",      "too-many-codings",   "wrong-coding",          "corrupt-content",
    "trailing-content",    "short-content",      "content-too-large"};
static_assert(std::size(kNames) == kDefectCount && kDefectCount <= 64);

}  // namespace

std::string_view NameOf(Defect defect) { return kNames[static_cast<int>(defect)]; }

std::string Defects::ToText() const {
  std::string text;
  for (int i = 0; i < kDefectCount; ++i) {
    if (!Has(static_cast<Defect>(i))) continue;
    if (!text.empty()) text += ',';
    text += kNames[i];
  }
  return text;
}

}  // namespace stele::http
