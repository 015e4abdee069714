#pragma once

#include <memory>
#include <string>
#include <vector>

#include "archive/remote_volumes.h"
#include "io/file_system.h"

namespace stele::archive {

// A disk on which the containers of remote volumes can be read, too, under the paths that
// RemoteFile gives them. Everything else is passed on. Thread-safe.
class ContainerFileSystem final : public io::FileSystem {
 public:
  // Borrows `base` for life.
  ContainerFileSystem(io::FileSystem& base, std::shared_ptr<const ArchiveLayout> layout)
      : base_(base), volumes_(base, std::move(layout)) {}

  RemoteVolumes& volumes() { return volumes_; }

  // Asks no server: reading says whether a remote file is there.
  Result<std::unique_ptr<io::ReadableFile>> OpenForReading(const std::string& path) override;
  Result<bool> Exists(const std::string& path) override;

  Result<std::unique_ptr<io::WritableFile>> Create(const std::string& path) override {
    return base_.Create(path);
  }
  Result<std::unique_ptr<io::WritableFile>> OpenForAppending(const std::string& path) override {
    return base_.OpenForAppending(path);
  }
  Result<std::unique_ptr<io::UpdatableFile>> OpenForUpdating(const std::string& path) override {
    return base_.OpenForUpdating(path);
  }
  Status Rename(const std::string& from, const std::string& to) override {
    return base_.Rename(from, to);
  }
  Status Remove(const std::string& path) override { return base_.Remove(path); }
  Status MakeDirectory(const std::string& path) override { return base_.MakeDirectory(path); }
  Result<std::vector<std::string>> List(const std::string& directory) override {
    return base_.List(directory);
  }
  Result<std::uint64_t> FreeBytes(const std::string& directory) override {
    return base_.FreeBytes(directory);
  }
  Result<std::unique_ptr<io::FileLock>> Lock(const std::string& path) override {
    return base_.Lock(path);
  }
  Status SyncDirectory(const std::string& directory) override {
    return base_.SyncDirectory(directory);
  }
  Result<std::unique_ptr<io::Disk>> OpenDisk(const std::string& directory) override {
    return base_.OpenDisk(directory);
  }

 private:
  io::FileSystem& base_;
  RemoteVolumes volumes_;
};

}  // namespace stele::archive
