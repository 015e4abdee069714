#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "codec/gzip_decoder.h"
#include "io/file_system.h"
#include "io/stream.h"
#include "store/container_index.h"
#include "store/signature.h"

namespace stele::store {

// The content of a block in a container, as Volume::Retrieve() promises it.
class ContainerContent final : public io::Source {
 public:
  // The content must have `signature` by `function`, which is borrowed for life. `name` is for
  // errors.
  ContainerContent(std::shared_ptr<const io::ReadableFile> file, const BlockRow& row,
                   const SignatureFunction& function, const Signature& signature, std::string name);

  Result<std::size_t> Read(std::span<char> out) override;

 private:
  Result<std::size_t> ReadContent(std::span<char> out);
  Result<bool> Inflate();  // false: the record has ended
  Status PassHead();
  Status Finish();
  Error Corrupt(std::string_view what) const;

  const std::shared_ptr<const io::ReadableFile> file_;
  const std::unique_ptr<SignatureStream> signing_;
  const Signature signature_;
  const std::string name_;
  codec::GzipDecoder decoder_;
  std::uint64_t offset_;          // of the next byte to be read from the file
  std::uint64_t record_left_;     // bytes of the record that have not been read
  std::uint64_t content_left_;    // bytes of the content that have not been handed out
  std::string packed_;            // a piece of the record
  std::string_view packed_left_;  // of packed_
  std::string plain_;             // the same inflated
  std::string_view plain_left_;   // of plain_
  bool inflated_ = false;
  bool head_passed_ = false;
  bool finished_ = false;
  std::optional<Error> error_;
};

}  // namespace stele::store
