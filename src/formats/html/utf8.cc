#include "formats/html/utf8.h"

#include <cstdint>
#include <cstring>

namespace stele::html {
namespace {

struct Lead {
  std::size_t size = 0;                  // of the whole character; 0 for a byte that starts none
  std::uint8_t low = 0x80, high = 0xBF;  // what the second byte may be
};

Lead LeadOf(std::uint8_t byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};  // no surrogates
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};  // nothing above U+10FFFF
  return {};
}

// How many bytes of the character at the start of `bytes` are as they should be, lead included.
std::size_t GoodBytes(std::string_view bytes, const Lead& lead) {
  std::size_t good = 1;
  while (good < lead.size && good < bytes.size()) {
    const auto byte = static_cast<std::uint8_t>(bytes[good]);
    if (byte < (good == 1 ? lead.low : 0x80) || byte > (good == 1 ? lead.high : 0xBF)) break;
    ++good;
  }
  return good;
}

}  // namespace

std::size_t AsciiPrefix(std::string_view bytes) {
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  while (at < bytes.size() && static_cast<std::uint8_t>(bytes[at]) < 0x80) ++at;
  return at;
}

std::size_t ValidUtf8Prefix(std::string_view bytes) {
  std::size_t at = 0;
  while (true) {
    at += AsciiPrefix(bytes.substr(at));
    if (at == bytes.size()) return at;
    const Lead lead = LeadOf(static_cast<std::uint8_t>(bytes[at]));
    if (lead.size == 0 || GoodBytes(bytes.substr(at), lead) != lead.size) return at;
    at += lead.size;
  }
}

BrokenUtf8 MeasureBrokenUtf8(std::string_view bytes) {
  const Lead lead = LeadOf(static_cast<std::uint8_t>(bytes[0]));
  if (lead.size == 0) return {1, false};
  const std::size_t good = GoodBytes(bytes, lead);
  return {good, good == bytes.size() && good < lead.size};
}

void AppendUtf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xC0 | (c >> 6)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    if (c >= 0xD800 && c < 0xE000) {
      out.append(kReplacementUtf8);
      return;
    }
    out.push_back(static_cast<char>(0xE0 | (c >> 12)));
    out.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x110000) {
    out.push_back(static_cast<char>(0xF0 | (c >> 18)));
    out.push_back(static_cast<char>(0x80 | ((c >> 12) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    out.append(kReplacementUtf8);
  }
}

}  // namespace stele::html
