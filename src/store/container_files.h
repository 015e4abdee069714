#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_system.h"

namespace stele::store {

// "00000012.warc.gz", with ".open" behind it until the container is sealed.
struct ContainerName {
  std::uint64_t serial = 0;
  bool sealed = false;

  static std::optional<ContainerName> Parse(std::string_view name);
  std::string Text() const;
};

// The containers of a directory, by their serials, from 1. Thread-safe. Borrows `fs` for life.
class ContainerFiles {
 public:
  ContainerFiles(io::FileSystem& fs, std::string directory)
      : fs_(fs), directory_(std::move(directory)) {}

  io::FileSystem& fs() { return fs_; }
  const std::string& directory() const { return directory_; }
  std::string PathOf(const ContainerName& name) const;
  std::string TornPathOf(std::uint64_t serial, int number) const;

  // By serial. Of a container that is there twice, sealed and not, the sealed one counts.
  Result<std::vector<ContainerName>> List();

  // Whether sealed by now or not. Files that were used lately stay open.
  // Errors: kNotFound, kIo.
  Result<std::shared_ptr<const io::ReadableFile>> Open(std::uint64_t serial);

  // Takes a sealed container away, durably. Whoever has it open reads on.
  // Errors: kNotFound, kIo.
  Status Remove(std::uint64_t serial);

  // Forgets files that are open: they have been replaced.
  void Forget();

 private:
  struct OpenFile {
    std::uint64_t serial = 0;
    std::shared_ptr<const io::ReadableFile> file;
  };
  static constexpr std::size_t kOpenFilesMax = 64;

  io::FileSystem& fs_;
  const std::string directory_;
  std::mutex mutex_;
  std::list<OpenFile> open_;  // the one used last comes first
};

// Makes the file `to` of a part of another, and syncs it, but not its name.
Status CopyRange(io::FileSystem& fs, const io::ReadableFile& from, std::uint64_t begin,
                 std::uint64_t end, const std::string& to);

// The first `size` bytes of a file that others may lengthen.
class FilePrefix final : public io::ReadableFile {
 public:
  FilePrefix(std::shared_ptr<const io::ReadableFile> file, std::uint64_t size)
      : file_(std::move(file)), size_(size) {}
  Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override;
  Result<std::uint64_t> Size() const override { return size_; }

 private:
  const std::shared_ptr<const io::ReadableFile> file_;
  const std::uint64_t size_;
};

}  // namespace stele::store
