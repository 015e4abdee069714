#include "cli/file_tree.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>

#include "util/ascii.h"

namespace stele::cli {
namespace {

namespace fs = std::filesystem;

struct Extension {
  std::string_view name;
  std::string_view media_type;
};
constexpr Extension kExtensions[] = {
    {"html", "text/html"},        {"htm", "text/html"},       {"xhtml", "application/xhtml+xml"},
    {"css", "text/css"},          {"js", "text/javascript"},  {"mjs", "text/javascript"},
    {"txt", "text/plain"},        {"md", "text/markdown"},    {"csv", "text/csv"},
    {"json", "application/json"}, {"xml", "application/xml"}, {"svg", "image/svg+xml"},
    {"png", "image/png"},         {"jpg", "image/jpeg"},      {"jpeg", "image/jpeg"},
    {"gif", "image/gif"},         {"webp", "image/webp"},     {"avif", "image/avif"},
    {"ico", "image/x-icon"},      {"mp3", "audio/mpeg"},      {"mp4", "video/mp4"},
    {"webm", "video/webm"},       {"woff", "font/woff"},      {"woff2", "font/woff2"},
    {"pdf", "application/pdf"},   {"zip", "application/zip"}, {"gz", "application/gzip"},
    {"zst", "application/zstd"},  {"xz", "application/x-xz"}, {"bz2", "application/x-bzip2"},
    {"wasm", "application/wasm"}};

Error Failed(const std::string& path, const std::error_code& code) {
  const bool missing = code == std::errc::no_such_file_or_directory;
  return {missing ? ErrorCode::kNotFound : ErrorCode::kIo,
          fmt::format("{}: {}", path, code.message())};
}

Status AddFilesBelow(const std::string& directory, std::vector<std::string>& files) {
  std::error_code code;
  std::vector<std::string> found;
  fs::recursive_directory_iterator entry(directory, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    if (entry->is_regular_file(code)) found.push_back(entry->path());
    code.clear();  // a link that leads nowhere is no file
  }
  if (code) return Failed(directory, code);
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
  return {};
}

// What a shell would make of it; nothing when that is nothing.
std::vector<std::string> Expand(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found = {};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return paths;
}

}  // namespace

Result<std::vector<std::string>> FilesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code code;
    if (path.find_first_of("*?[") != std::string::npos && !fs::exists(path, code)) {
      if (const std::vector<std::string> matches = Expand(path); !matches.empty()) {
        Result<std::vector<std::string>> more = FilesOf(matches);
        if (!more) return more;
        files.insert(files.end(), more->begin(), more->end());
        continue;
      }
    }
    if (path == "-" || !fs::is_directory(path, code)) {
      files.push_back(path);
      continue;
    }
    const Status added = AddFilesBelow(path, files);
    if (!added) return added.error();
  }
  return files;
}

std::string_view MediaTypeOf(std::string_view path) {
  const std::size_t dot = path.find_last_of("./");
  if (dot == std::string_view::npos || path[dot] != '.') return "";
  const std::string extension = AsciiLower(path.substr(dot + 1));
  for (const Extension& known : kExtensions) {
    if (known.name == extension) return known.media_type;
  }
  return "";
}

}  // namespace stele::cli
