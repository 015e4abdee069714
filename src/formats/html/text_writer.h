#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "codec/buffer.h"
#include "formats/html/copy_words.h"
#include "formats/html/text.h"
#include "util/ascii.h"

namespace stele::html {

// Puts a PageText together: separators, runs, the limit. White space and the borders of blocks only
// note what is due, and the next visible byte pays it; that collapses white space across pieces and
// leaves none at the ends. Borrows `page`, whose text is there after Finish().
class TextWriter {
 public:
  // `has_nulls`: pieces may have null characters, which are left out.
  TextWriter(PageText& page, const TextLimits& limits, bool has_nulls)
      : page_(page), text_max_(std::min(limits.text_bytes_max, kTextMax)), has_nulls_(has_nulls) {}

  void Space() { due_ = std::max(due_, Due::kSpace); }
  void Line() { due_ = Due::kLine; }
  void SetKind(TextKind kind, bool on) {
    kinds_ = static_cast<std::uint8_t>(on ? kinds_ | kind : kinds_ & ~kind);
  }
  bool full() const { return page_.truncated; }
  std::string_view text() const { return text_.view(); }
  // Where the next visible byte will stand.
  std::uint32_t Next() const {
    const bool separated = due_ != Due::kNothing && text_.size() > 0;
    return static_cast<std::uint32_t>(text_.size() + (separated ? 1 : 0));
  }

  void Write(std::string_view text) {
    if (has_nulls_ || full() || text_.size() + text.size() + 1 > text_max_) return WriteWords(text);
    std::size_t begin = 0;
    while (begin < text.size() && IsAsciiSpace(text[begin])) ++begin;
    if (begin > 0) Space();
    if (begin == text.size()) return;
    Separate(text.size());
    char* end = CopyWords(text.substr(begin), /*after_space=*/false, text_.data() + text_.size(),
                          FoldSpace());
    const bool ends_in_space = end[-1] == ' ';
    if (ends_in_space) Space();
    text_.SetSize(static_cast<std::size_t>(end - text_.data()) - (ends_in_space ? 1 : 0));
  }

  // Requires: not yet called, and nothing is written afterwards.
  void Finish() {
    EndRun();
    page_.text = text_.view();
  }

 private:
  enum class Due : std::uint8_t { kNothing, kSpace, kLine };
  static constexpr std::size_t kTextMax = 1 << 30;

  // The same, word by word, up to the limit.
  void WriteWords(std::string_view text) {
    const auto ends_word = [](char c) { return IsAsciiSpace(c) || c == '\0'; };
    std::size_t at = 0;
    while (at < text.size() && !full()) {
      if (ends_word(text[at])) {
        if (text[at] != '\0') Space();
        ++at;
        continue;
      }
      std::size_t end = at + 1;
      while (end < text.size() && !ends_word(text[end])) ++end;
      Word(text.substr(at, end - at));
      at = end;
    }
  }

  void Word(std::string_view word) {
    if (text_.size() + word.size() + 1 > text_max_) {
      page_.truncated = true;
      TrimBrokenEnd();
      return;
    }
    Separate(word.size());
    text_.Append(word);
  }

  // Writes what is due between the last word and the next, which begins here, and makes room for
  // `bytes` more.
  void Separate(std::size_t bytes) {
    const std::size_t wanted = text_.size() + 1 + bytes;
    if (wanted > text_.capacity()) text_.Reserve(std::max(wanted, 2 * text_.capacity()));
    const Due due = std::exchange(due_, Due::kNothing);
    if (due != Due::kNothing && text_.size() > 0) text_.Append(due == Due::kLine ? "\n" : " ");
    if (!page_.runs.empty() && page_.runs.back().kinds == kinds_) return;
    EndRun();
    const auto begin = static_cast<std::uint32_t>(text_.size());
    page_.runs.push_back({begin, begin, kinds_});
  }

  void EndRun() {
    if (!page_.runs.empty()) page_.runs.back().end = static_cast<std::uint32_t>(text_.size());
  }

  // Pieces may be cut inside a character of several bytes.
  void TrimBrokenEnd() {
    const std::string_view text = text_.view();
    std::size_t trailing = 0;
    while (text.size() > trailing && trailing < 3 &&
           (text[text.size() - 1 - trailing] & 0xC0) == 0x80) {
      ++trailing;
    }
    if (text.size() == trailing) return;
    const auto lead = static_cast<std::uint8_t>(text[text.size() - 1 - trailing]);
    const std::size_t needs = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
    if (needs == trailing || lead < 0x80) return;
    text_.SetSize(text.size() - 1 - trailing);
    while (!page_.runs.empty() && page_.runs.back().begin >= text_.size()) page_.runs.pop_back();
  }

  PageText& page_;
  const std::size_t text_max_;
  const bool has_nulls_;
  codec::Buffer text_;
  std::uint8_t kinds_ = kBodyText;
  Due due_ = Due::kNothing;
};

}  // namespace stele::html
