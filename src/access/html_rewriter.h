#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "access/url_rewriter.h"
#include "formats/html/tokenizer.h"

namespace stele::access {

// A page with its references leading into the archive, piece by piece; all other bytes as they are.
// Of scripts only what RewriteScript() knows. Not thread-safe. Memory is that of the longest tag,
// style or script element, up to a few MiB; what is longer passes as it is.
class HtmlRewriter final : private html::TokenSink {
 public:
  // `banner` is HTML that is put at the begin of the body, or at the end where there is none.
  // `urls` is borrowed for life. `depth`: so many documents lie around this one, in "srcdoc".
  HtmlRewriter(UrlRewriter& urls, std::string banner, int depth = 0);

  // Appends to `out` what is ready.
  void Feed(std::string_view piece, std::string& out);
  void Finish(std::string& out);

 private:
  void OnStartTag(const html::Tag& tag) override;
  void OnEndTag(const html::Tag& tag) override;
  void OnText(std::string_view text, html::SourceRange at) override;
  void OnComment(std::string_view text, html::SourceRange at) override;
  void OnDoctype(const html::Doctype& doctype) override;

  void Attribute(const html::Tag& tag, const html::Attribute& attribute);
  void Meta(const html::Tag& tag);
  void Reference(const html::Attribute& attribute, std::string_view modifier);
  void Srcset(const html::Attribute& attribute);
  void Style(const html::Attribute& attribute);
  void Script(const html::Attribute& attribute);
  void Srcdoc(const html::Attribute& attribute);
  void EndRaw();
  // Another value, where it is one.
  void SetValue(const html::Attribute& attribute, std::string_view value);

  // Edits come in the order of the source. What lies before a place that was given out is dropped.
  void CopyTo(std::uint64_t offset);
  void Insert(std::uint64_t offset, std::string_view text);
  void Replace(html::SourceRange at, std::string_view text);
  // The bytes of the source there; empty where they are gone.
  std::string_view Source(html::SourceRange at) const;
  // The bytes of a value are those that it means.
  bool IsPlain(const html::Attribute& attribute) const;
  void Flush(std::string& out);

  UrlRewriter& urls_;
  std::string banner_;
  html::Tokenizer tokenizer_;
  std::string pending_;  // source bytes from pending_begin_ on
  std::uint64_t pending_begin_ = 0;
  std::uint64_t copied_ = 0;  // up to here the source is in ready_, or was replaced
  std::uint64_t seen_ = 0;    // up to here tokens are complete
  std::string ready_;
  enum class Raw { kNone, kStyle, kScript };
  Raw raw_ = Raw::kNone;  // inside of such an element
  html::SourceRange raw_at_;
  const int depth_;
};

}  // namespace stele::access
