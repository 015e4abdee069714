#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "io/file_system.h"
#include "util/result.h"

// Bytes one after another: from files, pipes and memory, and to them.
namespace stele::io {

class Source {
 public:
  virtual ~Source() = default;
  // Fills at least one byte of `out`; 0 only at the end.
  virtual Result<std::size_t> Read(std::span<char> out) = 0;
  // Bytes by position, without moving Read(). Null where there is no position, as in a pipe.
  virtual const ReadableFile* file() const { return nullptr; }
};

class Sink {
 public:
  virtual ~Sink() = default;
  virtual Status Write(std::string_view bytes) = 0;
};

// Reads a file to its end.
class FileSource final : public Source {
 public:
  explicit FileSource(std::unique_ptr<ReadableFile> file, std::uint64_t offset = 0)
      : file_(std::move(file)), offset_(offset) {}
  Result<std::size_t> Read(std::span<char> out) override;
  const ReadableFile* file() const override { return file_.get(); }

 private:
  std::unique_ptr<ReadableFile> file_;
  std::uint64_t offset_;
};

// Reads an open file descriptor, such as standard input (0). Does not close it.
class DescriptorSource final : public Source {
 public:
  explicit DescriptorSource(int descriptor) : descriptor_(descriptor) {}
  Result<std::size_t> Read(std::span<char> out) override;

 private:
  int descriptor_;
};

// Reads bytes in memory, which must outlive it.
class MemorySource final : public Source {
 public:
  explicit MemorySource(std::string_view bytes) : rest_(bytes) {}
  Result<std::size_t> Read(std::span<char> out) override;

 private:
  std::string_view rest_;
};

// Appends to a file, which must outlive it.
class FileSink final : public Sink {
 public:
  explicit FileSink(WritableFile& file) : file_(file) {}
  Status Write(std::string_view bytes) override { return file_.Append(bytes); }

 private:
  WritableFile& file_;
};

// Writes to an open file descriptor, such as standard output (1). Does not close it.
class DescriptorSink final : public Sink {
 public:
  explicit DescriptorSink(int descriptor) : descriptor_(descriptor) {}
  Status Write(std::string_view bytes) override;

 private:
  int descriptor_;
};

// Collects in memory.
class StringSink final : public Sink {
 public:
  Status Write(std::string_view bytes) override {
    content_ += bytes;
    return {};
  }
  const std::string& content() const { return content_; }
  std::string Take() { return std::exchange(content_, {}); }

 private:
  std::string content_;
};

}  // namespace stele::io
