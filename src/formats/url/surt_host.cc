#include <unicode/uchar.h>
#include <unicode/uidna.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <optional>

#include "formats/url/host.h"
#include "formats/url/surt_parts.h"
#include "util/ascii.h"

// Host names of keys follow IDNA 2003 ("ß" is "ss"), because the tools that made the keys of
// existing indexes do. The parser of URLs follows UTS 46 like browsers; the two are kept apart on
// purpose.
namespace stele::url::surt {
namespace {

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) <= 0x7F; });
}

bool IsInUnicode32(UChar32 c) {
  UVersionInfo age;
  u_charAge(c, age);
  return age[0] < 3 || (age[0] == 3 && age[1] <= 2);
}

// ICU's IDNA 2003 folds case as of Unicode 3.2. Letters whose small form came later are folded
// here.
UChar32 FoldYoungLetter(UChar32 c) {
  if (c < 0x80) return c;
  const UChar32 lower = u_tolower(c);
  return IsInUnicode32(c) && IsInUnicode32(lower) ? c : lower;
}

// In small letters where they are young, and without the bytes that are not UTF-8.
std::u16string DecodeUtf8(std::string_view text) {
  std::u16string out;
  const auto size = static_cast<std::int32_t>(text.size());
  for (std::int32_t i = 0; i < size;) {
    UChar32 c = 0;
    U8_NEXT(text.data(), i, size, c);
    if (c < 0) continue;
    c = FoldYoungLetter(c);
    if (U_IS_BMP(c)) {
      out.push_back(static_cast<char16_t>(c));
    } else {
      out.push_back(U16_LEAD(c));
      out.push_back(U16_TRAIL(c));
    }
  }
  return out;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
// ICU calls its IDNA 2003 functions deprecated because IDNA 2008 is the better standard; keys need
// the old one.
std::optional<std::string> Idna2003ToAscii(const std::u16string& name) {
  char16_t ascii[512];
  UErrorCode status = U_ZERO_ERROR;
  UParseError where;
  const std::int32_t length =
      uidna_IDNToASCII(name.data(), static_cast<std::int32_t>(name.size()), ascii, std::size(ascii),
                       UIDNA_ALLOW_UNASSIGNED, &where, &status);
  if (U_FAILURE(status) || length > static_cast<std::int32_t>(std::size(ascii)))
    return std::nullopt;
  std::string out;
  for (std::int32_t i = 0; i < length; ++i) out.push_back(static_cast<char>(ascii[i]));
  return out;
}
#pragma GCC diagnostic pop

// The result is `host` itself or in `buffer`.
std::string_view ToAscii(std::string_view host, std::string& buffer) {
  if (IsAscii(host) || host.size() > kMaxIdnaBytes) return host;
  std::optional<std::string> ascii = Idna2003ToAscii(DecodeUtf8(host));
  if (!ascii) return host;
  buffer = std::move(*ascii);
  return buffer;
}

// No dots at the ends, and one for each two in a row. The result is a part of `host` or in
// `buffer`.
std::string_view WithoutStrayDots(std::string_view host, std::string& buffer) {
  while (host.starts_with('.')) host.remove_prefix(1);
  while (host.ends_with('.')) host.remove_suffix(1);
  if (host.find("..") == host.npos) return host;
  std::string out;
  out.reserve(host.size());
  for (std::size_t i = 0; i < host.size(); ++i) {
    out.push_back(host[i]);
    if (host.substr(i, 2) == "..") ++i;
  }
  buffer = std::move(out);
  return buffer;
}

// Digits and dots only: an address. One number alone is decimal and wraps around at 2^32; several
// are read as inet_aton does, octal with a leading zero.
std::optional<std::uint32_t> NumericHost(std::string_view host) {
  bool dotted = false;
  std::uint32_t value = 0;
  for (char c : host) {
    if (c == '.') {
      dotted = true;
    } else if (!IsAsciiDigit(c)) {
      return std::nullopt;
    } else {
      value = value * 10 + static_cast<std::uint32_t>(c - '0');
    }
  }
  return dotted ? ParseIpv4(host) : std::optional(value);
}

}  // namespace

std::string CanonicalHost(std::string_view raw) {
  std::string buffer;
  const std::string_view host =
      WithoutStrayDots(ToAscii(UnescapeRepeatedly(raw, buffer), buffer), buffer);
  std::string out;
  if (host.empty()) return out;
  if (IsAsciiDigit(host[0])) {
    if (const std::optional<std::uint32_t> address = NumericHost(host)) {
      AppendIpv4(out, *address);
      return out;
    }
  }
  AppendEscapedLower(out, host);
  return out;
}

void AppendReversedHost(std::string& out, std::string_view host) {
  if (host.starts_with("www")) {
    const std::size_t dot = host.find_first_not_of("0123456789", 3);
    if (dot != host.npos && host[dot] == '.') host.remove_prefix(dot + 1);
  }
  std::size_t end = host.size();
  for (;;) {
    const std::size_t dot = end == 0 ? host.npos : host.rfind('.', end - 1);
    const std::size_t begin = dot == host.npos ? 0 : dot + 1;
    out.append(host, begin, end - begin);
    if (dot == host.npos) break;
    out.push_back(',');
    end = dot;
  }
}

}  // namespace stele::url::surt
