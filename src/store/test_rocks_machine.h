#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "io/file_system.h"

// RocksDB on one of our file systems, so that tests can take the power from it.
namespace stele::store {

inline rocksdb::IOStatus RocksStatus(const Error& error) {
  switch (error.code) {
    case ErrorCode::kNotFound:
      return rocksdb::IOStatus::PathNotFound(error.text);
    case ErrorCode::kFull:
      return rocksdb::IOStatus::NoSpace(error.text);
    default:
      return rocksdb::IOStatus::IOError(error.text);
  }
}
inline rocksdb::IOStatus RocksStatus(const Status& status) {
  return status ? rocksdb::IOStatus::OK() : RocksStatus(status.error());
}

// RocksDB writes "dir//file" and "dir/".
inline std::string PlainPath(const std::string& path) {
  std::string plain;
  for (const char c : path) {
    if (c != '/' || !plain.ends_with('/')) plain += c;
  }
  if (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  return plain;
}

class RocksReadableFile final : public rocksdb::FSRandomAccessFile,
                                public rocksdb::FSSequentialFile {
 public:
  explicit RocksReadableFile(std::unique_ptr<io::ReadableFile> file) : file_(std::move(file)) {}

  rocksdb::IOStatus Read(std::uint64_t offset, std::size_t n, const rocksdb::IOOptions&,
                         rocksdb::Slice* result, char* scratch,
                         rocksdb::IODebugContext*) const override {
    const Result<std::size_t> read = file_->ReadAt(offset, std::span(scratch, n));
    if (!read) return RocksStatus(read.error());
    *result = rocksdb::Slice(scratch, *read);
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus Read(std::size_t n, const rocksdb::IOOptions& options, rocksdb::Slice* result,
                         char* scratch, rocksdb::IODebugContext* context) override {
    const rocksdb::IOStatus status = Read(offset_, n, options, result, scratch, context);
    if (status.ok()) offset_ += result->size();
    return status;
  }
  rocksdb::IOStatus Skip(std::uint64_t n) override {
    offset_ += n;
    return rocksdb::IOStatus::OK();
  }
  bool use_direct_io() const override { return false; }
  std::size_t GetRequiredBufferAlignment() const override { return 1; }
  rocksdb::IOStatus InvalidateCache(std::size_t, std::size_t) override {
    return rocksdb::IOStatus::OK();
  }

 private:
  const std::unique_ptr<io::ReadableFile> file_;
  std::uint64_t offset_ = 0;
};

class RocksWritableFile final : public rocksdb::FSWritableFile {
 public:
  explicit RocksWritableFile(std::unique_ptr<io::WritableFile> file) : file_(std::move(file)) {}

  using rocksdb::FSWritableFile::Append;
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions&,
                           rocksdb::IODebugContext*) override {
    size_ += data.size();
    return RocksStatus(file_->Append(data.ToStringView()));
  }
  rocksdb::IOStatus Flush(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return RocksStatus(file_->Sync());
  }
  rocksdb::IOStatus Close(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return RocksStatus(file_->Close());
  }
  std::uint64_t GetFileSize(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return size_;
  }

 private:
  const std::unique_ptr<io::WritableFile> file_;
  std::uint64_t size_ = 0;
};

class RocksDirectory final : public rocksdb::FSDirectory {
 public:
  RocksDirectory(io::FileSystem& fs, std::string path) : fs_(fs), path_(std::move(path)) {}
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return RocksStatus(fs_.SyncDirectory(path_));
  }

 private:
  io::FileSystem& fs_;
  const std::string path_;
};

class RocksLock final : public rocksdb::FileLock {
 public:
  explicit RocksLock(std::unique_ptr<io::FileLock> lock) : lock_(std::move(lock)) {}

 private:
  const std::unique_ptr<io::FileLock> lock_;
};

class NoLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

// RocksDB on one of our file systems.
class RocksFiles final : public rocksdb::FileSystem {
 public:
  explicit RocksFiles(io::FileSystem& fs) : fs_(fs) {}
  const char* Name() const override { return "RocksFiles"; }

  rocksdb::IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions&,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* file,
                                      rocksdb::IODebugContext*) override {
    return OpenForReading(path, file);
  }
  rocksdb::IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions&,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext*) override {
    return OpenForReading(path, file);
  }
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions&,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext*) override {
    auto created = fs_.Create(PlainPath(path));
    if (!created) return RocksStatus(created.error());
    *file = std::make_unique<RocksWritableFile>(*std::move(created));
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus NewDirectory(const std::string& path, const rocksdb::IOOptions&,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext*) override {
    *directory = std::make_unique<RocksDirectory>(fs_, PlainPath(path));
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus FileExists(const std::string& path, const rocksdb::IOOptions&,
                               rocksdb::IODebugContext*) override {
    const Result<bool> exists = fs_.Exists(PlainPath(path));
    if (!exists) return RocksStatus(exists.error());
    return *exists ? rocksdb::IOStatus::OK() : rocksdb::IOStatus::NotFound();
  }
  rocksdb::IOStatus GetChildren(const std::string& path, const rocksdb::IOOptions&,
                                std::vector<std::string>* names,
                                rocksdb::IODebugContext*) override {
    Result<std::vector<std::string>> listed = fs_.List(PlainPath(path));
    if (!listed) return RocksStatus(listed.error());
    *names = *std::move(listed);
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions&,
                               rocksdb::IODebugContext*) override {
    return RocksStatus(fs_.Remove(PlainPath(path)));
  }
  rocksdb::IOStatus CreateDir(const std::string& path, const rocksdb::IOOptions&,
                              rocksdb::IODebugContext*) override {
    return RocksStatus(fs_.MakeDirectory(PlainPath(path)));
  }
  rocksdb::IOStatus CreateDirIfMissing(const std::string& path, const rocksdb::IOOptions&,
                                       rocksdb::IODebugContext*) override {
    return RocksStatus(fs_.MakeDirectory(PlainPath(path)));
  }
  rocksdb::IOStatus DeleteDir(const std::string&, const rocksdb::IOOptions&,
                              rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus GetFileSize(const std::string& path, const rocksdb::IOOptions&,
                                std::uint64_t* size, rocksdb::IODebugContext*) override {
    const auto file = fs_.OpenForReading(PlainPath(path));
    if (!file) return RocksStatus(file.error());
    const Result<std::uint64_t> found = (*file)->Size();
    if (!found) return RocksStatus(found.error());
    *size = *found;
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus GetFileModificationTime(const std::string&, const rocksdb::IOOptions&,
                                            std::uint64_t* time,
                                            rocksdb::IODebugContext*) override {
    *time = 0;
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return RocksStatus(fs_.Rename(PlainPath(from), PlainPath(to)));
  }
  rocksdb::IOStatus LockFile(const std::string& path, const rocksdb::IOOptions&,
                             rocksdb::FileLock** lock, rocksdb::IODebugContext*) override {
    auto locked = fs_.Lock(PlainPath(path));
    if (!locked) return RocksStatus(locked.error());
    *lock = std::make_unique<RocksLock>(*std::move(locked)).release();
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus UnlockFile(rocksdb::FileLock* lock, const rocksdb::IOOptions&,
                               rocksdb::IODebugContext*) override {
    const std::unique_ptr<rocksdb::FileLock> owned(lock);
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus GetTestDirectory(const rocksdb::IOOptions&, std::string*,
                                     rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::NotSupported();
  }
  rocksdb::IOStatus NewLogger(const std::string&, const rocksdb::IOOptions&,
                              std::shared_ptr<rocksdb::Logger>* logger,
                              rocksdb::IODebugContext*) override {
    *logger = std::make_shared<NoLogger>();
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus GetAbsolutePath(const std::string& path, const rocksdb::IOOptions&,
                                    std::string* absolute, rocksdb::IODebugContext*) override {
    *absolute = path;
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus IsDirectory(const std::string& path, const rocksdb::IOOptions&,
                                bool* is_directory, rocksdb::IODebugContext*) override {
    *is_directory = fs_.List(PlainPath(path)).ok();
    return rocksdb::IOStatus::OK();
  }

 private:
  template <typename File>
  rocksdb::IOStatus OpenForReading(const std::string& path, std::unique_ptr<File>* file) {
    auto opened = fs_.OpenForReading(PlainPath(path));
    if (!opened) return RocksStatus(opened.error());
    *file = std::make_unique<RocksReadableFile>(*std::move(opened));
    return rocksdb::IOStatus::OK();
  }

  io::FileSystem& fs_;
};

// RocksDB waits a second after each failure of the disk, in case it gets better. Ours does not.
class HastyClock final : public rocksdb::SystemClockWrapper {
 public:
  HastyClock() : SystemClockWrapper(rocksdb::SystemClock::Default()) {}
  const char* Name() const override { return "HastyClock"; }
  void SleepForMicroseconds(int) override { std::this_thread::yield(); }
};

class RocksMachine final : public rocksdb::EnvWrapper {
 public:
  explicit RocksMachine(io::FileSystem& fs)
      : EnvWrapper(rocksdb::NewCompositeEnv(std::make_shared<RocksFiles>(fs))) {
    system_clock_ = std::make_shared<HastyClock>();
  }
};

}  // namespace stele::store
