#include "formats/html/tokenizer.h"

#include <algorithm>
#include <optional>
#include <string>

#include "formats/html/character_reference.h"
#include "formats/html/tokenizer_markup.h"
#include "formats/html/tokenizer_scan.h"
#include "formats/html/tokenizer_script.h"
#include "formats/html/tokenizer_tag.h"
#include "formats/html/tokenizer_text.h"
#include "formats/html/utf8.h"
#include "util/check.h"

// Text is handed out straight from the chunk. At a byte that may begin something else (a
// "construct": tag, comment, reference, line end ...) a scanner takes over, which only looks for
// the construct's end. If the chunk ends first, the construct's bytes are held in held_ and the
// scanner goes on in the next chunk, so that each byte is looked at once however the input is cut.
// When the end is found, the token is made from bytes that lie together: in the chunk, or in held_
// if it began earlier.
namespace stele::html {
namespace {

// Long enough for every name of a reference and every mark that Classify... knows, the element's
// name of an end tag apart.
constexpr std::size_t kLookaheadBytes = 40;

std::optional<TokenizerState> StateInside(std::string_view element) {
  const auto is_one_of = [element](auto... names) { return ((element == names) || ...); };
  if (element.size() < 3 || element.size() > 9) return std::nullopt;
  if (element == "script") return TokenizerState::kScriptData;
  if (is_one_of("title", "textarea")) return TokenizerState::kRcdata;
  if (is_one_of("style", "iframe", "noembed", "noframes", "xmp")) return TokenizerState::kRawtext;
  if (element == "plaintext") return TokenizerState::kPlaintext;
  return std::nullopt;
}

}  // namespace

class Tokenizer::Impl {
 public:
  Impl(TokenSink& sink, Options options) : sink_(sink), options_(options) {
    Check(options.token_bytes_max >= 16);
    Check(options.token_bytes_max < (std::uint64_t{1} << 32));
  }

  void SetState(TokenizerState state, std::string_view last_start_tag) {
    Check(chunk_offset_ == 0);
    state_ = state;
    element_ = last_start_tag;
  }

  void Feed(std::string_view chunk);
  void Finish();

 private:
  // What the next byte belongs to.
  enum class Inside {
    kText,
    kOpening,  // '<' and bytes that do not yet tell what it opens
    kTag,
    kComment,
    kBogusComment,
    kDoctype,
    kReference,
    kLineEnd,   // CR, after which LF may come
    kBrackets,  // one or two ']' in a CDATA section
  };

  std::uint64_t OffsetOf(const char* p) const {
    return chunk_offset_ + static_cast<std::uint64_t>(p - begin_);
  }

  // Each takes the bytes from p on, as many as it can, and returns where to go on.
  const char* ScanText(const char* p);
  const char* ScanOpening(const char* p);
  const char* ScanTag(const char* p);
  const char* ScanComment(const char* p);
  const char* ScanUntilGreater(const char* p);
  const char* ScanReference(const char* p);
  const char* ScanLineEnd(const char* p);
  const char* ScanBrackets(const char* p);

  const char* FindTextEnd(const char* p);
  const char* FindScriptTextEnd(const char* p);
  Opening Classify(std::string_view source);
  const char* Open(Opening opening, const char* p);

  void EmitText(const char* p, const char* end) {
    sink_.OnText({p, static_cast<std::size_t>(end - p)}, {OffsetOf(p), OffsetOf(end)});
  }
  void EmitTag(const char* end);
  void EmitComment(std::size_t text_at, std::size_t mark_bytes, const char* end);
  void EmitDoctype(bool is_closed, const char* end);
  void SwitchState(const Tag& tag);

  // A construct begins at p.
  const char* Begin(Inside inside, const char* p) {
    inside_ = inside;
    construct_begin_ = OffsetOf(p);
    here_ = p;
    return p;
  }
  void End() {
    inside_ = Inside::kText;
    held_.clear();
  }
  void Hold(const char* end);
  void HoldReference(const char* end);
  std::string_view ConstructBytes(const char* end);
  // Calls function with the construct's bytes so far and what follows them.
  template <typename Function>
  auto WithLookahead(std::size_t lookahead_bytes, Function function) {
    const auto bytes = static_cast<std::size_t>(end_ - here_);
    if (held_.empty()) return function(std::string_view(here_, bytes));
    const std::size_t held_bytes = held_.size();
    held_.append(here_, std::min(bytes, lookahead_bytes));
    const auto result = function(std::string_view(held_));
    held_.resize(held_bytes);
    return result;
  }
  const char* EndAsText(const char* end);

  TokenSink& sink_;
  const Options options_;
  TokenizerState state_ = TokenizerState::kData;
  Inside inside_ = Inside::kText;
  std::string element_;              // whose end tag ends kRcdata, kRawtext and kScriptData
  std::uint32_t foreign_depth_ = 0;  // of <svg> and <math>

  const char* begin_ = nullptr;  // the chunk
  const char* end_ = nullptr;
  std::uint64_t chunk_offset_ = 0;
  bool is_finished_ = false;

  std::uint64_t construct_begin_ = 0;
  const char* here_ = nullptr;  // where the construct's bytes begin in this chunk
  std::string held_;            // its bytes of earlier chunks, at most token_bytes_max

  TagScanner tag_;
  bool is_end_tag_ = false;
  CommentScanner comment_;
  ScriptEscapes script_;
  DoctypeStorage doctype_storage_;
  std::string comment_storage_;
};

void Tokenizer::Impl::Feed(std::string_view chunk) {
  Check(!is_finished_);
  begin_ = chunk.data();
  end_ = begin_ + chunk.size();
  here_ = begin_;
  const char* p = begin_;
  while (p != end_) {
    switch (inside_) {
      case Inside::kText:
        p = ScanText(p);
        break;
      case Inside::kOpening:
        p = ScanOpening(p);
        break;
      case Inside::kTag:
        p = ScanTag(p);
        break;
      case Inside::kComment:
        p = ScanComment(p);
        break;
      case Inside::kBogusComment:
      case Inside::kDoctype:
        p = ScanUntilGreater(p);
        break;
      case Inside::kReference:
        p = ScanReference(p);
        break;
      case Inside::kLineEnd:
        p = ScanLineEnd(p);
        break;
      case Inside::kBrackets:
        p = ScanBrackets(p);
        break;
    }
  }
  if (inside_ != Inside::kText) Hold(end_);
  chunk_offset_ += chunk.size();
  begin_ = end_ = here_ = nullptr;
}

void Tokenizer::Impl::Finish() {
  Check(!is_finished_);
  is_finished_ = true;
  switch (inside_) {
    case Inside::kText:
    case Inside::kTag:
      break;
    case Inside::kOpening:
      if (state_ == TokenizerState::kData && held_.starts_with("<!")) {
        EmitComment(2, 0, end_);
      } else {
        EndAsText(end_);
      }
      break;
    case Inside::kComment:
      EmitComment(4, comment_.mark_bytes(), end_);
      break;
    case Inside::kBogusComment:
      EmitComment(BogusCommentTextAt(held_), 0, end_);
      break;
    case Inside::kDoctype:
      EmitDoctype(false, end_);
      break;
    case Inside::kLineEnd:
      sink_.OnText("\n", {construct_begin_, chunk_offset_});
      break;
    case Inside::kReference:
      ScanReference(end_);
      break;
    case Inside::kBrackets:
      EndAsText(end_);
      break;
  }
  End();
}

// --- Text
// -------------------------------------------------------------------------------------------

const char* Tokenizer::Impl::FindTextEnd(const char* p) {
  switch (state_) {
    case TokenizerState::kData:
      return FindFirstOf<'<', '&', '\r'>(p, end_);
    case TokenizerState::kRcdata:
      return FindFirstOf<'<', '&', '\r', '\0'>(p, end_);
    case TokenizerState::kRawtext:
      return FindFirstOf<'<', '\r', '\0'>(p, end_);
    case TokenizerState::kScriptData:
      return FindScriptTextEnd(p);
    case TokenizerState::kPlaintext:
      return FindFirstOf<'\r', '\0'>(p, end_);
    case TokenizerState::kCdataSection:
      return FindFirstOf<']', '\r'>(p, end_);
  }
  return end_;
}

const char* Tokenizer::Impl::FindScriptTextEnd(const char* p) {
  while (script_.watches_dashes()) {
    p = script_.PassDashes(p, end_);
    if (!script_.watches_dashes()) break;
    p = FindFirstOf<'<', '-', '\r', '\0'>(p, end_);
    if (p == end_ || *p != '-') return p;
  }
  return FindFirstOf<'<', '\r', '\0'>(p, end_);
}

const char* Tokenizer::Impl::ScanText(const char* p) {
  const char* stop = FindTextEnd(p);
  if (stop != p) EmitText(p, stop);
  if (stop == end_) return end_;
  switch (*stop) {
    case '<':
      return ScanOpening(Begin(Inside::kOpening, stop));
    case '&':
      return ScanReference(Begin(Inside::kReference, stop));
    case '\r':
      Begin(Inside::kLineEnd, stop);
      return ScanLineEnd(stop + 1);
    case ']':
      return ScanBrackets(Begin(Inside::kBrackets, stop));
    default:
      Check(*stop == '\0');
      sink_.OnText(kReplacementUtf8, {OffsetOf(stop), OffsetOf(stop + 1)});
      return stop + 1;
  }
}

// Requires: p is behind a CR.
const char* Tokenizer::Impl::ScanLineEnd(const char* p) {
  if (p == end_) return end_;
  if (*p == '\n') ++p;
  sink_.OnText("\n", {construct_begin_, OffsetOf(p)});
  End();
  return p;
}

const char* Tokenizer::Impl::ScanReference(const char*) {
  const auto match_here = [this](std::string_view source) {
    return MatchReference(source, ReferencePlace::kText, is_finished_);
  };
  ReferenceMatch match = WithLookahead(kLookaheadBytes, match_here);
  while (match.outcome == ReferenceMatch::Outcome::kMore) {
    // Either the chunk ends here, or a number has more digits than were looked at.
    const auto bytes = static_cast<std::size_t>(end_ - here_);
    if (held_.empty() || bytes <= kLookaheadBytes) return end_;
    HoldReference(here_ + kLookaheadBytes);
    here_ += kLookaheadBytes;
    match = WithLookahead(kLookaheadBytes, match_here);
  }
  const std::size_t held_bytes = held_.size();
  if (match.outcome == ReferenceMatch::Outcome::kNone) {
    return EndAsText(held_bytes == 0 ? here_ + 1 : here_);
  }
  // A name may turn out to have ended in an earlier chunk ("&notit;"): letters are left over.
  const std::size_t used_here = match.length > held_bytes ? match.length - held_bytes : 0;
  const std::size_t left_over = match.length < held_bytes ? held_bytes - match.length : 0;
  const std::uint64_t end = OffsetOf(here_ + used_here) - left_over;
  sink_.OnText(match.text(), {construct_begin_, end});
  if (left_over > 0) {
    sink_.OnText(std::string_view(held_).substr(match.length), {end, end + left_over});
  }
  End();
  return here_ + used_here;
}

// "]]>" ends a CDATA section; of more brackets the last two belong to it.
const char* Tokenizer::Impl::ScanBrackets(const char* p) {
  const char* stop = p;
  while (stop != end_ && *stop == ']') ++stop;
  const std::size_t brackets = held_.size() + static_cast<std::size_t>(stop - here_);
  const bool is_open = stop == end_;
  const bool is_mark = !is_open && *stop == '>' && brackets >= 2;
  const std::size_t kept = is_open ? std::min<std::size_t>(brackets, 2) : (is_mark ? 2 : 0);
  const std::size_t text = brackets - kept;
  const std::size_t text_held = std::min(text, held_.size());
  if (text_held > 0) {
    sink_.OnText(std::string_view(held_).substr(0, text_held),
                 {construct_begin_, construct_begin_ + text_held});
    held_.erase(0, text_held);
  }
  if (text > text_held) EmitText(here_, here_ + (text - text_held));
  here_ += text - text_held;
  construct_begin_ += text;
  if (is_open) return end_;
  End();
  if (!is_mark) return stop;
  state_ = TokenizerState::kData;
  return stop + 1;
}

// --- Markup
// -----------------------------------------------------------------------------------------

Opening Tokenizer::Impl::Classify(std::string_view source) {
  switch (state_) {
    case TokenizerState::kData:
      return ClassifyMarkup(source, foreign_depth_ > 0);
    case TokenizerState::kScriptData:
      return script_.Classify(source, element_);
    default:
      return ClassifyEndTag(source, element_);
  }
}

const char* Tokenizer::Impl::ScanOpening(const char*) {
  const Opening opening =
      WithLookahead(kLookaheadBytes + element_.size(),
                    [this](std::string_view source) { return Classify(source); });
  if (opening.kind == Opening::Kind::kMore) return end_;
  return Open(opening, here_ + (opening.length - held_.size()));
}

// Requires: p is behind what the decision covers.
const char* Tokenizer::Impl::Open(Opening opening, const char* p) {
  const bool is_data = state_ == TokenizerState::kData;
  switch (opening.kind) {
    case Opening::Kind::kText:
      return EndAsText(p);
    case Opening::Kind::kStartTag:
    case Opening::Kind::kEndTag:
      is_end_tag_ = opening.kind == Opening::Kind::kEndTag;
      inside_ = Inside::kTag;
      tag_.Start(is_end_tag_ ? 2 : 1, !is_data, options_.token_bytes_max);
      return ScanTag(p);
    case Opening::Kind::kComment:
      inside_ = Inside::kComment;
      comment_.Start();
      return ScanComment(p);
    case Opening::Kind::kBogusComment:
      inside_ = Inside::kBogusComment;
      return ScanUntilGreater(p);
    case Opening::Kind::kDoctype:
      inside_ = Inside::kDoctype;
      return ScanUntilGreater(p);
    case Opening::Kind::kCdata:
      state_ = TokenizerState::kCdataSection;
      End();
      return p;
    case Opening::Kind::kNothing:
    case Opening::Kind::kMore:
      End();
      return p;
  }
  return p;
}

const char* Tokenizer::Impl::ScanTag(const char* p) {
  const char* stop = tag_.Scan(p, end_, OffsetOf(p) - construct_begin_);
  if (stop == nullptr) return end_;
  EmitTag(stop);
  return stop;
}

const char* Tokenizer::Impl::ScanComment(const char* p) {
  const char* stop = comment_.Scan(p, end_);
  if (stop == nullptr) return end_;
  EmitComment(4, comment_.mark_bytes(), stop);
  return stop;
}

// A bogus comment or a doctype.
const char* Tokenizer::Impl::ScanUntilGreater(const char* p) {
  const char* greater = FindFirstOf<'>'>(p, end_);
  if (greater == end_) return end_;
  if (inside_ == Inside::kDoctype) {
    EmitDoctype(true, greater + 1);
  } else {
    EmitComment(BogusCommentTextAt(ConstructBytes(greater + 1)), 1, greater + 1);
  }
  return greater + 1;
}

void Tokenizer::Impl::EmitTag(const char* end) {
  const Tag tag =
      tag_.Make(ConstructBytes(end), {construct_begin_, OffsetOf(end)}, options_.has_attributes);
  if (is_end_tag_) {
    sink_.OnEndTag(tag);
    state_ = TokenizerState::kData;
  } else {
    sink_.OnStartTag(tag);
  }
  if (options_.switch_states_by_tag) SwitchState(tag);
  End();
}

void Tokenizer::Impl::SwitchState(const Tag& tag) {
  const bool is_foreign = tag.name == "svg" || tag.name == "math";
  if (is_end_tag_) {
    if (is_foreign && foreign_depth_ > 0) --foreign_depth_;
    return;
  }
  if (tag.self_closing && (is_foreign || foreign_depth_ > 0)) return;
  if (is_foreign) {
    ++foreign_depth_;
  } else if (const std::optional<TokenizerState> state = StateInside(tag.name)) {
    state_ = *state;
    element_ = tag.name;
    script_.Start();
  }
}

// `text_at` is where the text begins, `mark_bytes` how many bytes before `end` close it.
void Tokenizer::Impl::EmitComment(std::size_t text_at, std::size_t mark_bytes, const char* end) {
  const SourceRange at{construct_begin_, OffsetOf(end)};
  const std::string_view bytes = ConstructBytes(end);
  const std::uint64_t text_end =
      std::min<std::uint64_t>(at.end - at.begin - mark_bytes, bytes.size());
  const std::string_view text =
      text_at < text_end ? bytes.substr(text_at, text_end - text_at) : std::string_view();
  sink_.OnComment(TextOf(text, comment_storage_), at);
  End();
}

void Tokenizer::Impl::EmitDoctype(bool is_closed, const char* end) {
  constexpr std::size_t kMarkBytes = std::string_view("<!DOCTYPE").size();
  const SourceRange at{construct_begin_, OffsetOf(end)};
  std::string_view bytes = ConstructBytes(end);
  const bool is_whole = is_closed && bytes.size() == at.end - at.begin;
  if (is_whole) bytes.remove_suffix(1);
  bytes.remove_prefix(std::min(kMarkBytes, bytes.size()));
  Doctype doctype = ParseDoctype(bytes, is_whole, doctype_storage_);
  doctype.at = at;
  sink_.OnDoctype(doctype);
  End();
}

// --- Constructs across chunks
// -----------------------------------------------------------------------

// Keeps the construct's bytes up to `end`, of a token not more than token_bytes_max.
void Tokenizer::Impl::Hold(const char* end) {
  auto bytes = static_cast<std::size_t>(end - here_);
  switch (inside_) {
    case Inside::kReference:
      HoldReference(end);
      return;
    case Inside::kTag:
    case Inside::kComment:
    case Inside::kBogusComment:
    case Inside::kDoctype:
      // An end tag's name may have been held before the limit counted.
      bytes = std::min(bytes,
                       options_.token_bytes_max - std::min(held_.size(), options_.token_bytes_max));
      break;
    default:
      break;
  }
  held_.append(here_, bytes);
}

// The digits of a number have no end that one could wait for, so they are held as their value.
void Tokenizer::Impl::HoldReference(const char* end) {
  for (const char* p = here_; p != end;) {
    const auto bytes = std::min<std::size_t>(static_cast<std::size_t>(end - p), kLookaheadBytes);
    held_.append(p, bytes);
    p += bytes;
    if (held_.size() > kLookaheadBytes) ShortenNumericReference(held_);
  }
}

// The bytes of the construct that ends at `end`, at most token_bytes_max of them.
std::string_view Tokenizer::Impl::ConstructBytes(const char* end) {
  if (held_.empty()) {
    return {here_, std::min(static_cast<std::size_t>(end - here_), options_.token_bytes_max)};
  }
  Hold(end);
  here_ = end;
  return std::string_view(held_).substr(0, options_.token_bytes_max);
}

// The construct was only text, up to `end`.
const char* Tokenizer::Impl::EndAsText(const char* end) {
  if (!held_.empty()) {
    sink_.OnText(held_, {construct_begin_, construct_begin_ + held_.size()});
  }
  if (end != here_) EmitText(here_, end);
  End();
  return end;
}

Tokenizer::Tokenizer(TokenSink& sink, Options options)
    : impl_(std::make_unique<Impl>(sink, options)) {}

Tokenizer::~Tokenizer() = default;

void Tokenizer::SetState(TokenizerState state, std::string_view last_start_tag) {
  impl_->SetState(state, last_start_tag);
}

void Tokenizer::Feed(std::string_view chunk) { impl_->Feed(chunk); }

void Tokenizer::Finish() { impl_->Finish(); }

}  // namespace stele::html
