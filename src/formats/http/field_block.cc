#include "formats/http/field_block.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "util/ascii.h"

namespace stele::http {
namespace {

constexpr std::array<bool, 256> kTokenCharacters = [] {
  std::array<bool, 256> table{};
  for (int c = 0; c < 128; ++c) table[c] = IsAsciiAlnum(static_cast<char>(c));
  for (const char c : std::string_view("!#$%&'*+-.^_`|~"))
    table[static_cast<unsigned char>(c)] = true;
  return table;
}();

// Some servers end their lines in CR CR LF.
constexpr int kReturnsMax = 2;

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

bool IsToken(std::string_view name) {
  if (name.empty()) return false;
  bool good = true;
  for (const char c : name) good &= IsTokenCharacter(c);
  return good;
}

void ParseFieldLine(std::string_view line, Headers& headers, Defects& defects) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    defects.Add(Defect::kLineWithoutColon);
    headers.Add({}, TrimBlanks(line));
    return;
  }
  std::string_view name = line.substr(0, colon);
  if (!IsToken(name)) {
    const std::string_view trimmed = TrimBlanks(name);
    if (!name.empty() && IsBlank(name.back())) defects.Add(Defect::kSpaceBeforeColon);
    if (!IsToken(trimmed)) defects.Add(Defect::kBadFieldName);
    name = trimmed;
  }
  headers.Add(name, TrimBlanks(line.substr(colon + 1)));
}

}  // namespace

bool IsTokenCharacter(char c) { return kTokenCharacters[static_cast<unsigned char>(c)]; }

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view TakeLine(std::string_view& bytes, Defects& defects) {
  const void* found = std::memchr(bytes.data(), '\n', bytes.size());
  const std::size_t length =
      found == nullptr ? bytes.size()
                       : static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
  std::string_view line = bytes.substr(0, length);
  bytes.remove_prefix(found == nullptr ? length : length + 1);
  if (!line.empty() && line.back() == '\r') {
    for (int i = 0; i < kReturnsMax && !line.empty() && line.back() == '\r'; ++i) {
      line.remove_suffix(1);
    }
  } else if (found != nullptr) {
    defects.Add(Defect::kBareLineFeed);
  }
  return line;
}

std::size_t FindHeadEnd(std::string_view bytes, std::size_t& scanned) {
  // `scanned` stays at the line feed whose next line is not yet known.
  for (;;) {
    const std::size_t feed = bytes.find('\n', scanned);
    if (feed == kNotFound) {
      scanned = bytes.size();
      return kNotFound;
    }
    std::size_t next = feed + 1;
    const std::size_t returns_end = next + kReturnsMax;
    while (next < bytes.size() && next < returns_end && bytes[next] == '\r') ++next;
    if (next == bytes.size()) {
      scanned = feed;
      return kNotFound;
    }
    if (bytes[next] == '\n') return next + 1;
    scanned = next;
  }
}

void ParseFields(std::string_view block, Headers& headers, Defects& defects) {
  while (!block.empty()) {
    const std::string_view line = TakeLine(block, defects);
    if (line.empty()) return;
    if (!IsBlank(line.front()) || headers.fields().empty()) {
      ParseFieldLine(line, headers, defects);
      continue;
    }
    defects.Add(Defect::kFoldedLine);
    const std::string_view more = TrimBlanks(line);
    if (!more.empty()) headers.ExtendLast(more.data() + more.size());
  }
}

void NoteCharacters(std::string_view head, Defects& defects) {
  // Without branches and in groups, so that the compiler takes many bytes at once.
  constexpr std::size_t kGroup = 16;
  std::array<unsigned char, kGroup> eight_bit{};
  std::array<unsigned char, kGroup> control{};
  const auto note = [&](std::size_t i) {
    const auto byte = static_cast<unsigned char>(head[i]);
    eight_bit[i] |= byte & 0x80;
    control[i] |= static_cast<unsigned char>(
        ((byte < 0x20) & (byte != '\t') & (byte != '\n') & (byte != '\r')) | (byte == 0x7f));
  };
  for (; head.size() >= kGroup; head.remove_prefix(kGroup)) {
    for (std::size_t i = 0; i < kGroup; ++i) note(i);
  }
  for (std::size_t i = 0; i < head.size(); ++i) note(i);
  const auto is_set = [](unsigned char byte) { return byte != 0; };
  if (std::ranges::any_of(eight_bit, is_set)) defects.Add(Defect::kEightBit);
  if (std::ranges::any_of(control, is_set)) defects.Add(Defect::kControlCharacter);
}

}  // namespace stele::http
