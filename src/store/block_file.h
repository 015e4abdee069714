#pragma once

#include <memory>
#include <optional>
#include <string>

#include "codec/buffer.h"
#include "codec/codec.h"
#include "io/file_system.h"
#include "io/stream.h"
#include "store/block.h"
#include "store/signature.h"

// Blocks in files: the content goes in and comes out as a stream, in flat memory.
namespace stele::store {

struct OpenBlock {
  std::unique_ptr<io::ReadableFile> file;
  BlockHeader header;
};

// Errors: kNotFound, kIo; kCorrupt when the header cannot be read.
Result<OpenBlock> OpenBlockFile(io::FileSystem& fs, const std::string& path);

// The content of a block, as Volume::Retrieve() promises it.
class BlockSource final : public io::Source {
 public:
  // `name` is for errors. The content must have `signature` by `function`, which is borrowed for
  // life, as `codec` is for the call.
  BlockSource(OpenBlock block, const codec::Codec& codec, const SignatureFunction& function,
              Signature signature, std::string name);

  Result<std::size_t> Read(std::span<char> out) override;

 private:
  Result<std::size_t> Decode(std::span<char> out);
  Status Fill();
  Status Finish();
  Error Corrupt(std::string_view what) const;

  OpenBlock block_;
  std::unique_ptr<codec::Decoder> decoder_;
  std::unique_ptr<SignatureStream> signing_;
  const Signature signature_;
  const std::string name_;
  codec::Buffer buffer_;
  std::string_view in_;  // of buffer_, not yet decoded
  std::uint64_t offset_ = kBlockHeaderSize;
  std::uint64_t produced_ = 0;
  bool file_ended_ = false;
  bool decoded_ = false;
  std::optional<Error> error_;
  bool finished_ = false;
};

// What was written: the sum of the bytes, and the content's signature.
struct WrittenBlock {
  std::uint64_t stored_size = 0;
  std::uint64_t content_size = 0;
  Signature signature;
};

// Writes a block of one reference to `path` and, with `sync`, makes its bytes durable: `prefix`,
// which has been read already, then the rest of `content`. Gives up, with kInvalid, when more than
// header.size bytes come. Errors: those of `content`; kIo, kFull. The file may then be there,
// incomplete.
Result<WrittenBlock> WriteBlockFile(io::FileSystem& fs, const std::string& path,
                                    const BlockHeader& header, codec::Encoder& encoder,
                                    const SignatureFunction& function, std::string_view prefix,
                                    io::Source& content, bool sync);

// The same, for a content that is compressed already.
Status WriteSmallBlockFile(io::FileSystem& fs, const std::string& path, const BlockHeader& header,
                           std::string_view compressed, bool sync);

}  // namespace stele::store
