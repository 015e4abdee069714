#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/capture.h"
#include "catalog/page_cache.h"
#include "io/file_system.h"
#include "util/result.h"

// New captures, one after another as they came, in a file that grows. A writer never goes on with
// the file of an earlier one. docs/formats/captures.md.
namespace stele::catalog {

inline constexpr std::size_t kCaptureLogHeadSize = 16;

// Adds a row to bytes of a log that lie at `offset` of it. Requires: it passes CheckCapture().
void AppendLogRow(const Capture& capture, std::uint64_t offset, std::string& log);

// Not thread-safe. After an error nothing but the destructor may be called.
class CaptureLogWriter {
 public:
  // The file's name is durable.
  static Result<std::unique_ptr<CaptureLogWriter>> Create(io::FileSystem& fs, std::string path);

  // Other processes can read the rows; they are durable after the next Sync(). Adds where each
  // begins to `offsets`. Requires: each passes CheckCapture().
  Status Append(std::span<const Capture> captures, std::vector<std::uint64_t>& offsets);
  Status Sync();

  std::uint64_t bytes() const { return bytes_; }

 private:
  explicit CaptureLogWriter(std::unique_ptr<io::WritableFile> file) : file_(std::move(file)) {}

  std::unique_ptr<io::WritableFile> file_;
  std::uint64_t bytes_ = 0;
  bool all_synced_ = false;
  std::string buffer_;
};

// Thread-safe. Borrows `cache` for life.
class CaptureLog {
 public:
  static Result<std::unique_ptr<CaptureLog>> Open(io::FileSystem& fs, std::string path,
                                                  PageCache& cache);
  ~CaptureLog();

  // The row that begins at `offset`. Errors: kCorrupt.
  Result<HeldCapture> Read(std::uint64_t offset) const;

  // The same in the bytes of a whole log; the row points into them. Errors: kCorrupt.
  static Result<Capture> RowIn(std::string_view log, std::uint64_t offset);

  // Tells of all rows from `offset` on (0: the first) that are complete, in order. Returns where
  // the first one begins, or would, that is not: where to go on later. The texts are valid during
  // the call.
  using Take = std::function<void(const Capture& capture, std::uint64_t offset)>;
  Result<std::uint64_t> Scan(std::uint64_t offset, const Take& take) const;

  // Nothing, when the bytes from `offset` on were never synced, as far as the file tells: what is
  // incomplete there is the end of a writer that was killed, or whose machine lost power. Else an
  // error: rows that were durable are damaged. `offset` is what Scan() returned.
  Status CheckTail(std::uint64_t offset) const;

 private:
  CaptureLog(std::string path, std::unique_ptr<io::ReadableFile> file, PageCache& cache)
      : path_(std::move(path)), file_(std::move(file)), cache_(cache), number_(cache.NewFile()) {}
  Error Damage(std::uint64_t offset) const;
  // A block of the file, as far as it was written.
  Result<Page> Block(std::uint32_t block) const;
  // Of a row that goes on in the next block.
  Result<HeldCapture> ReadAlone(std::uint64_t offset) const;

  const std::string path_;
  const std::unique_ptr<io::ReadableFile> file_;
  PageCache& cache_;
  const std::uint64_t number_;                          // in the cache
  mutable std::atomic<std::uint32_t> blocks_kept_ = 0;  // those that may be there are before this
};

}  // namespace stele::catalog
