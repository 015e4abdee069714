#include "store/compression.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr int kGzipLevel = 1;

bool Fits(std::string_view rule, std::string_view type) {
  if (rule.ends_with('*')) return type.starts_with(rule.substr(0, rule.size() - 1));
  if (rule.starts_with('*')) return type.ends_with(rule.substr(1));
  return rule == type;
}

// The levels that each codec knows. identity is not named: it has none.
struct Levels {
  std::string_view codec;
  int usual = 0;
  int most = 0;
};
constexpr Levels kLevels[] = {{"gzip", kGzipLevel, 9}, {"deflate", kGzipLevel, 9}, {"zstd", 3, 19}};

// Nothing when there is no such codec or level.
std::optional<Compression> CompressionFrom(std::string_view codec, std::string_view level) {
  if (codec == "identity" && level.empty()) return Compression{"identity", 0};
  for (const Levels& levels : kLevels) {
    if (levels.codec != codec) continue;
    const auto number = ParseDecimal(level);
    if (level.empty()) return Compression{std::string(codec), levels.usual};
    if (!number || *number < 1 || *number > static_cast<std::uint64_t>(levels.most)) return {};
    return Compression{std::string(codec), static_cast<int>(*number)};
  }
  return std::nullopt;
}

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = TrimSpace(line)).empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

}  // namespace

Result<CompressionTable> CompressionTable::Parse(std::string_view text) {
  std::vector<Rule> rules;
  int number = 0;
  for (std::string_view line : Split(text, '\n')) {
    ++number;
    const std::vector<std::string_view> words = Words(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    const auto wrong = [&](std::string_view what) {
      return Error{ErrorCode::kInvalid, fmt::format("line {}: {}", number, what)};
    };
    if (words.size() < 2 || words.size() > 3) return wrong("a media type, a codec and its level");
    const auto compression = CompressionFrom(words[1], words.size() == 3 ? words[2] : "");
    if (!compression) {
      return wrong("the codec is identity, gzip 1-9, deflate 1-9 or zstd 1-19");
    }
    rules.push_back({words[0] == "-" ? "" : AsciiLower(words[0]), *compression});
  }
  return CompressionTable(std::move(rules));
}

CompressionTable::CompressionTable() {
  for (const char* type : {"", "text/*", "*+xml", "*+json", "application/json", "application/xml",
                           "application/javascript", "application/x-javascript",
                           "application/ecmascript", "application/rss", "application/postscript",
                           "application/rtf", "application/wasm", "application/x-tar", "font/ttf",
                           "font/otf", "image/bmp", "image/x-icon", "image/vnd.microsoft.icon"}) {
    rules_.push_back({type, {"gzip", kGzipLevel}});
  }
}

std::optional<Compression> ParseCompression(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return CompressionFrom(text, "");
  if (colon + 1 == text.size()) return std::nullopt;
  return CompressionFrom(text.substr(0, colon), text.substr(colon + 1));
}

Compression CompressionTable::Choose(std::string_view media_type, std::string_view codec) const {
  if (codec.empty()) return Choose(media_type);
  return ParseCompression(codec).value_or(Compression{std::string(codec), 0});
}

Compression CompressionTable::Choose(std::string_view media_type) const {
  const std::string type = AsciiLower(TrimSpace(media_type.substr(0, media_type.find(';'))));
  for (const Rule& rule : rules_) {
    if (Fits(rule.media_type, type)) return rule.compression;
  }
  return {"identity", 0};
}

}  // namespace stele::store
