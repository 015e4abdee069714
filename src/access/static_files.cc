#include "access/static_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "formats/url/percent.h"
#include "util/ascii.h"
#include "util/checksum.h"

namespace stele::access {
namespace {

// Files that Vite makes, with a hash in the name.
constexpr std::string_view kHashedFolder = "assets/";

std::string_view TypeOf(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".html", kHtmlType},
      {".js", "text/javascript; charset=utf-8"},
      {".mjs", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", kJsonType},
      {".map", kJsonType},
      {".webmanifest", "application/manifest+json"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".woff2", "font/woff2"},
      {".txt", kPlainType},
      {".md", kPlainType},
      {".yaml", "application/yaml"}};
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

}  // namespace

std::optional<std::string> SafePath(std::string_view path) {
  const std::string decoded = url::PercentDecode(path);
  for (const std::string_view part : Split(decoded, '/')) {
    if (part.empty() || part.starts_with('.')) return std::nullopt;
  }
  const bool bad = std::any_of(decoded.begin(), decoded.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '\\';
  });
  if (bad) return std::nullopt;
  return decoded;
}

std::optional<StaticFiles::File> StaticFiles::Read(std::string_view path) const {
  if (directory_.empty()) return std::nullopt;
  const std::optional<std::string> safe = SafePath(path);
  if (!safe) return std::nullopt;
  Result<std::string> content = io::ReadFile(fs_, fmt::format("{}/{}", directory_, *safe));
  if (!content) return std::nullopt;
  File file;
  file.content = *std::move(content);
  file.type = TypeOf(*safe);
  file.is_html = file.type == kHtmlType;
  file.tag = fmt::format("\"{:016x}\"", ChecksumOf(file.content));
  file.never_changes = safe->starts_with(kHashedFolder);
  return file;
}

void SendFile(const Call& call, const StaticFiles::File& file, std::string_view policy,
              std::vector<net::HeaderField> fields) {
  net::ResponseStart start;
  start.fields = {
      {"Content-Type", file.type},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"ETag", file.tag},
      {"Cache-Control", file.never_changes ? "public, max-age=31536000, immutable" : "no-cache"},
      {"Content-Security-Policy", std::string(policy)}};
  std::move(fields.begin(), fields.end(), std::back_inserter(start.fields));
  if (NamesTag(call.Header("If-None-Match"), file.tag)) {
    start.status = 304;
    static_cast<void>(call.response.Reply(start, ""));
    return;
  }
  Send(call, std::move(start), file.content);
}

}  // namespace stele::access
