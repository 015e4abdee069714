#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "codec/buffer.h"
#include "io/stream.h"
#include "net/http_client.h"
#include "store/content_key.h"
#include "store/packed_content.h"
#include "store/signature.h"

namespace stele::store {

// A content on its way from a server, compressed perhaps, which is believed only when all of it has
// the signature. Small ones are checked before the first byte is handed out, others at their end.
// However much comes out of little, memory stays flat.
class RemoteContent final : public io::Source {
 public:
  // What clients ask for.
  static constexpr std::string_view kAcceptedCodings = "gzip, zstd";

  // `where` is for errors. Without `function`, or with one that does not make such signatures,
  // nothing is verified. Errors: kCorrupt for a coding that was not asked for.
  static Result<std::unique_ptr<io::Source>> Open(
      std::unique_ptr<net::ClientResponse> response, std::string where, const ContentKey& key,
      std::shared_ptr<const SignatureFunction> function);

  Result<std::size_t> Read(std::span<char> out) override;

 private:
  RemoteContent() = default;

  Result<std::size_t> ReadPlain(std::span<char> out);
  Status LoadWhole();
  Status Verify(const Signature& signature) const;

  std::unique_ptr<net::ClientResponse> response_;
  std::string where_;
  std::optional<Signature> wanted_;  // none: it cannot be verified
  std::shared_ptr<const SignatureFunction> function_;
  std::string coding_;
  std::optional<std::uint64_t> size_;  // of the content, as the server says
  bool small_ = false;

  // Of a small one: all of it.
  bool loaded_ = false;
  codec::Buffer whole_;
  std::string_view whole_left_;

  // Of others.
  std::unique_ptr<SignatureStream> signing_;
  std::optional<DecodedSource> decoded_;  // none: it is not compressed
  std::uint64_t produced_ = 0;

  std::optional<Error> failure_;
  bool ended_ = false;
};

}  // namespace stele::store
