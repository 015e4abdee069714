#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/http/body.h"
#include "formats/http/message.h"
#include "util/result.h"

// What a server accepts as a request. formats/http reads whatever was ever sent; a server that
// stands behind or before others must refuse what two of them could understand differently.
namespace stele::net {

struct Refusal {
  int status;
  std::string text;  // for the person at the client
};

struct AcceptedRequest {
  http::BodyPlan plan;
  bool keep_alive = false;       // what the client wants
  bool http_1_0 = false;         // knows no chunks
  bool expect_continue = false;  // waits for 100 before it sends its body
  std::string_view path;         // in the head's target
  std::string_view query;
};

// Judges a complete head that lies at the front of `bytes`.
// Refuses with 400, 413 (its body is said to exceed `body_size_max`), 417, 501 or 505.
std::optional<Refusal> JudgeHead(const http::RequestHead& head, std::string_view bytes,
                                 std::uint64_t body_size_max, AcceptedRequest& accepted);

// A request's body from the bytes of the connection, strictly.
class BodyReader {
 public:
  BodyReader(const http::BodyPlan& plan, std::uint64_t size_max);

  struct Step {
    std::size_t consumed = 0;
    std::string_view payload;  // in the bytes given
    bool done = false;
  };
  // As http::TransferDecoder::Decode(). Errors: kCorrupt for chunks that are not exactly as the
  // standard has them, kFull beyond the limit.
  Result<Step> Decode(std::string_view in);

  bool done() const { return done_; }

 private:
  http::TransferDecoder decoder_;
  std::uint64_t left_;
  bool done_;
};

}  // namespace stele::net
