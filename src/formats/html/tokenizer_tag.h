#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/html/tokenizer.h"

namespace stele::html {

// Finds where a tag and its parts begin and end, in one pass over its bytes, which may come in
// pieces; then makes the Tag from the bytes. Positions are counted from the tag's '<'.
class TagScanner {
 public:
  // Starts a tag whose name begins at `name_begin`. Where the bytes of the name are not all given
  // to Scan, `name_was_read` is true. `bytes_max`: what ends later is left out of the Tag.
  void Start(std::uint64_t name_begin, bool name_was_read, std::size_t bytes_max);

  // Goes on at position `at` with [p, end). The byte after the tag's '>', or null if there is none.
  const char* Scan(const char* p, const char* end, std::uint64_t at);

  // Requires: Scan found the end; `bytes` are the tag's first bytes, min(length, bytes_max) of
  // them, and `at` is its place in the source. The views point into `bytes` and into this scanner,
  // and are valid until the next Start(). `has_attributes` as in Tokenizer::Options.
  Tag Make(std::string_view bytes, SourceRange at, bool (*has_attributes)(std::string_view));

 private:
  enum class State {
    kTagName,
    kBeforeName,
    kAttributeName,
    kAfterName,
    kBeforeValue,
    kDoubleQuoted,
    kSingleQuoted,
    kUnquoted,
    kSelfClosing,
  };
  struct Part {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    bool is_verbatim = true;
  };
  struct AttributeSource {
    Part name;
    Part value;
  };

  const char* StartValue(const char* p);
  const char* SkipValue(const char* p, const char* end);
  void EndAttribute(std::uint64_t value_begin, std::uint64_t value_end, bool value_is_verbatim);
  std::string_view MakeName(std::string_view bytes);
  void MakeAttributes(std::string_view bytes, std::uint64_t tag_begin);
  void ReserveReplaced();
  void DropRepeatedNames();

  State state_ = State::kTagName;
  std::size_t bytes_max_ = 0;
  bool self_closing_ = false;
  std::uint64_t name_begin_ = 0;  // of the tag's name
  std::uint64_t name_end_ = 0;
  bool name_is_verbatim_ = true;

  // The attribute that is being read.
  std::uint64_t attribute_begin_ = 0;
  std::uint64_t attribute_name_end_ = 0;
  std::uint64_t value_begin_ = 0;
  bool attribute_name_is_verbatim_ = true;
  bool value_is_verbatim_ = true;

  std::vector<AttributeSource> sources_;
  std::vector<Attribute> attributes_;
  std::vector<std::uint32_t> order_;  // for finding repeated names among many
  std::string replaced_name_;         // of the tag, where it is not verbatim
  std::string replaced_;              // names and values of attributes that are not verbatim
};

}  // namespace stele::html
