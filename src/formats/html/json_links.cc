// Strings are found one after the other without building a tree, so that neither depth nor broken
// syntax matters. A string before ':' is a key. What the keys around a value say is kept on a small
// stack, one entry per open object or array; below its bound the innermost known one holds.
#include "formats/html/json_links.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "formats/html/script_links.h"
#include "formats/html/utf8.h"
#include "util/ascii.h"

namespace stele::html {
namespace {

constexpr std::size_t kDepthMax = 64;

enum class Meaning : char { kUnknown, kMedia, kPage, kReference, kVocabulary };

struct KeyMeaning {
  std::string_view key;
  Meaning meaning;
};

// kReference: a page, unless a key around it says media ("image": {"url": ...}).
constexpr KeyMeaning kKeys[] = {
    {"image", Meaning::kMedia},         {"logo", Meaning::kMedia},
    {"thumbnail", Meaning::kMedia},     {"thumbnailUrl", Meaning::kMedia},
    {"contentUrl", Meaning::kMedia},    {"embedUrl", Meaning::kMedia},
    {"photo", Meaning::kMedia},         {"video", Meaning::kMedia},
    {"audio", Meaning::kMedia},         {"primaryImageOfPage", Meaning::kMedia},
    {"sameAs", Meaning::kPage},         {"mainEntityOfPage", Meaning::kPage},
    {"item", Meaning::kPage},           {"relatedLink", Meaning::kPage},
    {"url", Meaning::kReference},       {"@id", Meaning::kReference},
    {"@context", Meaning::kVocabulary}, {"@type", Meaning::kVocabulary},
    {"@vocab", Meaning::kVocabulary},
};

Meaning MeaningOf(std::string_view key) {
  const auto* found = std::ranges::find(kKeys, key, &KeyMeaning::key);
  return found == std::end(kKeys) ? Meaning::kUnknown : found->meaning;
}

bool IsAbsolute(std::string_view text) {
  return StartsWithIgnoreCase(text, "http://") || StartsWithIgnoreCase(text, "https://");
}

// Four hexadecimal digits at text[at], or -1.
int HexUnit(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return -1;
  int unit = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const int digit = HexValue(text[at + i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

std::string Unescape(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 >= text.size()) {
      out.push_back(text[at]);
      continue;
    }
    const char c = text[++at];
    const int unit = c == 'u' ? HexUnit(text, at + 1) : -1;
    if (unit < 0) {
      out.push_back(c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c);
      continue;
    }
    at += 4;
    char32_t code_point = static_cast<char32_t>(unit);
    if (unit >= 0xD800 && unit < 0xDC00 && text.substr(at + 1, 2) == "\\u") {
      const int low = HexUnit(text, at + 3);
      if (low >= 0xDC00 && low < 0xE000) {
        code_point = 0x10000 + ((code_point - 0xD800) << 10) + static_cast<char32_t>(low - 0xDC00);
        at += 6;
      }
    }
    AppendUtf8(out, code_point);
  }
  return out;
}

class JsonReader {
 public:
  JsonReader(const LinkSource& source, LinkCollector& links, bool linked_data)
      : source_(source), json_(source.bytes), links_(links), linked_data_(linked_data) {}

  void Run() {
    while (at_ < json_.size()) {
      switch (json_[at_]) {
        case '"':
          String();
          continue;
        case '{':
        case '[':
          Open();
          break;
        case '}':
        case ']':
          Close();
          break;
        case ',':
          if (around_.empty() || !around_.back().is_array) here_ = Inherited();
          break;
        default:
          break;
      }
      ++at_;
    }
  }

 private:
  struct Level {
    Meaning meaning;
    bool is_array;
  };

  Meaning Inherited() const { return around_.empty() ? Meaning::kUnknown : around_.back().meaning; }

  void Open() {
    if (around_.size() >= kDepthMax) {
      ++deeper_;
    } else {
      around_.push_back({here_, json_[at_] == '['});
    }
  }

  void Close() {
    if (deeper_ > 0) {
      --deeper_;
    } else if (!around_.empty()) {
      here_ = around_.back().meaning;
      around_.pop_back();
    }
  }

  void String() {
    const std::size_t start = at_ + 1;
    std::size_t end = start;
    while (end < json_.size() && json_[end] != '"') end += json_[end] == '\\' ? 2 : 1;
    end = std::min(end, json_.size());
    at_ = std::min(end + 1, json_.size());
    const std::string_view raw = json_.substr(start, end - start);
    std::size_t next = at_;
    while (next < json_.size() && IsAsciiSpace(json_[next])) ++next;
    if (next < json_.size() && json_[next] == ':') {
      Key(raw);
    } else if (raw.size() <= 2 * links_.limits().url_bytes_max) {
      Value(raw, start);
    }
  }

  void Key(std::string_view key) {
    const Meaning own = MeaningOf(key);
    const Meaning around = Inherited();
    if (own == Meaning::kReference) {
      here_ = around == Meaning::kMedia ? Meaning::kMedia : Meaning::kPage;
    } else if (around == Meaning::kVocabulary) {
      here_ = Meaning::kVocabulary;  // a context defines terms all the way down
    } else {
      // Other properties of an image are no images: its author, its licence.
      here_ = own;
    }
  }

  void Value(std::string_view raw, std::size_t start) {
    std::string unescaped;
    std::string_view text = raw;
    if (raw.find('\\') != std::string_view::npos) {
      unescaped = Unescape(raw);
      text = unescaped;
    }
    if (linked_data_ && (here_ == Meaning::kMedia || here_ == Meaning::kPage)) {
      // Relative references too, but not names: "image": "A house by the sea".
      const bool shaped =
          IsAbsolute(text) || (text.starts_with('/') && text.find(' ') == std::string_view::npos);
      if (!shaped) return;
      const Hop hop = here_ == Meaning::kMedia ? Hop::kEmbed : Hop::kNavigation;
      Add(text, hop, "json-ld", start);
    } else if (linked_data_ && here_ == Meaning::kVocabulary) {
      return;
    } else if (linked_data_ ? IsAbsolute(text) : LooksLikeUrl(text)) {
      Add(text, Hop::kSpeculative, linked_data_ ? "json-ld" : "json", start);
    }
  }

  void Add(std::string_view href, Hop hop, std::string_view context, std::size_t at) {
    links_.Add({.href = href,
                .hop = hop,
                .context = context,
                .offset = source_.OffsetOf(at),
                .base = source_.base,
                .utf8 = source_.utf8});
  }

  const LinkSource& source_;
  std::string_view json_;
  LinkCollector& links_;
  const bool linked_data_;
  std::size_t at_ = 0;
  Meaning here_ = Meaning::kUnknown;  // of the value that comes next
  std::vector<Level> around_;
  std::size_t deeper_ = 0;
};

}  // namespace

void ExtractJsonLdLinks(const LinkSource& source, LinkCollector& links) {
  JsonReader(source, links, true).Run();
}

void ExtractJsonLinks(const LinkSource& source, LinkCollector& links) {
  JsonReader(source, links, false).Run();
}

}  // namespace stele::html
