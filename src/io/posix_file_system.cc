#include "io/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace stele::io {
namespace {

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

class PosixReadableFile final : public ReadableFile {
 public:
  PosixReadableFile(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override {
    std::size_t filled = 0;
    while (filled < out.size()) {
      const ssize_t n = ::pread(descriptor_.get(), out.data() + filled, out.size() - filled,
                                static_cast<off_t>(offset + filled));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return SystemError("cannot read " + path_, errno);
      if (n == 0) break;
      filled += static_cast<std::size_t>(n);
    }
    return filled;
  }

  Result<std::uint64_t> Size() const override {
    struct stat status = {};
    if (::fstat(descriptor_.get(), &status) != 0) {
      return SystemError("cannot ask for the size of " + path_, errno);
    }
    return static_cast<std::uint64_t>(status.st_size);
  }

 private:
  std::string path_;
  Descriptor descriptor_;
};

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  Status Append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::write(descriptor_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return SystemError("cannot write " + path_, errno);
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
  }

  Status Truncate(std::uint64_t size) override {
    struct stat status = {};
    if (::fstat(descriptor_.get(), &status) != 0) {
      return SystemError("cannot ask for the size of " + path_, errno);
    }
    if (size > static_cast<std::uint64_t>(status.st_size)) {
      return SystemError("cannot cut to more than there is " + path_, EINVAL);
    }
    if (::ftruncate(descriptor_.get(), static_cast<off_t>(size)) != 0) {
      return SystemError("cannot truncate " + path_, errno);
    }
    return {};
  }

  Status Sync() override {
    if (::fdatasync(descriptor_.get()) != 0) return SystemError("cannot sync " + path_, errno);
    return {};
  }

  Status Close() override {
    const int number = descriptor_.release();
    if (number >= 0 && ::close(number) != 0) return SystemError("cannot close " + path_, errno);
    return {};
  }

 private:
  std::string path_;
  Descriptor descriptor_;
};

class PosixUpdatableFile final : public UpdatableFile {
 public:
  PosixUpdatableFile(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  Status WriteAt(std::uint64_t offset, std::string_view bytes) override {
    struct stat status = {};
    if (::fstat(descriptor_.get(), &status) != 0) {
      return SystemError("cannot ask for the size of " + path_, errno);
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (offset > size || bytes.size() > size - offset) {
      return SystemError("cannot write beyond the end of " + path_, EINVAL);
    }
    while (!bytes.empty()) {
      const ssize_t n =
          ::pwrite(descriptor_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return SystemError("cannot write " + path_, errno);
      bytes.remove_prefix(static_cast<std::size_t>(n));
      offset += static_cast<std::uint64_t>(n);
    }
    return {};
  }

  Status Sync() override {
    if (::fdatasync(descriptor_.get()) != 0) return SystemError("cannot sync " + path_, errno);
    return {};
  }

 private:
  std::string path_;
  Descriptor descriptor_;
};

class PosixDisk final : public Disk {
 public:
  PosixDisk(std::string directory, Descriptor descriptor)
      : directory_(std::move(directory)), descriptor_(std::move(descriptor)) {}

  Status Sync() override {
    if (::syncfs(descriptor_.get()) == 0) return {};
    return SystemError("cannot sync the disk of " + directory_, errno);
  }

 private:
  const std::string directory_;
  const Descriptor descriptor_;
};

class PosixFileLock final : public FileLock {
 public:
  explicit PosixFileLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

 private:
  Descriptor descriptor_;  // closing it unlocks
};

Result<std::unique_ptr<WritableFile>> OpenForWriting(const std::string& path, int flags) {
  Descriptor descriptor(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0666));
  if (descriptor.get() < 0) return SystemError("cannot create " + path, errno);
  return std::unique_ptr<WritableFile>(
      std::make_unique<PosixWritableFile>(path, std::move(descriptor)));
}

}  // namespace

Error SystemError(std::string_view what, int error_number) {
  ErrorCode code = ErrorCode::kIo;
  if (error_number == ENOENT || error_number == ENOTDIR) code = ErrorCode::kNotFound;
  if (error_number == ENOSPC || error_number == EDQUOT) code = ErrorCode::kFull;
  if (error_number == EISDIR || error_number == EINVAL) code = ErrorCode::kInvalid;
  return {code, fmt::format("{}: {}", what, std::generic_category().message(error_number))};
}

Result<std::unique_ptr<ReadableFile>> PosixFileSystem::OpenForReading(const std::string& path) {
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.get() < 0) return SystemError("cannot open " + path, errno);
  struct stat status = {};
  if (::fstat(descriptor.get(), &status) == 0 && S_ISDIR(status.st_mode)) {
    return SystemError("cannot open " + path, EISDIR);
  }
  return std::unique_ptr<ReadableFile>(
      std::make_unique<PosixReadableFile>(path, std::move(descriptor)));
}

Result<std::unique_ptr<WritableFile>> PosixFileSystem::Create(const std::string& path) {
  return OpenForWriting(path, O_TRUNC);
}

Result<std::unique_ptr<WritableFile>> PosixFileSystem::OpenForAppending(const std::string& path) {
  return OpenForWriting(path, 0);
}

Result<std::unique_ptr<UpdatableFile>> PosixFileSystem::OpenForUpdating(const std::string& path) {
  Descriptor descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (descriptor.get() < 0) return SystemError("cannot open " + path, errno);
  return std::unique_ptr<UpdatableFile>(
      std::make_unique<PosixUpdatableFile>(path, std::move(descriptor)));
}

Status PosixFileSystem::Rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return SystemError(fmt::format("cannot rename {} to {}", from, to), errno);
  }
  return {};
}

Status PosixFileSystem::Remove(const std::string& path) {
  if (::remove(path.c_str()) != 0) return SystemError("cannot remove " + path, errno);
  return {};
}

Status PosixFileSystem::MakeDirectory(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    return SystemError("cannot make the directory " + path, errno);
  }
  return {};
}

Result<std::vector<std::string>> PosixFileSystem::List(const std::string& directory) {
  DIR* open = ::opendir(directory.c_str());
  if (open == nullptr) return SystemError("cannot list " + directory, errno);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(open)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

Result<bool> PosixFileSystem::Exists(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return SystemError("cannot look at " + path, errno);
}

Result<std::uint64_t> PosixFileSystem::FreeBytes(const std::string& directory) {
  struct statvfs status = {};
  if (::statvfs(directory.c_str(), &status) != 0) {
    return SystemError("cannot ask for the space in " + directory, errno);
  }
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

Result<std::unique_ptr<FileLock>> PosixFileSystem::Lock(const std::string& path) {
  Descriptor descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (descriptor.get() < 0) return SystemError("cannot lock " + path, errno);
  while (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return SystemError("cannot lock " + path, errno);
    return Error{ErrorCode::kBusy, "cannot lock " + path + ": somebody else has it"};
  }
  return std::unique_ptr<FileLock>(std::make_unique<PosixFileLock>(std::move(descriptor)));
}

Status PosixFileSystem::SyncDirectory(const std::string& directory) {
  const Descriptor descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0 || ::fsync(descriptor.get()) != 0) {
    return SystemError("cannot sync the directory " + directory, errno);
  }
  return {};
}

Result<std::unique_ptr<Disk>> PosixFileSystem::OpenDisk(const std::string& directory) {
  Descriptor descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0) return SystemError("cannot open the disk of " + directory, errno);
  return std::unique_ptr<Disk>(std::make_unique<PosixDisk>(directory, std::move(descriptor)));
}

}  // namespace stele::io
