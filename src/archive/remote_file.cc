#include "archive/remote_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/ascii.h"

namespace stele::archive {
namespace {

constexpr std::string_view kScheme = "volume:";

// What is before the next '/', which is taken off with it.
std::string_view TakeName(std::string_view& path) {
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view name = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return name;
}

}  // namespace

std::string RemoteFile::Path() const {
  return fmt::format("{}{}/{}/{}/{}", kScheme, volume, key, bytes, name);
}

std::optional<RemoteFile> RemoteFile::FromPath(std::string_view path) {
  if (!path.starts_with(kScheme)) return std::nullopt;
  path.remove_prefix(kScheme.size());
  RemoteFile file;
  file.volume = TakeName(path);
  file.key = TakeName(path);
  const std::optional<std::uint64_t> bytes = ParseDecimal(TakeName(path));
  file.name = path;
  if (file.volume.empty() || file.key.empty() || !bytes || file.name.empty()) return std::nullopt;
  file.bytes = *bytes;
  return file;
}

}  // namespace stele::archive
