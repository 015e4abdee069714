#include "formats/html/text.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "formats/html/text_decoder.h"
#include "formats/html/text_writer.h"
#include "formats/html/tokenizer.h"
#include "formats/html/utf8.h"
#include "util/ascii.h"

namespace stele::html {
namespace {

constexpr std::size_t kPieceSize = 32 << 10;

enum class Effect : std::uint8_t {
  kInline,
  kBlock,  // a line of its own
  kCell,   // apart from its neighbour, on the same line
  kHeading,
  kAnchor,
  kSkipped,  // nothing inside is text
  kTitle,
  kImage,
  kMeta,
  kHtml,
  kSvg,
};

struct Element {
  std::string_view name;
  Effect effect;
};

constexpr auto kElements = [] {
  std::array elements = std::to_array<Element>({
      {"a", Effect::kAnchor},         {"address", Effect::kBlock},
      {"area", Effect::kImage},       {"article", Effect::kBlock},
      {"aside", Effect::kBlock},      {"blockquote", Effect::kBlock},
      {"body", Effect::kBlock},       {"br", Effect::kBlock},
      {"button", Effect::kCell},      {"caption", Effect::kBlock},
      {"center", Effect::kBlock},     {"dd", Effect::kBlock},
      {"details", Effect::kBlock},    {"dialog", Effect::kBlock},
      {"dir", Effect::kBlock},        {"div", Effect::kBlock},
      {"dl", Effect::kBlock},         {"dt", Effect::kBlock},
      {"fieldset", Effect::kBlock},   {"figcaption", Effect::kBlock},
      {"figure", Effect::kBlock},     {"footer", Effect::kBlock},
      {"form", Effect::kBlock},       {"h1", Effect::kHeading},
      {"h2", Effect::kHeading},       {"h3", Effect::kHeading},
      {"h4", Effect::kHeading},       {"h5", Effect::kHeading},
      {"h6", Effect::kHeading},       {"head", Effect::kBlock},
      {"header", Effect::kBlock},     {"hr", Effect::kBlock},
      {"html", Effect::kHtml},        {"iframe", Effect::kSkipped},
      {"img", Effect::kImage},        {"legend", Effect::kBlock},
      {"li", Effect::kBlock},         {"main", Effect::kBlock},
      {"menu", Effect::kBlock},       {"meta", Effect::kMeta},
      {"nav", Effect::kBlock},        {"noembed", Effect::kSkipped},
      {"noframes", Effect::kSkipped}, {"ol", Effect::kBlock},
      {"optgroup", Effect::kBlock},   {"option", Effect::kBlock},
      {"p", Effect::kBlock},          {"pre", Effect::kBlock},
      {"script", Effect::kSkipped},   {"section", Effect::kBlock},
      {"select", Effect::kBlock},     {"style", Effect::kSkipped},
      {"summary", Effect::kBlock},    {"svg", Effect::kSvg},
      {"table", Effect::kBlock},      {"tbody", Effect::kBlock},
      {"td", Effect::kCell},          {"template", Effect::kSkipped},
      {"textarea", Effect::kBlock},   {"tfoot", Effect::kBlock},
      {"th", Effect::kCell},          {"thead", Effect::kBlock},
      {"title", Effect::kTitle},      {"tr", Effect::kBlock},
      {"ul", Effect::kBlock},         {"video", Effect::kBlock},
  });
  return elements;
}();
static_assert(std::ranges::is_sorted(kElements, {}, &Element::name));

// Where the elements of each first letter begin in kElements.
constexpr auto kFirstWith = [] {
  std::array<std::uint8_t, 28> first{};
  for (std::size_t letter = 0; letter < 28; ++letter) {
    std::size_t at = 0;
    while (at < kElements.size() &&
           static_cast<std::size_t>(kElements[at].name[0] - 'a') < letter) {
      ++at;
    }
    first[letter] = static_cast<std::uint8_t>(at);
  }
  return first;
}();

Effect EffectOf(std::string_view name) {
  if (name.empty() || !IsAsciiLower(name[0])) return Effect::kInline;
  const auto letter = static_cast<std::size_t>(name[0] - 'a');
  for (std::size_t at = kFirstWith[letter]; at < kFirstWith[letter + 1]; ++at) {
    if (kElements[at].name == name) return kElements[at].effect;
  }
  return Effect::kInline;
}

// Whose attributes the text needs.
bool HasWordsInAttributes(std::string_view name) {
  const Effect effect = EffectOf(name);
  return effect == Effect::kImage || effect == Effect::kMeta || effect == Effect::kHtml;
}
bool HasWordsOrAnchorInAttributes(std::string_view name) {
  return EffectOf(name) == Effect::kAnchor || HasWordsInAttributes(name);
}

std::string_view ValueOf(const Tag& tag, std::string_view name) {
  for (const Attribute& attribute : tag.attributes) {
    if (attribute.name == name) return attribute.value;
  }
  return {};
}

class TextSink final : public TokenSink {
 public:
  TextSink(PageText& page, const TextLimits& limits, bool has_nulls)
      : page_(page), limits_(limits), writer_(page, limits, has_nulls) {}

  void OnStartTag(const Tag& tag) override {
    const Effect effect = EffectOf(tag.name);
    if (effect == Effect::kInline) return;
    if (skipped_depth_ > 0) {
      if (effect == Effect::kSkipped && tag.name == skipped_name_) ++skipped_depth_;
      return;
    }
    Start(effect, tag);
  }

  void OnEndTag(const Tag& tag) override {
    const Effect effect = EffectOf(tag.name);
    if (effect == Effect::kInline) return;
    if (skipped_depth_ > 0) {
      if (effect == Effect::kSkipped && tag.name == skipped_name_) --skipped_depth_;
      return;
    }
    End(effect);
  }

  void OnText(std::string_view text, SourceRange) override {
    if (skipped_depth_ == 0 && !(in_title_ && title_done_)) writer_.Write(text);
  }
  void OnComment(std::string_view, SourceRange) override {}
  void OnDoctype(const Doctype&) override {}

  bool full() const { return writer_.full(); }
  void Finish() {
    EndAnchor();
    writer_.Finish();
  }

 private:
  void Start(Effect effect, const Tag& tag) {
    switch (effect) {
      case Effect::kInline:
        break;
      case Effect::kBlock:
        writer_.Line();
        break;
      case Effect::kCell:
        writer_.Space();
        break;
      case Effect::kHeading:
        writer_.Line();
        writer_.SetKind(kHeadingText, true);
        break;
      case Effect::kAnchor:
        StartAnchor(tag);
        break;
      case Effect::kSkipped:
        if (svg_depth_ > 0 && tag.self_closing) break;
        skipped_name_ = tag.name;
        skipped_depth_ = 1;
        break;
      case Effect::kTitle:
        if (svg_depth_ > 0) break;
        in_title_ = true;
        writer_.Line();
        writer_.SetKind(kTitleText, !title_done_);
        break;
      case Effect::kImage:
        Alternative(ValueOf(tag, "alt"));
        break;
      case Effect::kMeta:
        Meta(tag);
        break;
      case Effect::kHtml:
        if (page_.language.empty() || language_is_meta_) Language(tag);
        break;
      case Effect::kSvg:
        if (!tag.self_closing) ++svg_depth_;
        break;
    }
  }

  void End(Effect effect) {
    switch (effect) {
      case Effect::kBlock:
        writer_.Line();
        break;
      case Effect::kCell:
        writer_.Space();
        break;
      case Effect::kHeading:
        writer_.SetKind(kHeadingText, false);
        writer_.Line();
        break;
      case Effect::kAnchor:
        EndAnchor();
        break;
      case Effect::kTitle:
        if (!in_title_) break;
        in_title_ = false;
        title_done_ = true;
        writer_.SetKind(kTitleText, false);
        writer_.Line();
        break;
      case Effect::kSvg:
        if (svg_depth_ > 0) --svg_depth_;
        break;
      default:
        break;
    }
  }

  void StartAnchor(const Tag& tag) {
    EndAnchor();
    const std::string_view href = ValueOf(tag, "href");
    if (href.empty()) return;
    writer_.SetKind(kAnchorText, true);
    if (href.size() > limits_.href_bytes_max || page_.anchors.size() >= limits_.anchors_max) return;
    open_anchor_ = true;
    page_.anchors.push_back({std::string(href), writer_.Next(), 0});
  }

  void EndAnchor() {
    writer_.SetKind(kAnchorText, false);
    if (!open_anchor_) return;
    open_anchor_ = false;
    TextAnchor& anchor = page_.anchors.back();
    // The separator before its first word may have come due only inside the anchor.
    const std::string_view text = writer_.text();
    if (anchor.begin < text.size() && IsAsciiSpace(text[anchor.begin])) ++anchor.begin;
    anchor.end = static_cast<std::uint32_t>(text.size());
    if (anchor.begin >= anchor.end) page_.anchors.pop_back();
  }

  void Alternative(std::string_view alt) {
    if (alt.empty()) return;
    writer_.Space();
    writer_.SetKind(kAltText, true);
    writer_.Write(alt);
    writer_.SetKind(kAltText, false);
    writer_.Space();
  }

  void Meta(const Tag& tag) {
    const std::string_view content = ValueOf(tag, "content");
    if (content.empty()) return;
    if (!described_ && EqualsIgnoreCase(ValueOf(tag, "name"), "description")) {
      described_ = true;
      writer_.Line();
      writer_.SetKind(kDescriptionText, true);
      writer_.Write(content);
      writer_.SetKind(kDescriptionText, false);
      writer_.Line();
    } else if (page_.language.empty() &&
               EqualsIgnoreCase(ValueOf(tag, "http-equiv"), "content-language")) {
      page_.language = TrimSpace(content.substr(0, std::min<std::size_t>(content.find(','), 64)));
      language_is_meta_ = true;
    }
  }

  void Language(const Tag& tag) {
    std::string_view lang = TrimSpace(ValueOf(tag, "lang"));
    if (lang.empty()) lang = TrimSpace(ValueOf(tag, "xml:lang"));
    if (lang.empty() || lang.size() > 64) return;
    page_.language = lang;
    language_is_meta_ = false;
  }

  PageText& page_;
  const TextLimits& limits_;
  TextWriter writer_;
  std::string skipped_name_;
  std::size_t skipped_depth_ = 0;
  std::size_t svg_depth_ = 0;
  bool in_title_ = false;
  bool title_done_ = false;
  bool described_ = false;
  bool open_anchor_ = false;
  bool language_is_meta_ = false;
};

// Whether the text, in UTF-8, may have null characters.
bool HasNulls(std::string_view content, Encoding encoding) {
  return !HasAsciiMarkup(encoding) || content.find('\0') != std::string_view::npos;
}

// Tells of the content in UTF-8, piece by piece, until `take` has enough and returns false.
template <typename Take>
void ForEachPiece(std::string_view content, Encoding encoding, const Take& take) {
  const bool is_utf8 = encoding == Encoding::kUtf8 ? IsValidUtf8(content)
                                                   : IsSingleByte(encoding) && IsAscii(content);
  TextDecoder decoder(encoding);
  std::string piece;
  for (std::size_t at = 0; at < content.size(); at += kPieceSize) {
    const std::string_view bytes = content.substr(at, kPieceSize);
    piece.clear();
    if (!is_utf8) decoder.Decode(bytes, piece);
    if (!take(is_utf8 ? bytes : piece)) return;
  }
  piece.clear();
  decoder.Finish(piece);
  take(piece);
}

}  // namespace

PageText ExtractText(std::string_view content, Encoding encoding, const TextLimits& limits) {
  PageText page;
  TextSink sink(page, limits, HasNulls(content, encoding));
  Tokenizer::Options options;
  options.has_attributes =
      limits.anchors_max > 0 ? HasWordsOrAnchorInAttributes : HasWordsInAttributes;
  Tokenizer tokenizer(sink, options);
  ForEachPiece(content, encoding, [&](std::string_view piece) {
    tokenizer.Feed(piece);
    return !sink.full();
  });
  tokenizer.Finish();
  sink.Finish();
  return page;
}

PageText ExtractPlainText(std::string_view content, Encoding encoding, const TextLimits& limits) {
  PageText page;
  TextWriter writer(page, limits, HasNulls(content, encoding));
  ForEachPiece(content, encoding, [&](std::string_view piece) {
    writer.Write(piece);
    return !writer.full();
  });
  writer.Finish();
  return page;
}

std::string PageText::TextOf(TextKind kind) const {
  const auto matches = [kind](const TextRun& run) {
    return kind == kBodyText ? run.kinds == kBodyText : (run.kinds & kind) != 0;
  };
  std::string out;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!matches(runs[i])) continue;
    const std::uint32_t begin = runs[i].begin;
    while (i + 1 < runs.size() && matches(runs[i + 1])) ++i;
    if (!out.empty()) out.push_back('\n');
    out.append(TrimSpace(std::string_view(text).substr(begin, runs[i].end - begin)));
  }
  return out;
}

}  // namespace stele::html
