#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_system.h"
#include "io/stream.h"
#include "util/result.h"

namespace stele::zip {

enum class Method { kStored, kDeflated, kOther };

// A file in a ZIP file, as the central directory tells of it.
struct Entry {
  std::string name;  // relative, with '/' between names, and no ".." among them
  Method method = Method::kStored;
  bool is_encrypted = false;
  std::uint32_t crc32 = 0;
  std::uint64_t packed_bytes = 0;  // as it lies there
  std::uint64_t bytes = 0;
  std::uint64_t header = 0;  // where its local header begins
  std::uint64_t limit = 0;   // where the next entry or the directory begins
};

// Begin and end of bytes in a file.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Whether bytes are the begin of a ZIP file. Four are enough.
bool LooksLikeZip(std::string_view begin);

// Reads a ZIP file. What it says of itself is believed only where it fits together: entries lie one
// after the other, between them nothing is shared, and sizes and checksums are those of the bytes.
// Thread-safe.
class ZipReader {
 public:
  // Directories with more are not read.
  static constexpr std::uint64_t kDirectoryBytesMax = std::uint64_t{128} << 20;

  // Errors: kInvalid when it is no ZIP file, or one of several parts; kCorrupt; kFull; kIo.
  static Result<std::unique_ptr<ZipReader>> Open(std::shared_ptr<const io::ReadableFile> file);

  // In the order of the file.
  const std::vector<Entry>& entries() const { return entries_; }
  // Null when there is none of that name.
  const Entry* Find(std::string_view name) const;
  // The entry that may hold this byte of the file; null when there is none.
  const Entry* At(std::uint64_t offset) const;

  // Where its bytes lie, packed as they are. Errors: kCorrupt, kIo.
  Result<Range> RangeOf(const Entry& entry) const;
  // A stored entry as a file of its own. Errors: kInvalid when it is not stored; kCorrupt, kIo.
  Result<std::unique_ptr<io::ReadableFile>> OpenStored(const Entry& entry) const;
  // Its content from begin to end. At the end size and checksum are compared. Errors: kInvalid when
  // the method is none that we know; kCorrupt, kIo, also when it is read.
  Result<std::unique_ptr<io::Source>> OpenContent(const Entry& entry) const;
  // The same in memory. Errors: also kFull when it has more than `bytes_max`.
  Result<std::string> ReadContent(const Entry& entry, std::size_t bytes_max) const;

 private:
  explicit ZipReader(std::shared_ptr<const io::ReadableFile> file) : file_(std::move(file)) {}

  std::shared_ptr<const io::ReadableFile> file_;
  std::vector<Entry> entries_;
};

}  // namespace stele::zip
