#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace stele::sitemap {

// "media:content" is "content": documents choose their prefixes.
std::string_view LocalName(std::string_view name);

// &amp; &lt; &gt; &quot; &apos; and numbers; all other references stay as they are.
std::string ResolveReferences(std::string_view text);

// A start or empty tag, without its brackets.
class XmlTag {
 public:
  explicit XmlTag(std::string_view text) : text_(text) {}
  std::string_view local_name() const;
  bool is_empty() const { return text_.ends_with('/'); }  // <a/>
  // Its value, references resolved; by local name, the first of them.
  std::optional<std::string> Attribute(std::string_view name) const;

 private:
  std::string_view text_;
};

class XmlHandler {
 public:
  virtual ~XmlHandler() = default;
  virtual void OnStart(const XmlTag& tag) = 0;  // of an empty element, too; no OnEnd() follows then
  virtual void OnEnd(std::string_view local_name) = 0;
  // Pieces of text, in order. `raw`: references are not yet resolved; false within CDATA.
  virtual void OnText(std::string_view piece, bool raw) = 0;
};

// Finds the tags and the text of XML as it comes, in memory of a few kilobytes. It does not mind
// whether the document is well-formed, and reads no declarations: there are no entities to expand.
class XmlScanner {
 public:
  explicit XmlScanner(XmlHandler& handler) : handler_(handler) {}
  void Feed(std::string_view bytes);

 private:
  enum class State { kText, kMarkup, kTag, kComment, kCdata, kInstruction, kDeclaration };

  void AcceptMarkup(char c);
  void AcceptTag(char c);
  void AcceptCdata(char c);
  void AcceptDeclaration(char c);
  void EndTag();

  XmlHandler& handler_;
  State state_ = State::kText;
  std::string held_;  // of the tag, or the last bytes of what must be watched for its end
  char quote_ = 0;
  bool has_equals_ = false;  // the tag has an attribute: quotes are quotes from there on
  int depth_ = 0;            // of brackets in a declaration
};

}  // namespace stele::sitemap
