#pragma once

#include <atomic>

#include "io/file_system.h"

namespace stele::io {

// Passes everything on to another file system until the `fail_at`-th operation (counted from 1,
// over all its files), which fails with kIo and does nothing; a failing Append() or WriteAt()
// leaves half of its bytes, as a disk does. All operations after it fail too: a disk that is gone
// stays gone. Borrows `base` for life.
class FaultFileSystem final : public FileSystem {
 public:
  FaultFileSystem(FileSystem& base, int fail_at) : base_(base), fail_at_(fail_at) {}

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

  // The disk is gone from now on.
  void FailFromNowOn() { operations_ = fail_at_; }

  // Counts one operation; true when it has to fail.
  bool Fails() { return ++operations_ >= fail_at_; }

 private:
  FileSystem& base_;
  const int fail_at_;
  std::atomic<int> operations_ = 0;
};

}  // namespace stele::io
