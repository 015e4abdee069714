#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "io/file_system.h"
#include "io/random.h"

namespace stele::io {

// A disk in memory that can lose power. It remembers what was synced: after Crash(), a file holds
// what it held at its last Sync(), and a directory the names it had at its last SyncDirectory().
// A directory that was removed does not come back. Thread-safe. The root directories "." and "/"
// always exist.
class MemoryFileSystem final : public FileSystem {
 public:
  MemoryFileSystem();
  ~MemoryFileSystem() override;

  Result<std::unique_ptr<ReadableFile>> OpenForReading(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> OpenForAppending(const std::string& path) override;
  Result<std::unique_ptr<UpdatableFile>> OpenForUpdating(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status MakeDirectory(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& directory) override;
  Result<bool> Exists(const std::string& path) override;
  Result<std::uint64_t> FreeBytes(const std::string& directory) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
  Status SyncDirectory(const std::string& directory) override;
  Result<std::unique_ptr<Disk>> OpenDisk(const std::string& directory) override;

  // Everything survives from now on.
  void SyncAll();
  // Power off, power on. Files that are still open no longer reach the disk, and
  // locks are gone.
  void Crash();
  // The same, but of what was not synced any part may have reached the disk: a directory has its
  // old names or its new ones, and bytes behind those that were synced are there, or some of them,
  // or something else.
  void Crash(Random& dice);

  // How much may still be written, from now on; what is removed or cut off comes back.
  void SetFreeBytes(std::uint64_t bytes);

  struct File;
  struct Space;
  struct LockedPaths;

 private:
  struct Directory;
  using FilePointer = std::shared_ptr<File>;

  // Requires: mutex_ is held. Null when missing.
  Directory* DirectoryOf(const std::string& path);
  FilePointer FileAt(const std::string& path);

  std::mutex mutex_;
  const std::shared_ptr<Space> space_;
  std::shared_ptr<LockedPaths> locked_;
  std::map<std::string, std::unique_ptr<Directory>> directories_;
};

}  // namespace stele::io
