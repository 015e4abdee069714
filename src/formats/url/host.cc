#include "formats/url/host.h"

#include <unicode/uidna.h>

#include "formats/url/percent.h"
#include "util/ascii.h"

// Nearly every host is ASCII without punycode: it is checked and lower-cased in one pass over its
// bytes. The rest is percent-decoded and handed to ICU's UTS 46.
namespace stele::url {
namespace {

bool IsAscii(std::string_view text) {
  for (char c : text) {
    if (static_cast<unsigned char>(c) > 0x7F) return false;
  }
  return true;
}

// Some label starts with "xn--", in any case.
bool HasPunycodeLabel(std::string_view domain) {
  for (std::size_t at = domain.find("--"); at != domain.npos; at = domain.find("--", at + 1)) {
    if (at < 2 || ToAsciiLower(domain[at - 1]) != 'n' || ToAsciiLower(domain[at - 2]) != 'x')
      continue;
    if (at == 2 || domain[at - 3] == '.') return true;
  }
  return false;
}

// ICU's UTS 46 processor. It is immutable and safe in all threads, takes a table lookup and an
// allocation to open and has to be closed, so one serves the whole program.
const UIDNA* Uts46() {
  static const UIDNA* const instance = [] {
    UErrorCode status = U_ZERO_ERROR;
    const UIDNA* opened = uidna_openUTS46(
        UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII, &status);
    return U_SUCCESS(status) ? opened : nullptr;
  }();
  return instance;
}

// UTS 46 since revision 33: a punycode label must stand for something that is not ASCII. One that
// ends in '-' (or is only the prefix) has no encoded part.
bool HasEmptyPunycode(std::string_view domain) {
  for (std::string_view label : Split(domain, '.')) {
    if (label.starts_with("xn--") && label.ends_with('-')) return true;
  }
  return false;
}

// "Domain to ASCII" with beStrict false.
std::optional<std::string> DomainToAscii(std::string_view domain) {
  // What ToASCII reports but VerifyDnsLength=false and CheckHyphens=false allow.
  constexpr std::uint32_t kAllowed = UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG |
                                     UIDNA_ERROR_DOMAIN_NAME_TOO_LONG | UIDNA_ERROR_LEADING_HYPHEN |
                                     UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;
  const UIDNA* idna = Uts46();
  if (idna == nullptr || domain.size() > kMaxIdnaBytes) return std::nullopt;
  std::string ascii(domain.size() * 2 + 64, '\0');
  for (int attempt = 0; attempt < 2; ++attempt) {
    UErrorCode status = U_ZERO_ERROR;
    UIDNAInfo info = UIDNA_INFO_INITIALIZER;
    const std::int32_t length = uidna_nameToASCII_UTF8(
        idna, domain.data(), static_cast<std::int32_t>(domain.size()), ascii.data(),
        static_cast<std::int32_t>(ascii.size()), &info, &status);
    if (status == U_BUFFER_OVERFLOW_ERROR) {
      ascii.resize(static_cast<std::size_t>(length));
      continue;
    }
    if (U_FAILURE(status) || (info.errors & ~kAllowed) != 0) return std::nullopt;
    ascii.resize(static_cast<std::size_t>(length));
    if (!IsAscii(ascii) || HasEmptyPunycode(ascii)) return std::nullopt;
    return ascii;
  }
  return std::nullopt;
}

// The last label is a number, so the whole must be an IPv4 address or nothing.
bool EndsInNumber(std::string_view domain) {
  if (!domain.empty() && domain.back() == '.') domain.remove_suffix(1);
  std::string_view last = domain.substr(domain.rfind('.') + 1);
  if (last.empty() || !IsAsciiDigit(last[0])) return false;
  bool digits = true;
  for (char c : last) digits = digits && IsAsciiDigit(c);
  if (digits) return true;
  if (last.size() < 2 || last[0] != '0' || ToAsciiLower(last[1]) != 'x') return false;
  for (char c : last.substr(2)) {
    if (!IsAsciiHexDigit(c)) return false;
  }
  return true;
}

// `domain` is already ASCII and lower case, at the end of `out` from `begin` on.
bool FinishDomain(std::string& out, std::size_t begin) {
  const std::string_view domain = std::string_view(out).substr(begin);
  if (domain.empty()) return false;
  for (char c : domain) {
    if (IsForbiddenInDomain(c)) return false;
  }
  if (!EndsInNumber(domain)) return true;
  const std::optional<std::uint32_t> address = ParseIpv4(domain);
  if (!address) return false;
  out.resize(begin);
  AppendIpv4(out, *address);
  return true;
}

bool AppendDomain(std::string& out, std::string_view text) {
  const std::size_t begin = out.size();
  bool plain = true;
  out.append(text);
  for (char* p = out.data() + begin; p != out.data() + out.size(); ++p) {
    plain = plain && *p != '%' && static_cast<unsigned char>(*p) <= 0x7F;
    *p = ToAsciiLower(*p);
  }
  if (!plain || HasPunycodeLabel(text)) {
    std::string decoded = PercentDecode(text);
    out.resize(begin);
    if (IsAscii(decoded) && !HasPunycodeLabel(decoded)) {
      out += AsciiLower(decoded);
    } else {
      const std::optional<std::string> ascii = DomainToAscii(decoded);
      if (!ascii) return false;
      out += *ascii;
    }
  }
  if (FinishDomain(out, begin)) return true;
  out.resize(begin);
  return false;
}

}  // namespace

bool AppendHost(std::string& out, std::string_view text, bool special) {
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) return false;
    const std::optional<Ipv6Pieces> pieces = ParseIpv6(text.substr(1, text.size() - 2));
    if (!pieces) return false;
    out.push_back('[');
    AppendIpv6(out, *pieces);
    out.push_back(']');
    return true;
  }
  if (special) return AppendDomain(out, text);
  for (char c : text) {
    if (IsForbiddenInHost(c)) return false;
  }
  AppendPercentEncoded(out, text, EncodeSet::kC0Control);
  return true;
}

}  // namespace stele::url
