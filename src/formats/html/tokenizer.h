#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

// A streaming HTML tokenizer (WHATWG HTML, "Tokenization") that knows where each token stands in
// the source, for link extraction, text extraction and rewriting in place.
//
// Input is bytes in an encoding that contains ASCII, normally UTF-8; bytes above 127 pass
// untouched. What the tokenizer replaces in the text it hands out, while ranges always speak of the
// source:
//   CR LF and CR    become LF, in text, attribute values, comments and doctype identifiers
//   NUL             becomes U+FFFD (in UTF-8), except in text of kData and kCdataSection, where it
//                   stays NUL: there the standard leaves it to the tree builder, which drops it
//   &name; &#n;     become UTF-8, in text of kData and kRcdata and in attribute values
//   A-Z             become lower case in the names of tags, attributes and doctypes
// Every input is accepted: parse errors of the standard are not reported, only recovered from.
namespace stele::html {

// Byte offsets in the whole input, half open.
struct SourceRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  bool operator==(const SourceRange&) const = default;
};

struct Attribute {
  std::string_view name;   // lower case; of attributes with one name only the first is reported
  std::string_view value;  // character references decoded; empty where there is none
  SourceRange name_at;
  SourceRange value_at;  // without quotes; without a value, the empty range at the name's end
};

struct Tag {
  std::string_view name;                  // lower case
  std::span<const Attribute> attributes;  // in source order; end tags may have them too
  bool self_closing = false;
  SourceRange at;  // from '<' to '>', both included
};

struct Doctype {
  std::optional<std::string_view> name, public_id, system_id;
  bool force_quirks = false;
  SourceRange at;
};

// Receives the tokens in source order. Their ranges never overlap, and bytes between them belong to
// no token: "</>", a tag that the input ends in, the marks around a CDATA section.
// Views are valid during the call only.
class TokenSink {
 public:
  virtual ~TokenSink() = default;
  virtual void OnStartTag(const Tag& tag) = 0;
  virtual void OnEndTag(const Tag& tag) = 0;
  // One run of text may come in several pieces, each either source bytes as they are or what
  // replaces one reference, line end or NUL. The cut between pieces may fall inside a UTF-8
  // character.
  virtual void OnText(std::string_view text, SourceRange at) = 0;
  // Without the marks around it; also "<?...>", "<!...>" and "</ ...>".
  virtual void OnComment(std::string_view text, SourceRange at) = 0;
  virtual void OnDoctype(const Doctype& doctype) = 0;
};

enum class TokenizerState { kData, kRcdata, kRawtext, kScriptData, kPlaintext, kCdataSection };

// Not thread-safe. Borrows the sink, which must outlive the tokenizer and must not call back into
// it. Time is linear in the input, but for sorting the names of a tag with many attributes. Text is
// never collected; memory is that of the longest tag, comment or doctype, cut to token_bytes_max:
// about its size, and fifty times that for a hostile tag of nothing but one-letter attributes.
class Tokenizer {
 public:
  struct Options {
    // Switches by itself to the state that a browser's tree builder would choose after <script>,
    // <style>, <textarea>, <title>, <iframe>, <noembed>, <noframes>, <xmp> and <plaintext>;
    // <noscript> is parsed, as without scripting. Inside <svg> and <math> a self-closing tag does
    // not switch and CDATA sections are text. Off for conformance tests and XML.
    bool switch_states_by_tag = true;
    // A tag, comment or doctype with more source bytes is reported with its whole range but made of
    // its first token_bytes_max bytes only: a tag loses the attributes that end later, its name and
    // a comment's text are cut, a doctype is read as if the input ended there. 16 bytes to 4 GiB
    // - 1.
    std::size_t token_bytes_max = 1 << 20;
    // Tags with these names come with their attributes, all others without; null: all with them.
    // To make them is a good part of the work.
    bool (*has_attributes)(std::string_view tag_name) = nullptr;
  };

  Tokenizer(TokenSink& sink, Options options);
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // Where to start: state and the name, in lower case, of the element whose end tag ends it.
  // Requires: nothing fed yet.
  void SetState(TokenizerState state, std::string_view last_start_tag);

  // The next bytes, cut anywhere: apart from the pieces that text comes in, the tokens do not
  // depend on the cuts. Requires: Finish() not yet called.
  void Feed(std::string_view chunk);

  // The end of the input. Requires: not yet called.
  void Finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stele::html
