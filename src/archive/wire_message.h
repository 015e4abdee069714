#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "catalog/capture.h"
#include "io/file_system.h"
#include "util/result.h"

namespace stele::archive {

// An HTTP message as it went over the wire, head and transfer coding included, in memory or in a
// file. Its bytes never change; copies share them.
class WireMessage {
 public:
  WireMessage() = default;  // no message at all
  static WireMessage InMemory(std::string bytes);
  // The first `length` bytes of a file that has them and does not change.
  static WireMessage InFile(std::shared_ptr<const io::ReadableFile> file, std::uint64_t length);

  bool empty() const { return length_ == 0; }
  std::uint64_t size() const { return length_; }
  // The bytes, where they are in memory; null where they are in a file.
  const std::string* memory() const { return bytes_.get(); }

  // Tells of the first `length` bytes, piece by piece. Errors: kIo, and those of `take`, which end
  // it. Requires: length <= size().
  using Take = std::function<Status(std::string_view piece)>;
  Status Read(std::uint64_t length, const Take& take) const;

 private:
  std::shared_ptr<const std::string> bytes_;
  std::shared_ptr<const io::ReadableFile> file_;
  std::uint64_t length_ = 0;
};

// What a response is, as far as duplicates are judged by it.
struct ResponseFacts {
  std::uint64_t head_length = 0;  // of the message, with the empty line
  std::uint32_t status = 0;       // 0: no HTTP that we can read
  std::string type;               // media type as catalogs have it: "text/html", "unk"
  std::string etag;               // as sent; empty: none
  std::string last_modified;
  // Of the payload: the body without transfer coding.
  std::uint64_t payload_length = 0;
  catalog::Sha1Bytes sha1 = {};
  catalog::Sha256Bytes sha256 = {};
  // Of the whole message.
  catalog::Sha1Bytes block_sha1 = {};
};

// Reads the message once. Errors: kIo.
Result<ResponseFacts> ExamineResponse(const WireMessage& response);

}  // namespace stele::archive
