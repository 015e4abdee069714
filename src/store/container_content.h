#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "codec/buffer.h"
#include "codec/gzip_decoder.h"
#include "io/file_system.h"
#include "io/stream.h"
#include "store/container_index.h"
#include "store/content_key.h"

namespace stele::store {

// The content of a block in a container, as Volume::Retrieve() promises it. Small ones are read and
// checked as a whole before the first byte is handed out.
class ContainerContent final : public io::Source {
 public:
  // The content must have the signature of `key` by `function`, which is borrowed for life.
  ContainerContent(std::shared_ptr<const io::ReadableFile> file, const BlockRow& row,
                   const SignatureFunction& function, ContentKey key);
  ~ContainerContent() override;

  Result<std::size_t> Read(std::span<char> out) override;

 private:
  // What a content that is read in pieces needs.
  struct Pieces;

  Result<std::size_t> ReadContent(std::span<char> out);
  Status LoadWhole();
  Status BeginPieces();
  Result<bool> Inflate();  // false: the record has ended
  Status PassHead();
  Status Finish();
  Error Corrupt(std::string_view what) const;

  const std::shared_ptr<const io::ReadableFile> file_;
  const SignatureFunction& function_;
  const ContentKey key_;
  const RecordLocation location_;
  std::uint64_t content_left_;   // bytes of the content that have not been handed out
  codec::Buffer plain_;          // the record, or a piece of it, inflated
  std::string_view plain_left_;  // of plain_
  std::unique_ptr<Pieces> pieces_;
  bool begun_ = false;
  bool finished_ = false;
  std::optional<Error> error_;
};

}  // namespace stele::store
