#include "store/compression.h"

#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr int kGzipLevel = 6;

bool Fits(std::string_view rule, std::string_view type) {
  if (rule.ends_with('*')) return type.starts_with(rule.substr(0, rule.size() - 1));
  if (rule.starts_with('*')) return type.ends_with(rule.substr(1));
  return rule == type;
}

}  // namespace

CompressionTable::CompressionTable() {
  for (const char* type : {"", "text/*", "*+xml", "*+json", "application/json", "application/xml",
                           "application/javascript", "application/x-javascript",
                           "application/ecmascript", "application/rss", "application/postscript",
                           "application/rtf", "application/wasm", "application/x-tar", "font/ttf",
                           "font/otf", "image/bmp", "image/x-icon", "image/vnd.microsoft.icon"}) {
    rules_.push_back({type, {"gzip", kGzipLevel}});
  }
}

Compression CompressionTable::Choose(std::string_view media_type) const {
  const std::string type = AsciiLower(TrimSpace(media_type.substr(0, media_type.find(';'))));
  for (const Rule& rule : rules_) {
    if (Fits(rule.media_type, type)) return rule.compression;
  }
  return {"identity", 0};
}

}  // namespace stele::store
