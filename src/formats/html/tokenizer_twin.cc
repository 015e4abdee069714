#include "formats/html/tokenizer_twin.h"

#include <algorithm>
#include <string>
#include <utility>

#include "formats/html/character_reference.h"
#include "util/ascii.h"

// Each state of the standard is a function of the same name that takes the next character. Only
// character references are not done again here: they have tests of their own.
namespace stele::html::testing {
namespace {

constexpr int kEof = -1;

bool Space(int c) { return c == '\t' || c == '\n' || c == '\f' || c == ' '; }
bool Alpha(int c) { return c >= 0 && c < 128 && IsAsciiAlpha(static_cast<char>(c)); }
bool EndsName(int c) { return Space(c) || c == '/' || c == '>'; }

void Put(std::string& to, int c) {
  if (c == 0) {
    to += "\xEF\xBF\xBD";
  } else {
    to += static_cast<char>(c);
  }
}

void PutLower(std::string& to, int c) { Put(to, ToAsciiLower(static_cast<char>(c))); }

class Twin {
 public:
  Twin(std::string_view source, const Start& start) : last_start_tag_(start.last_start_tag) {
    for (std::size_t i = 0; i < source.size(); ++i) {
      if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') continue;
      input_ += source[i] == '\r' ? '\n' : source[i];
    }
    static constexpr State kStarts[] = {&Twin::Data,   &Twin::Rcdata,    &Twin::Rawtext,
                                        &Twin::Script, &Twin::Plaintext, &Twin::Cdata};
    state_ = home_ = kStarts[static_cast<std::size_t>(start.state)];
  }

  std::vector<RecordedToken> Run() {
    while (at_ <= input_.size()) {
      const int c = at_ < input_.size() ? static_cast<unsigned char>(input_[at_]) : kEof;
      ++at_;
      (this->*state_)(c);
    }
    return std::move(tokens_);
  }

 private:
  using State = void (Twin::*)(int);
  using Kind = RecordedToken::Kind;

  void To(State state) { state_ = state; }
  void Again(State state) {  // the same character in another state
    state_ = state;
    --at_;
  }
  void Text(std::string_view text) {
    if (tokens_.empty() || tokens_.back().kind != Kind::kText) tokens_.emplace_back();
    tokens_.back().text += text;
  }
  void Text(int c) { Text(std::string(1, static_cast<char>(c))); }
  void TextOrReplaced(int c) {
    std::string text;
    Put(text, c);
    Text(text);
  }
  void TextTo(int c, State state) {
    Text(c);
    To(state);
  }
  void TextAgain(std::string_view text, State state) {
    Text(text);
    Again(state);
  }
  void New(Kind kind) {
    token_ = {};
    token_.kind = kind;
  }
  void Emit() {
    tokens_.push_back(token_);
    To(&Twin::Data);
  }
  void Reference() {
    const std::string_view rest = std::string_view(input_).substr(at_ - 1);
    const ReferenceMatch match = MatchReference(rest, ReferencePlace::kText, true);
    if (match.outcome != ReferenceMatch::Outcome::kDecoded) return Text("&");
    Text(match.text());
    at_ += match.length - 1;
  }
  // Whether `word` begins with the character that was just taken; takes all of it then.
  bool Follows(std::string_view word) {
    const std::size_t from = std::min(at_ - 1, input_.size());
    if (!EqualsIgnoreCase(std::string_view(input_).substr(from, word.size()), word)) return false;
    at_ += word.size() - 1;
    return true;
  }

  // Text.
  void Data(int c) {
    if (c == kEof) return;
    if (c == '&') return Reference();
    if (c == '<') return To(&Twin::TagOpen);
    Text(c);
  }
  void Rcdata(int c) {
    if (c == kEof) return;
    if (c == '&') return Reference();
    if (c == '<') return To(&Twin::RawLessThan);
    TextOrReplaced(c);
  }
  void Rawtext(int c) {
    if (c == kEof) return;
    if (c == '<') return To(&Twin::RawLessThan);
    TextOrReplaced(c);
  }
  void Plaintext(int c) {
    if (c != kEof) TextOrReplaced(c);
  }
  void Cdata(int c) {
    if (c == kEof) return;
    if (c == ']') return To(&Twin::CdataBracket);
    Text(c);
  }
  void CdataBracket(int c) {
    if (c == ']') return To(&Twin::CdataEnd);
    TextAgain("]", &Twin::Cdata);
  }
  void CdataEnd(int c) {
    if (c == ']') return Text("]");
    if (c == '>') return To(&Twin::Data);
    TextAgain("]]", &Twin::Cdata);
  }

  // The end tag of RCDATA, RAWTEXT and script; home_ is the state that it stands in.
  void RawLessThan(int c) {
    if (c == '/') return To(&Twin::RawEndTagOpen);
    TextAgain("<", home_);
  }
  void RawEndTagOpen(int c) {
    if (!Alpha(c)) return TextAgain("</", home_);
    New(Kind::kEndTag);
    buffer_.clear();
    Again(&Twin::RawEndTagName);
  }
  void RawEndTagName(int c) {
    if (EndsName(c) && token_.text == last_start_tag_) return Again(&Twin::TagName);
    if (!Alpha(c)) return TextAgain("</" + buffer_, home_);
    PutLower(token_.text, c);
    buffer_ += static_cast<char>(c);
  }

  // Script.
  void Script(int c) {
    home_ = &Twin::Script;
    if (c == kEof) return;
    if (c == '<') return To(&Twin::ScriptLessThan);
    TextOrReplaced(c);
  }
  void ScriptLessThan(int c) {
    if (c != '!') return Again(&Twin::RawLessThan);
    Text("<!");
    To(&Twin::EscapeStart);
  }
  void EscapeStart(int c) {
    if (c == '-') return TextTo(c, &Twin::EscapeStartDash);
    Again(&Twin::Script);
  }
  void EscapeStartDash(int c) {
    if (c == '-') return TextTo(c, &Twin::EscapedDashDash);
    Again(&Twin::Script);
  }
  void Escaped(int c) {
    if (c == kEof) return;
    if (c == '<') return To(&Twin::EscapedLessThan);
    TextOrReplaced(c);
    To(c == '-' ? &Twin::EscapedDash : &Twin::Escaped);
  }
  void EscapedDash(int c) {
    if (c == '-') return TextTo(c, &Twin::EscapedDashDash);
    Again(&Twin::Escaped);
  }
  void EscapedDashDash(int c) {
    if (c == '-') return Text(c);
    if (c == '>') return TextTo(c, &Twin::Script);
    Again(&Twin::Escaped);
  }
  void EscapedLessThan(int c) {
    home_ = &Twin::Escaped;
    if (!Alpha(c)) return Again(&Twin::RawLessThan);
    buffer_.clear();
    TextAgain("<", &Twin::DoubleEscapeStart);
  }
  void DoubleEscapeStart(int c) { DoubleEscapeName(c, &Twin::DoubleEscaped, &Twin::Escaped); }
  void DoubleEscapeEnd(int c) { DoubleEscapeName(c, &Twin::Escaped, &Twin::DoubleEscaped); }
  void DoubleEscapeName(int c, State if_script, State otherwise) {
    if (EndsName(c)) return TextTo(c, buffer_ == "script" ? if_script : otherwise);
    if (!Alpha(c)) return Again(otherwise);
    PutLower(buffer_, c);
    Text(c);
  }
  void DoubleEscaped(int c) {
    if (c == kEof) return;
    TextOrReplaced(c);
    if (c == '-') return To(&Twin::DoubleEscapedDash);
    To(c == '<' ? &Twin::DoubleEscapedLessThan : &Twin::DoubleEscaped);
  }
  void DoubleEscapedDash(int c) {
    if (c == '-') return TextTo(c, &Twin::DoubleEscapedDashDash);
    Again(&Twin::DoubleEscaped);
  }
  void DoubleEscapedDashDash(int c) {
    if (c == '-') return Text(c);
    if (c == '>') return TextTo(c, &Twin::Script);
    Again(&Twin::DoubleEscaped);
  }
  void DoubleEscapedLessThan(int c) {
    if (c != '/') return Again(&Twin::DoubleEscaped);
    buffer_.clear();
    TextTo(c, &Twin::DoubleEscapeEnd);
  }

  // Tags.
  void TagOpen(int c) {
    if (c == '!') return To(&Twin::MarkupDeclarationOpen);
    if (c == '/') return To(&Twin::EndTagOpen);
    if (c == '?') return StartBogusComment();
    if (!Alpha(c)) return TextAgain("<", &Twin::Data);
    New(Kind::kStartTag);
    Again(&Twin::TagName);
  }
  void EndTagOpen(int c) {
    if (c == '>') return To(&Twin::Data);
    if (c == kEof) return TextAgain("</", &Twin::Data);
    if (!Alpha(c)) return StartBogusComment();
    New(Kind::kEndTag);
    Again(&Twin::TagName);
  }
  void EmitTag() {
    EndAttribute();
    Emit();
  }
  void TagName(int c) {
    if (c == kEof) return;
    if (Space(c)) return To(&Twin::BeforeAttributeName);
    if (c == '/') return To(&Twin::SelfClosing);
    if (c == '>') return EmitTag();
    PutLower(token_.text, c);
  }
  void BeforeAttributeName(int c) {
    if (Space(c)) return;
    if (c == '/' || c == '>' || c == kEof) return Again(&Twin::AfterAttributeName);
    EndAttribute();
    has_attribute_ = true;
    if (c != '=') return Again(&Twin::AttributeName);
    attribute_.name.push_back('=');
    To(&Twin::AttributeName);
  }
  void AttributeName(int c) {
    if (EndsName(c) || c == kEof) return Again(&Twin::AfterAttributeName);
    if (c == '=') return To(&Twin::BeforeAttributeValue);
    PutLower(attribute_.name, c);
  }
  void AfterAttributeName(int c) {
    if (c == kEof || Space(c)) return;
    if (c == '/') return To(&Twin::SelfClosing);
    if (c == '=') return To(&Twin::BeforeAttributeValue);
    if (c == '>') return EmitTag();
    EndAttribute();
    has_attribute_ = true;
    Again(&Twin::AttributeName);
  }
  void BeforeAttributeValue(int c) {
    if (Space(c)) return;
    if (c == '"') return To(&Twin::DoubleQuoted);
    if (c == '\'') return To(&Twin::SingleQuoted);
    if (c == '>') return EmitTag();
    Again(&Twin::Unquoted);
  }
  void DoubleQuoted(int c) {
    if (c == '"') return To(&Twin::AfterQuoted);
    Value(c);
  }
  void SingleQuoted(int c) {
    if (c == '\'') return To(&Twin::AfterQuoted);
    Value(c);
  }
  void Unquoted(int c) {
    if (Space(c)) return To(&Twin::BeforeAttributeName);
    if (c == '>') return EmitTag();
    Value(c);
  }
  void Value(int c) {
    if (c == kEof) return;
    if (c != '&') return Put(attribute_.value, c);
    const std::string_view rest = std::string_view(input_).substr(at_ - 1);
    const ReferenceMatch match = MatchReference(rest, ReferencePlace::kAttribute, true);
    if (match.outcome != ReferenceMatch::Outcome::kDecoded) return Put(attribute_.value, c);
    attribute_.value += match.text();
    at_ += match.length - 1;
  }
  void AfterQuoted(int c) {
    if (c == '/') return To(&Twin::SelfClosing);
    if (c == '>') return EmitTag();
    Again(&Twin::BeforeAttributeName);
  }
  void SelfClosing(int c) {
    if (c != '>') return Again(&Twin::BeforeAttributeName);
    token_.self_closing = true;
    EmitTag();
  }
  void EndAttribute() {
    const bool is_new = std::none_of(token_.attributes.begin(), token_.attributes.end(),
                                     [this](const auto& a) { return a.name == attribute_.name; });
    if (has_attribute_ && is_new) token_.attributes.push_back(attribute_);
    attribute_ = {};
    has_attribute_ = false;
  }

  // Comments.
  void StartBogusComment() {
    New(Kind::kComment);
    Again(&Twin::BogusComment);
  }
  void BogusComment(int c) {
    if (c == '>' || c == kEof) return Emit();
    Put(token_.text, c);
  }
  void MarkupDeclarationOpen(int) {
    if (Follows("--")) {
      New(Kind::kComment);
      return To(&Twin::CommentStart);
    }
    if (!Follows("doctype")) return StartBogusComment();
    New(Kind::kDoctype);
    To(&Twin::DoctypeState);
  }
  void CommentAgain(std::string_view text, State state) {
    token_.text += text;
    Again(state);
  }
  void CommentStart(int c) {
    if (c == '-') return To(&Twin::CommentStartDash);
    if (c == '>') return Emit();
    Again(&Twin::Comment);
  }
  void CommentStartDash(int c) {
    if (c == '-') return To(&Twin::CommentEnd);
    if (c == '>' || c == kEof) return Emit();
    CommentAgain("-", &Twin::Comment);
  }
  void Comment(int c) {
    if (c == kEof) return Emit();
    if (c == '-') return To(&Twin::CommentEndDash);
    Put(token_.text, c);
    if (c == '<') To(&Twin::CommentLessThan);
  }
  void CommentLessThan(int c) {
    if (c != '!' && c != '<') return Again(&Twin::Comment);
    Put(token_.text, c);
    if (c == '!') To(&Twin::CommentLessThanBang);
  }
  void CommentLessThanBang(int c) {
    if (c == '-') return To(&Twin::CommentLessThanBangDash);
    Again(&Twin::Comment);
  }
  void CommentLessThanBangDash(int c) {
    if (c == '-') return To(&Twin::CommentLessThanBangDashDash);
    Again(&Twin::CommentEndDash);
  }
  void CommentLessThanBangDashDash(int) { Again(&Twin::CommentEnd); }
  void CommentEndDash(int c) {
    if (c == '-') return To(&Twin::CommentEnd);
    if (c == kEof) return Emit();
    CommentAgain("-", &Twin::Comment);
  }
  void CommentEnd(int c) {
    if (c == '>' || c == kEof) return Emit();
    if (c == '!') return To(&Twin::CommentEndBang);
    if (c == '-') return Put(token_.text, c);
    CommentAgain("--", &Twin::Comment);
  }
  void CommentEndBang(int c) {
    if (c == '>' || c == kEof) return Emit();
    token_.text += "--!";
    if (c == '-') return To(&Twin::CommentEndDash);
    Again(&Twin::Comment);
  }

  // Doctypes.
  void EmitQuirky() {
    token_.force_quirks = true;
    Emit();
  }
  void QuirkyBogus() {
    token_.force_quirks = true;
    Again(&Twin::BogusDoctype);
  }
  void DoctypeState(int c) {
    if (c == kEof) return EmitQuirky();
    if (Space(c)) return To(&Twin::BeforeDoctypeName);
    Again(&Twin::BeforeDoctypeName);
  }
  void BeforeDoctypeName(int c) {
    if (Space(c)) return;
    if (c == '>' || c == kEof) return EmitQuirky();
    token_.name.emplace();
    Again(&Twin::DoctypeName);
  }
  void DoctypeName(int c) {
    if (c == kEof) return EmitQuirky();
    if (Space(c)) return To(&Twin::AfterDoctypeName);
    if (c == '>') return Emit();
    PutLower(*token_.name, c);
  }
  void AfterDoctypeName(int c) {
    if (Space(c)) return;
    if (c == '>') return Emit();
    if (c == kEof) return EmitQuirky();
    identifier_ = &token_.public_id;
    if (Follows("public")) return To(&Twin::BeforeIdentifier);
    identifier_ = &token_.system_id;
    if (Follows("system")) return To(&Twin::BeforeIdentifier);
    QuirkyBogus();
  }
  // "After DOCTYPE public keyword", "before DOCTYPE public identifier" and both for "system".
  void BeforeIdentifier(int c) {
    if (Space(c)) return;
    if (c == '>' || c == kEof) return EmitQuirky();
    if (c != '"' && c != '\'') return QuirkyBogus();
    StartIdentifier(c);
  }
  void StartIdentifier(int c) {
    quote_ = c;
    identifier_->emplace();
    To(&Twin::Identifier);
  }
  void Identifier(int c) {
    if (c == '>' || c == kEof) return EmitQuirky();
    if (c != quote_) return Put(**identifier_, c);
    const bool is_public = identifier_ == &token_.public_id;
    To(is_public ? &Twin::AfterPublicIdentifier : &Twin::AfterSystemIdentifier);
  }
  void AfterPublicIdentifier(int c) {
    if (Space(c)) return;
    if (c == '>') return Emit();
    if (c == kEof) return EmitQuirky();
    if (c != '"' && c != '\'') return QuirkyBogus();
    identifier_ = &token_.system_id;
    StartIdentifier(c);
  }
  void AfterSystemIdentifier(int c) {
    if (Space(c)) return;
    if (c == '>') return Emit();
    if (c == kEof) return EmitQuirky();
    Again(&Twin::BogusDoctype);
  }
  void BogusDoctype(int c) {
    if (c == '>' || c == kEof) Emit();
  }

  std::string input_;
  std::size_t at_ = 0;
  State state_;
  State home_;
  std::string last_start_tag_;
  std::string buffer_;
  RecordedToken token_;
  RecordedAttribute attribute_;
  bool has_attribute_ = false;
  std::optional<std::string>* identifier_ = nullptr;
  int quote_ = 0;
  std::vector<RecordedToken> tokens_;
};

}  // namespace

std::vector<RecordedToken> TokenizeSlowly(std::string_view source, const Start& start) {
  return Twin(source, start).Run();
}

}  // namespace stele::html::testing
