#include "formats/url/request_key.h"

#include <unicode/utf8.h>

#include <algorithm>

#include "formats/url/percent.h"
#include "formats/url/request_body.h"
#include "util/ascii.h"
#include "util/base_encoding.h"

namespace stele::url {
namespace {

// The text with U+FFFD for each piece that is not UTF-8, cut after `limit` characters; and whether
// there was such a piece.
struct Utf8Text {
  std::string text;
  bool valid = true;
};

Utf8Text ToUtf8(std::string_view bytes, std::size_t limit) {
  Utf8Text out;
  const char* data = bytes.data();
  const auto size = static_cast<std::int64_t>(bytes.size());
  for (std::int64_t i = 0; i < size;) {
    const std::int64_t begin = i;
    UChar32 c = 0;
    U8_NEXT(data, i, size, c);
    if (c < 0) out.valid = false;
    if (limit == 0) continue;
    --limit;
    if (c < 0) {
      out.text += "\xEF\xBF\xBD";
    } else {
      out.text.append(data + begin, static_cast<std::size_t>(i - begin));
    }
  }
  return out;
}

std::string Base64Query(std::string_view body) {
  // Three bytes are four characters, so these bytes already fill the key.
  std::string query = "__wb_post_data=";
  query += Base64Encode(body.substr(0, kMaxBodyQueryCharacters / 4 * 3));
  query.resize(std::min(query.size(), kMaxBodyQueryCharacters));
  return query;
}

std::string FormQuery(std::string_view body) {
  if (!ToUtf8(body, 0).valid) return Base64Query(body);
  // One character of the key takes at most twelve bytes, "%F0%9F%98%80".
  std::string spaced(body.substr(0, kMaxBodyQueryCharacters * 12));
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return ToUtf8(PercentDecode(spaced), kMaxBodyQueryCharacters).text;
}

std::string BodyQuery(std::string_view content_type, std::string_view body) {
  if (content_type.starts_with("application/x-www-form-urlencoded")) return FormQuery(body);
  std::optional<std::string> query;
  if (content_type.starts_with("multipart/")) {
    query = MultipartAsQuery(content_type, body);
  } else if (content_type.starts_with("application/json")) {
    query = JsonAsQuery(body).value_or("");
  } else if (content_type.starts_with("text/plain")) {
    query = JsonAsQuery(body);
  }
  if (!query) return Base64Query(body);
  query->resize(std::min(query->size(), kMaxBodyQueryCharacters));
  return std::move(*query);
}

}  // namespace

void AppendFormEncoded(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsAsciiAlnum(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      out.push_back(c);
    } else if (c == ' ') {
      out.push_back('+');
    } else {
      out.push_back('%');
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    }
  }
}

std::string RequestUrl(std::string_view url, std::string_view method, std::string_view content_type,
                       std::string_view body) {
  std::string name;
  for (char c : method) name.push_back(ToAsciiUpper(c));
  if (name.empty() || name == "GET") return std::string(url);
  const std::string_view without_fragment = url.substr(0, std::min(url.find('#'), url.size()));
  std::string out(without_fragment);
  out.push_back(without_fragment.find('?') == url.npos ? '?' : '&');
  out += "__wb_method=";
  out += name;
  if (name != "POST" && name != "PUT") return out;
  const std::string query = BodyQuery(content_type, body);
  if (query.empty()) return out;
  out.push_back('&');
  out += query;
  return out;
}

}  // namespace stele::url
