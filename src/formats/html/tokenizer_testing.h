#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/html/tokenizer.h"

// For tests and fuzzers: tokens that own their strings, and a sink that collects them.
namespace stele::html::testing {

struct RecordedAttribute {
  std::string name, value;
  SourceRange name_at, value_at;

  bool operator==(const RecordedAttribute&) const = default;
};

struct RecordedToken {
  enum class Kind { kStartTag, kEndTag, kText, kComment, kDoctype };

  Kind kind = Kind::kText;
  std::string text;  // or the tag's name
  std::vector<RecordedAttribute> attributes;
  bool self_closing = false;
  std::optional<std::string> name, public_id, system_id;
  bool force_quirks = false;
  SourceRange at;

  bool operator==(const RecordedToken&) const = default;
};

// Joins the pieces of text.
class Recorder final : public TokenSink {
 public:
  void OnStartTag(const Tag& tag) override { AddTag(RecordedToken::Kind::kStartTag, tag); }
  void OnEndTag(const Tag& tag) override { AddTag(RecordedToken::Kind::kEndTag, tag); }

  void OnText(std::string_view text, SourceRange at) override {
    pieces_.emplace_back(text, at);
    if (tokens_.empty() || tokens_.back().kind != RecordedToken::Kind::kText) {
      Add(RecordedToken::Kind::kText, at);
    }
    tokens_.back().text.append(text);
    tokens_.back().at.end = at.end;
  }

  void OnComment(std::string_view text, SourceRange at) override {
    Add(RecordedToken::Kind::kComment, at).text = text;
  }

  void OnDoctype(const Doctype& doctype) override {
    const auto own = [](std::optional<std::string_view> text) {
      return text ? std::optional<std::string>(*text) : std::nullopt;
    };
    RecordedToken& token = Add(RecordedToken::Kind::kDoctype, doctype.at);
    token.name = own(doctype.name);
    token.public_id = own(doctype.public_id);
    token.system_id = own(doctype.system_id);
    token.force_quirks = doctype.force_quirks;
  }

  const std::vector<RecordedToken>& tokens() const { return tokens_; }
  // The text as it came.
  const std::vector<std::pair<std::string, SourceRange>>& pieces() const { return pieces_; }

 private:
  RecordedToken& Add(RecordedToken::Kind kind, SourceRange at) {
    RecordedToken& token = tokens_.emplace_back();
    token.kind = kind;
    token.at = at;
    return token;
  }

  void AddTag(RecordedToken::Kind kind, const Tag& tag) {
    RecordedToken& token = Add(kind, tag.at);
    token.text = tag.name;
    token.self_closing = tag.self_closing;
    for (const Attribute& attribute : tag.attributes) {
      token.attributes.push_back({std::string(attribute.name), std::string(attribute.value),
                                  attribute.name_at, attribute.value_at});
    }
  }

  std::vector<RecordedToken> tokens_;
  std::vector<std::pair<std::string, SourceRange>> pieces_;
};

struct Start {
  TokenizerState state = TokenizerState::kData;
  std::string last_start_tag;
};

// Feeds `pieces` one after the other. Each is copied to memory of its own size first, so that the
// address sanitizer sees every byte read outside of it.
inline Recorder Tokenize(const std::vector<std::string_view>& pieces, const Start& start,
                         Tokenizer::Options options) {
  Recorder recorder;
  Tokenizer tokenizer(recorder, options);
  tokenizer.SetState(start.state, start.last_start_tag);
  for (const std::string_view piece : pieces) {
    const std::vector<char> copy(piece.begin(), piece.end());
    tokenizer.Feed({copy.data(), copy.size()});
  }
  tokenizer.Finish();
  return recorder;
}

}  // namespace stele::html::testing
