#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <string>

#include "formats/html/text.h"
#include "formats/html/utf8.h"
#include "util/ascii.h"
#include "util/check.h"

namespace stele::html {
namespace {

constexpr std::uint8_t kUnseen = kAltText | kDescriptionText;

// Copies the words of text that is already folded.
class WordCopier {
 public:
  explicit WordCopier(std::string& out) : out_(out) {}

  void Copy(std::string_view text) {
    const auto size = static_cast<std::int32_t>(text.size());
    std::int32_t at = 0;
    while (at < size) {
      const std::int32_t start = at;
      UChar32 c;
      U8_NEXT(text.data(), at, size, c);
      if (!IsWordCharacter(c)) {
        gap_ = true;
        continue;
      }
      if (gap_ && !out_.empty()) out_.push_back(' ');
      gap_ = false;
      out_.append(
          text.substr(static_cast<std::size_t>(start), static_cast<std::size_t>(at - start)));
    }
  }

  void Gap() { gap_ = true; }

 private:
  static bool IsWordCharacter(UChar32 c) {
    if (c < 0) return false;
    if (c < 0x80) return IsAsciiAlnum(static_cast<char>(c));
    return (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK)) != 0;
  }

  std::string& out_;
  bool gap_ = false;
};

std::string Fold(std::string_view text) {
  if (IsAscii(text)) return AsciiLower(text);
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = icu::Normalizer2::getNFKCCasefoldInstance(status);
  Check(U_SUCCESS(status));  // part of ICU's own data
  std::string folded;
  folded.reserve(text.size());
  icu::StringByteSink<std::string> sink(&folded);
  normalizer->normalizeUTF8(0,
                            icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())),
                            sink, nullptr, status);
  Check(U_SUCCESS(status));
  return folded;
}

}  // namespace

std::string NormalisedText(const PageText& page) {
  std::string out;
  out.reserve(page.text.size());
  WordCopier copier(out);
  const std::string_view text = page.text;
  for (std::size_t i = 0; i < page.runs.size(); ++i) {
    if ((page.runs[i].kinds & kUnseen) != 0) {
      copier.Gap();
      continue;
    }
    // Runs that touch are folded together: a word may be half inside a link.
    const std::uint32_t begin = page.runs[i].begin;
    while (i + 1 < page.runs.size() && (page.runs[i + 1].kinds & kUnseen) == 0) ++i;
    copier.Copy(Fold(text.substr(begin, page.runs[i].end - begin)));
  }
  return out;
}

}  // namespace stele::html
