#pragma once

#include "io/file_system.h"

namespace stele::io {

// Passes everything on, for whoever does one thing differently. Borrows `base` for life.
class ForwardingFileSystem : public FileSystem {
 public:
  explicit ForwardingFileSystem(FileSystem& base) : base_(base) {}

  Result<std::unique_ptr<ReadableFile>> OpenForReading(const std::string& path) override {
    return base_.OpenForReading(path);
  }
  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) override {
    return base_.Create(path);
  }
  Result<std::unique_ptr<WritableFile>> OpenForAppending(const std::string& path) override {
    return base_.OpenForAppending(path);
  }
  Result<std::unique_ptr<UpdatableFile>> OpenForUpdating(const std::string& path) override {
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
  Result<bool> Exists(const std::string& path) override { return base_.Exists(path); }
  Result<std::uint64_t> FreeBytes(const std::string& directory) override {
    return base_.FreeBytes(directory);
  }
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    return base_.Lock(path);
  }
  Status SyncDirectory(const std::string& directory) override {
    return base_.SyncDirectory(directory);
  }
  Result<std::unique_ptr<Disk>> OpenDisk(const std::string& directory) override {
    return base_.OpenDisk(directory);
  }

 protected:
  FileSystem& base_;
};

}  // namespace stele::io
