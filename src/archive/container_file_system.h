#pragma once

#include <memory>
#include <string>

#include "archive/remote_volumes.h"
#include "io/forwarding_file_system.h"

namespace stele::archive {

// A disk on which the containers of remote volumes can be read, too, under the paths that
// RemoteFile gives them. Everything else is passed on. Thread-safe.
class ContainerFileSystem final : public io::ForwardingFileSystem {
 public:
  // Borrows `base` for life.
  ContainerFileSystem(io::FileSystem& base, std::shared_ptr<const ArchiveLayout> layout)
      : ForwardingFileSystem(base), volumes_(base, std::move(layout)) {}

  RemoteVolumes& volumes() { return volumes_; }

  // Asks no server: reading says whether a remote file is there.
  Result<std::unique_ptr<io::ReadableFile>> OpenForReading(const std::string& path) override;
  Result<bool> Exists(const std::string& path) override;

 private:
  RemoteVolumes volumes_;
};

}  // namespace stele::archive
