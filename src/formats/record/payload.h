#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "formats/http/body.h"
#include "formats/http/message.h"
#include "formats/record/record.h"

namespace stele::record {

enum class BlockKind : std::uint8_t { kHttpResponse, kHttpRequest, kOther };

// What the head of the record says about its block.
BlockKind BlockKindOf(const Record& record);

class PayloadSink {
 public:
  virtual ~PayloadSink() = default;
  virtual void OnPayload(std::string_view piece) = 0;
};

// Takes a block apart as it streams by: the HTTP head, if the record has one, and then the payload,
// which is the body without its transfer coding but still with its content coding. A block that
// should have an HTTP head and has none is all payload. Not thread-safe; Begin() makes it ready for
// the next record.
class PayloadStream {
 public:
  void Begin(const Record& record);

  // The block's pieces in order. `sink` may be null where only the head matters.
  void Feed(std::string_view piece, PayloadSink* sink);
  // The block has ended.
  void Finish(PayloadSink* sink);

  // The head, once it is complete; null before, and where there is none. Valid until Begin().
  const http::ResponseHead* response() const;
  const http::RequestHead* request() const;
  // Whether it is known by now if there is a head.
  bool head_is_known() const { return state_ != State::kHead; }
  // Bytes of the block before the body.
  std::uint64_t head_length() const { return head_length_; }

  // What is wrong with the HTTP message; complete after Finish().
  http::Defects defects() const;

 private:
  enum class State : std::uint8_t { kHead, kBody, kPayload };

  // Both are true when the head is complete in collected_, or there is none.
  bool CollectHead(std::string_view piece);
  bool TakeHead(bool at_end);
  void TakeBody(std::string_view bytes, PayloadSink* sink);

  BlockKind kind_ = BlockKind::kOther;
  State state_ = State::kPayload;
  bool has_head_ = false;
  std::string collected_;  // the head, in memory of its own, and some of what follows
  std::uint64_t head_length_ = 0;
  http::ResponseParser response_parser_;
  http::RequestParser request_parser_;
  std::optional<http::TransferDecoder> decoder_;
  http::Defects head_defects_;
};

}  // namespace stele::record
