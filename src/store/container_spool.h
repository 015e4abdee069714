#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "codec/block_deflater.h"
#include "codec/buffer.h"
#include "io/file_system.h"
#include "io/stream.h"
#include "store/container_log.h"
#include "store/signature.h"
#include "store/volume.h"
#include "util/digest.h"

namespace stele::store {

// A content on its way into a container: in memory while it is small, else in a file, compressed if
// it came so. Not thread-safe.
class ContainerSpool {
 public:
  struct Options {
    std::uint64_t memory_bytes_max = 1 << 20;
    std::uint64_t copied_bytes_max = 64 << 20;  // see ContainerLog::Options
  };

  // `path` is where temporary files may be made; they are gone with the spool. Borrows `fs`,
  // `function` and `request` for life.
  ContainerSpool(io::FileSystem& fs, std::string path, const SignatureFunction& function,
                 const StoreRequest& request, Options options)
      : fs_(fs),
        path_(std::move(path)),
        function_(function),
        request_(request),
        options_(options) {}
  ~ContainerSpool();
  ContainerSpool(const ContainerSpool&) = delete;
  ContainerSpool& operator=(const ContainerSpool&) = delete;

  // Reads all of `content`, compressed as the request says. Call once, first. Errors: kInvalid when
  // it is not what the request says; those of `content`; kIo, kFull.
  Status Fill(io::Source& content);

  // The content once more, from its begin.
  Result<std::unique_ptr<io::Source>> Read() const;

  // SHA-256 of the content.
  const Digest& digest() const { return *digest_; }

  // Makes the record that holds the content. Without `deflater` it is not compressed; a content
  // that came compressed needs none. Can be called again: the last one counts.
  Status Pack(std::string_view head, codec::BlockDeflater* deflater);
  std::uint64_t record_size() const { return record_size_; }
  // Requires: packed. Call once.
  Result<RecordLocation> AppendTo(ContainerLog& log, const LogEntry& entry);

 private:
  Status FillMemory(io::Source& content);
  Status FillPacked(io::Source& packed);
  Status CheckContent();
  Status FillFile(io::Source& content);
  // What was read, and what stood behind the content.
  struct Signed {
    Signature signature;
    Digest digest;
    std::uint64_t size = 0;  // of the content, as far as it came
    std::string behind = {};
  };
  Result<Signed> Sign(io::Source& plain) const;
  Result<std::unique_ptr<io::Source>> ReadBlocks() const;
  Status PackFile(std::string_view head, codec::BlockDeflater* deflater);
  std::string RecordPath() const { return path_ + ".warc.gz"; }

  io::FileSystem& fs_;
  const std::string path_;
  const SignatureFunction& function_;
  const StoreRequest& request_;
  const Options options_;
  std::string content_;   // while it is small
  std::string blocks_;    // the same, compressed by whoever sent it
  bool in_file_ = false;  // as it came, at path_
  std::uint64_t file_size_ = 0;
  // Of the content, when blocks_ or those in the file can be taken over.
  std::optional<std::uint32_t> blocks_crc_;
  bool record_in_file_ = false;
  std::optional<Digest> digest_;
  codec::Buffer record_;
  std::uint64_t record_size_ = 0;
};

}  // namespace stele::store
