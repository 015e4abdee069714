#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

// The one seam to the disk. Paths are plain strings with '/' between names. Errors: kNotFound when
// a name is missing, kFull when there is no space, kInvalid for what cannot work (a directory
// opened as a file), kIo for the rest; the text names the path.
namespace stele::io {

// An open file that is read by position. Thread-safe.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  // Fills `out` from `offset` on; fewer bytes than asked only at the end of the file.
  virtual Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const = 0;
  virtual Result<std::uint64_t> Size() const = 0;
};

// An open file that grows at its end. Not thread-safe. Nothing is durable before Sync() succeeds;
// after a failed Sync() nothing is known about the bytes since the last good one.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  // After an error some of the bytes may be there.
  virtual Status Append(std::string_view bytes) = 0;
  // Cuts it to its first `size` bytes. Errors: kInvalid when it has fewer.
  virtual Status Truncate(std::uint64_t size) = 0;
  virtual Status Sync() = 0;
  // Reports what a late write may still find wrong. Closing does not sync.
  virtual Status Close() = 0;
};

// An open file whose bytes are replaced in place; its size stays. Not thread-safe. Nothing is
// durable before Sync() succeeds, and a crash may leave a part of the new bytes.
class UpdatableFile {
 public:
  virtual ~UpdatableFile() = default;
  // Errors: kInvalid when the bytes would reach beyond the end; nothing is written then.
  virtual Status WriteAt(std::uint64_t offset, std::string_view bytes) = 0;
  virtual Status Sync() = 0;
};

// Held until destroyed, or until its process ends.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

// A whole disk. Thread-safe.
class Disk {
 public:
  virtual ~Disk() = default;
  // Makes everything durable that was written to it before, files and names, whoever wrote it.
  // Errors: also those of earlier writes, found out since the disk was opened.
  virtual Status Sync() = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<ReadableFile>> OpenForReading(const std::string& path) = 0;
  // A new, empty file; what stood there before is gone.
  virtual Result<std::unique_ptr<WritableFile>> Create(const std::string& path) = 0;
  // The file is created when missing.
  virtual Result<std::unique_ptr<WritableFile>> OpenForAppending(const std::string& path) = 0;
  // The file must exist.
  virtual Result<std::unique_ptr<UpdatableFile>> OpenForUpdating(const std::string& path) = 0;

  // Atomic: at any moment, also after a crash, `to` is the old file or the new one.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  // A file, or a directory that is empty.
  virtual Status Remove(const std::string& path) = 0;
  // Fine when it exists already. The parent must exist.
  virtual Status MakeDirectory(const std::string& path) = 0;
  // Names in it, sorted, without "." and "..".
  virtual Result<std::vector<std::string>> List(const std::string& directory) = 0;
  virtual Result<bool> Exists(const std::string& path) = 0;
  // What may still be written to the disk that holds `directory`.
  virtual Result<std::uint64_t> FreeBytes(const std::string& directory) = 0;
  // For whoever must have something for itself: the file at `path`, created when missing, stands
  // for it. Errors: kBusy when it is held, by this process or another.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path) = 0;
  // Makes creations, renames and removals in this directory durable.
  virtual Status SyncDirectory(const std::string& directory) = 0;
  // The disk that holds `directory`.
  virtual Result<std::unique_ptr<Disk>> OpenDisk(const std::string& directory) = 0;
};

// "a/b/c" is in "a/b", "c" is in ".", "/c" is in "/".
std::string ParentDirectory(const std::string& path);

Result<std::string> ReadFile(FileSystem& fs, const std::string& path);

// Puts `content` at `path`, durably and all or nothing: a temporary file beside it is written,
// synced and renamed, and the directory is synced. On error the old file is untouched, or the new
// one is complete but its name may not yet be durable.
Status ReplaceFile(FileSystem& fs, const std::string& path, std::string_view content);

}  // namespace stele::io
