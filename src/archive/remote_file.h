#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stele::archive {

// A container's file in a volume that is reached by a connector, under a path of its own kind, so
// that whoever reads files by path reads it, too:
//
//   volume:NAME/KEY/BYTES/FILE
struct RemoteFile {
  std::string volume;       // of the archive
  std::string key;          // of the content that the file is
  std::uint64_t bytes = 0;  // as the ledger says
  std::string name;

  std::string Path() const;
  // Nothing for other paths.
  static std::optional<RemoteFile> FromPath(std::string_view path);

  friend bool operator==(const RemoteFile&, const RemoteFile&) = default;
};

}  // namespace stele::archive
