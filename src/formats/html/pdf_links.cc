#include "formats/html/pdf_links.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <string>

#include "formats/html/text_decoder.h"
#include "util/ascii.h"

namespace stele::html {
namespace {

constexpr auto kNone = std::string_view::npos;
constexpr std::size_t kDictionaryMax = 4096;  // bytes from /ObjStm to its `stream` keyword
constexpr std::size_t kStreamMax = 16 << 20;  // inflated bytes of one object stream

constexpr bool IsPdfSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\0';
}

std::size_t SkipSpace(std::string_view text, std::size_t at) {
  while (at < text.size() && IsPdfSpace(text[at])) ++at;
  return at;
}

// One escape of a literal string, at the byte after the backslash; returns its end.
std::size_t AppendEscape(std::string_view text, std::size_t at, std::string& out) {
  const char c = text[at];
  if (c >= '0' && c <= '7') {
    int value = 0;
    std::size_t end = at;
    while (end < text.size() && end < at + 3 && text[end] >= '0' && text[end] <= '7') {
      value = value * 8 + (text[end++] - '0');
    }
    out.push_back(static_cast<char>(value & 0xFF));
    return end;
  }
  if (c == '\r') return at + (text.substr(at, 2) == "\r\n" ? 2 : 1);
  if (c == '\n') return at + 1;
  out.push_back(c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c);
  return at + 1;
}

// (text (with) balanced parentheses), from behind the first one; returns the end. Gives up, with an
// empty string, past `bytes_max`.
std::size_t ReadLiteral(std::string_view text, std::size_t at, std::size_t bytes_max,
                        std::string& out) {
  int depth = 1;
  while (at < text.size()) {
    const char c = text[at++];
    if (c == '\\') {
      if (at < text.size()) at = AppendEscape(text, at, out);
    } else if (c == ')' && --depth == 0) {
      return at;
    } else {
      if (c == '(') ++depth;
      out.push_back(c);
    }
    if (out.size() > bytes_max) break;
  }
  out.clear();
  return at;
}

// <68 7474 70>, from behind the '<'.
std::size_t ReadHex(std::string_view text, std::size_t at, std::size_t bytes_max,
                    std::string& out) {
  int high = -1;
  for (; at < text.size() && text[at] != '>' && out.size() <= bytes_max; ++at) {
    const int digit = HexValue(text[at]);
    if (digit < 0) continue;
    if (high < 0) {
      high = digit;
    } else {
      out.push_back(static_cast<char>(high * 16 + digit));
      high = -1;
    }
  }
  if (high >= 0) out.push_back(static_cast<char>(high * 16));
  if (at < text.size() && text[at] == '>') return at + 1;
  out.clear();
  return at;
}

class PdfReader {
 public:
  PdfReader(const LinkSource& source, LinkCollector& links)
      : source_(source), links_(links), inflate_left_(links.limits().inflated_bytes_max) {}

  void Run() {
    if (IsEncrypted()) return;
    Uris(source_.bytes, source_);
    ObjectStreams();
  }

 private:
  // The trailer, or the cross-reference stream that replaces it, names the encryption dictionary.
  bool IsEncrypted() const {
    std::size_t at = 0;
    while ((at = source_.bytes.find("/Encrypt", at)) != kNone) {
      at += 8;
      const std::size_t value = SkipSpace(source_.bytes, at);
      if (value < source_.bytes.size() &&
          (IsAsciiDigit(source_.bytes[value]) || source_.bytes.substr(value, 2) == "<<")) {
        return true;
      }
    }
    return false;
  }

  void Uris(std::string_view text, const LinkSource& where) {
    const std::size_t bytes_max = links_.limits().url_bytes_max * 2;  // UTF-16 strings are double
    std::size_t at = 0;
    while ((at = text.find("/URI", at)) != kNone) {
      const std::size_t found = at;
      at = SkipSpace(text, at + 4);
      if (at >= text.size()) return;
      std::string uri;
      if (text[at] == '(') {
        at = ReadLiteral(text, at + 1, bytes_max, uri);
      } else if (text[at] == '<' && text.substr(at, 2) != "<<") {
        at = ReadHex(text, at + 1, bytes_max, uri);
      }
      if (uri.empty()) continue;
      if (uri.starts_with("\xFE\xFF")) uri = DecodeText(uri.substr(2), Encoding::kUtf16Be);
      links_.Add({.href = uri,
                  .hop = Hop::kNavigation,
                  .context = "pdf/URI",
                  .offset = where.OffsetOf(found),
                  .base = where.base,
                  .utf8 = true});
    }
  }

  void ObjectStreams() {
    const std::string_view pdf = source_.bytes;
    std::size_t at = 0;
    while (inflate_left_ > 0 && (at = pdf.find("/ObjStm", at)) != kNone) {
      const std::size_t type = at;
      at += 7;
      const std::string_view window = pdf.substr(at, kDictionaryMax);
      const std::size_t keyword = window.find("stream");
      if (keyword == kNone || window.substr(0, keyword).find("endobj") != kNone) continue;
      std::size_t data = at + keyword + 6;
      if (pdf.substr(data, 2) == "\r\n") {
        data += 2;
      } else if (data < pdf.size() && (pdf[data] == '\n' || pdf[data] == '\r')) {
        ++data;
      }
      std::string objects;
      const std::size_t used = Inflate(pdf.substr(data), objects);
      // Never back: what one stream consumed is not searched for another.
      at = std::max(at, data + used);
      Uris(objects, {.bytes = objects,
                     .base = source_.base,
                     .offset = source_.OffsetOf(type),
                     .verbatim = false,
                     .utf8 = true});
    }
  }

  // Returns how many bytes of `data` were read. Damaged data gives what comes before the damage;
  // data that is not deflated gives nothing.
  std::size_t Inflate(std::string_view data, std::string& out) {
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) return 0;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream.avail_in = static_cast<uInt>(std::min<std::size_t>(data.size(), 1u << 30));
    const uInt given = stream.avail_in;
    std::array<char, 16384> buffer;
    int status = Z_OK;
    while (status == Z_OK && out.size() < kStreamMax && inflate_left_ > 0) {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = static_cast<uInt>(std::min(buffer.size(), inflate_left_));
      const uInt room = stream.avail_out;
      status = inflate(&stream, Z_NO_FLUSH);
      const std::size_t made = room - stream.avail_out;
      out.append(buffer.data(), made);
      inflate_left_ -= made;
    }
    const std::size_t used = given - stream.avail_in;
    inflateEnd(&stream);
    return used;
  }

  const LinkSource& source_;
  LinkCollector& links_;
  std::size_t inflate_left_;
};

}  // namespace

void ExtractPdfLinks(const LinkSource& source, LinkCollector& links) {
  PdfReader(source, links).Run();
}

}  // namespace stele::html
