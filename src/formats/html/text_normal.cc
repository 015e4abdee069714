#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <string>

#include "formats/html/copy_words.h"
#include "formats/html/text.h"
#include "formats/html/utf8.h"
#include "util/check.h"

namespace stele::html {
namespace {

constexpr std::uint8_t kUnseen = kAltText | kDescriptionText;

// Copies the words of texts, with a space behind each.
class WordCopier {
 public:
  explicit WordCopier(std::string& out) : out_(out) {}

  // Text that is already folded.
  void Copy(std::string_view text) {
    const auto size = static_cast<std::int32_t>(text.size());
    std::int32_t at = 0;
    while (at < size) {
      const std::int32_t start = at;
      UChar32 c;
      U8_NEXT(text.data(), at, size, c);
      if (IsWordCharacter(c)) {
        out_.append(
            text.substr(static_cast<std::size_t>(start), static_cast<std::size_t>(at - start)));
      } else {
        Gap();
      }
    }
  }

  // Text of ASCII, folded or not.
  void CopyAscii(std::string_view text) {
    const std::size_t before = out_.size();
    const bool after_space = out_.empty() || out_.back() == ' ';
    out_.resize(before + text.size());
    const char* end = CopyWords(text, after_space, out_.data() + before, FoldAsciiWord());
    out_.resize(static_cast<std::size_t>(end - out_.data()));
  }

  void Gap() {
    if (!out_.empty() && out_.back() != ' ') out_.push_back(' ');
  }
  // No word follows.
  void Finish() {
    if (out_.ends_with(' ')) out_.pop_back();
  }

 private:
  static bool IsWordCharacter(UChar32 c) {
    if (c < 0) return false;
    if (c < 0x80) return FoldAsciiWord()(static_cast<char>(c)) != ' ';
    return (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK)) != 0;
  }

  std::string& out_;
};

std::string Fold(std::string_view text) {
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

bool IsAsciiByte(char c) { return static_cast<unsigned char>(c) < 0x80; }

// Folds and copies. Long stretches of ASCII, most of many a text, are their own fold, but for their
// last character, which what follows may change: an accent that stands by itself.
void CopyFolded(std::string_view text, WordCopier& copier) {
  constexpr std::ptrdiff_t kLong = 16;
  auto from = text.begin();  // all before it is copied
  auto at = from;
  while (at != text.end()) {
    const auto ascii = std::find_if(at, text.end(), IsAsciiByte);
    const auto end = ascii + static_cast<std::ptrdiff_t>(AsciiPrefix({ascii, text.end()}));
    at = end;
    if (end - ascii < kLong && end != text.end()) continue;
    if (from != ascii) copier.Copy(Fold({from, ascii}));
    from = end == text.end() || end == ascii ? end : end - 1;
    copier.CopyAscii({ascii, from});
  }
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
    CopyFolded(text.substr(begin, page.runs[i].end - begin), copier);
  }
  copier.Finish();
  return out;
}

}  // namespace stele::html
