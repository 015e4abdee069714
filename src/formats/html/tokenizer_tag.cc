#include "formats/html/tokenizer_tag.h"

#include <algorithm>
#include <numeric>

#include "formats/html/tokenizer_scan.h"
#include "formats/html/tokenizer_text.h"
#include "util/check.h"

// The standard's states from "tag name" to "self-closing start tag", with those merged that differ
// in parse errors only: "after attribute value (quoted)" is "before attribute name" here, and
// "after attribute name" falls back to it once no '=' came. Character references need no state:
// nothing that belongs to a reference can end a value, so values are decoded when the tag is
// complete.
namespace stele::html {

void TagScanner::Start(std::uint64_t name_begin, bool name_was_read, std::size_t bytes_max) {
  state_ = State::kTagName;
  bytes_max_ = bytes_max;
  self_closing_ = false;
  name_begin_ = name_begin;
  name_is_verbatim_ = !name_was_read;
  sources_.clear();
}

namespace {

inline const char* SkipSpace(const char* p, const char* end) {
  while (p != end && IsHtmlSpace(*p)) ++p;
  return p;
}

// Skips bytes until one of class `stop`; clears `is_verbatim` if one of class `replaced` is passed.
inline const char* SkipUntil(const char* p, const char* end, std::uint8_t stop,
                             std::uint8_t replaced, bool& is_verbatim) {
  std::uint8_t passed = 0;
  while (p != end) {
    const std::uint8_t byte_class = ClassOf(*p);
    if ((byte_class & stop) != 0) break;
    passed |= byte_class;
    ++p;
  }
  if ((passed & replaced) != 0) is_verbatim = false;
  return p;
}

template <char kQuote>
inline const char* SkipQuoted(const char* p, const char* end, bool& is_verbatim) {
  const char* stop = FindFirstOf<kQuote, '&', '\r', '\0'>(p, end);
  if (stop == end || *stop == kQuote) return stop;
  is_verbatim = false;
  return FindFirstOf<kQuote>(stop, end);
}

}  // namespace

const char* TagScanner::Scan(const char* p, const char* end, std::uint64_t at) {
  const char* const start = p;
  const auto position = [start, at](const char* q) {
    return at + static_cast<std::uint64_t>(q - start);
  };
  std::uint64_t value_end = 0;
  while (p != end) {
    switch (state_) {
      case State::kTagName:
        p = SkipUntil(p, end, kEndsTagName, kReplacedInName, name_is_verbatim_);
        if (p == end) return nullptr;
        name_end_ = position(p);
        state_ = State::kBeforeName;
        [[fallthrough]];
      case State::kBeforeName:
        p = SkipSpace(p, end);
        if (p == end) return nullptr;
        if (*p == '>') return p + 1;
        if (*p == '/') {
          ++p;
          state_ = State::kSelfClosing;
          break;
        }
        attribute_begin_ = position(p);
        attribute_name_is_verbatim_ = (ClassOf(*p) & kReplacedInName) == 0;
        ++p;  // whatever it is: a leading '=' belongs to the name
        state_ = State::kAttributeName;
        [[fallthrough]];
      case State::kAttributeName:
        p = SkipUntil(p, end, kEndsAttributeName, kReplacedInName, attribute_name_is_verbatim_);
        if (p == end) return nullptr;
        attribute_name_end_ = position(p);
        state_ = State::kAfterName;
        [[fallthrough]];
      case State::kAfterName:
        p = SkipSpace(p, end);
        if (p == end) return nullptr;
        if (*p != '=') {
          EndAttribute(attribute_name_end_, attribute_name_end_, true);
          break;
        }
        ++p;
        state_ = State::kBeforeValue;
        [[fallthrough]];
      case State::kBeforeValue:
        p = SkipSpace(p, end);
        if (p == end) return nullptr;
        p = StartValue(p);
        value_begin_ = position(p);
        break;
      case State::kDoubleQuoted:
      case State::kSingleQuoted:
      case State::kUnquoted:
        p = SkipValue(p, end);
        if (p == end) return nullptr;
        value_end = position(p);
        if (state_ != State::kUnquoted) ++p;
        EndAttribute(value_begin_, value_end, value_is_verbatim_);
        break;
      case State::kSelfClosing:
        self_closing_ = *p == '>';
        state_ = State::kBeforeName;
        break;
    }
  }
  return nullptr;
}

// Takes the opening quote, if there is one.
const char* TagScanner::StartValue(const char* p) {
  value_is_verbatim_ = true;
  if (*p == '"') {
    state_ = State::kDoubleQuoted;
  } else if (*p == '\'') {
    state_ = State::kSingleQuoted;
  } else {
    state_ = State::kUnquoted;
    return p;
  }
  return p + 1;
}

const char* TagScanner::SkipValue(const char* p, const char* end) {
  if (state_ == State::kDoubleQuoted) return SkipQuoted<'"'>(p, end, value_is_verbatim_);
  if (state_ == State::kSingleQuoted) return SkipQuoted<'\''>(p, end, value_is_verbatim_);
  return SkipUntil(p, end, kEndsUnquotedValue, kReplacedInUnquoted, value_is_verbatim_);
}

void TagScanner::EndAttribute(std::uint64_t value_begin, std::uint64_t value_end,
                              bool value_is_verbatim) {
  state_ = State::kBeforeName;
  if (value_end > bytes_max_) return;
  const auto part = [](std::uint64_t begin, std::uint64_t end, bool is_verbatim) {
    return Part{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), is_verbatim};
  };
  sources_.push_back({part(attribute_begin_, attribute_name_end_, attribute_name_is_verbatim_),
                      part(value_begin, value_end, value_is_verbatim)});
}

// Makes room once, because the views into replaced_ must stay.
void TagScanner::ReserveReplaced() {
  std::size_t source_bytes = 0;
  for (const AttributeSource& source : sources_) {
    if (!source.name.is_verbatim) source_bytes += source.name.end - source.name.begin;
    if (!source.value.is_verbatim) source_bytes += source.value.end - source.value.begin;
  }
  replaced_.clear();
  replaced_.reserve(source_bytes * kReplacedGrowthMax);
}

Tag TagScanner::Make(std::string_view bytes, SourceRange at,
                     bool (*has_attributes)(std::string_view)) {
  Tag tag;
  tag.name = MakeName(bytes);
  tag.self_closing = self_closing_;
  tag.at = at;
  if (sources_.empty() || (has_attributes != nullptr && !has_attributes(tag.name))) return tag;
  MakeAttributes(bytes, at.begin);
  tag.attributes = attributes_;
  return tag;
}

std::string_view TagScanner::MakeName(std::string_view bytes) {
  const std::size_t begin = std::min<std::uint64_t>(name_begin_, bytes.size());
  const std::size_t end = std::min<std::uint64_t>(name_end_, bytes.size());
  const std::string_view source = bytes.substr(begin, end - begin);
  if (name_is_verbatim_) return source;
  replaced_name_.clear();
  AppendName(source, replaced_name_);
  return replaced_name_;
}

void TagScanner::MakeAttributes(std::string_view bytes, std::uint64_t tag_begin) {
  ReserveReplaced();
  const std::size_t room = replaced_.capacity();
  const auto view = [&](const Part& part, auto append) {
    const std::string_view source = bytes.substr(part.begin, part.end - part.begin);
    if (part.is_verbatim) return source;
    const std::size_t from = replaced_.size();
    append(source, replaced_);
    return std::string_view(replaced_).substr(from);
  };
  attributes_.clear();
  for (const auto& [name, value] : sources_) {
    attributes_.push_back({view(name, AppendName),
                           view(value, AppendValue),
                           {tag_begin + name.begin, tag_begin + name.end},
                           {tag_begin + value.begin, tag_begin + value.end}});
  }
  Check(replaced_.capacity() == room);
  DropRepeatedNames();
}

// Few names are compared with each other; many are sorted, so that a hostile tag costs no square.
void TagScanner::DropRepeatedNames() {
  constexpr std::size_t kFew = 16;
  if (attributes_.size() <= kFew) {
    for (std::size_t i = 1; i < attributes_.size();) {
      const auto here = attributes_.begin() + static_cast<std::ptrdiff_t>(i);
      const bool repeated = std::any_of(attributes_.begin(), here, [&](const Attribute& earlier) {
        return earlier.name == here->name;
      });
      if (repeated) {
        attributes_.erase(here);
      } else {
        ++i;
      }
    }
    return;
  }
  order_.resize(attributes_.size());
  std::iota(order_.begin(), order_.end(), 0u);
  std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
    const int names = attributes_[a].name.compare(attributes_[b].name);
    return names != 0 ? names < 0 : a < b;
  });
  std::vector<bool> repeated(attributes_.size());
  for (std::size_t i = 1; i < order_.size(); ++i) {
    repeated[order_[i]] = attributes_[order_[i]].name == attributes_[order_[i - 1]].name;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < attributes_.size(); ++i) {
    if (!repeated[i]) attributes_[kept++] = attributes_[i];
  }
  attributes_.resize(kept);
}

}  // namespace stele::html
