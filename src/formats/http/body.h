#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/http/defects.h"
#include "formats/http/message.h"

// Where a message's body ends (RFC 9112 §6), and its payload: the body without transfer coding, but
// with its content coding. The payload is what WARC-Payload-Digest is computed over.
namespace stele::http {

enum class BodyFraming {
  kNone,        // there is no body
  kLength,      // Content-Length bytes
  kChunked,     //
  kUntilClose,  // all that comes
};

struct BodyPlan {
  BodyFraming framing = BodyFraming::kUntilClose;
  std::uint64_t length = 0;  // of kLength
  // Why the headers do not say it plainly. A client must not reuse the connection when there are
  // any.
  Defects defects;
};

// On a connection. `request_method` is what the response answers: HEAD and CONNECT change the
// rules.
BodyPlan PlanResponseBody(const ResponseHead& head, std::string_view request_method);
BodyPlan PlanRequestBody(const RequestHead& head);

// In an archive's record, where the record's end is the body's end and Content-Length often speaks
// of other bytes than those stored: kChunked or kUntilClose. The defects are those of the headers.
BodyPlan PlanStoredBody(const Headers& headers);

// Takes the transfer coding off a body, as a stream, without copying. Never fails: what is wrong is
// told by defects(), and bytes that cannot be framed are payload.
//
// A body that says chunked but does not begin with a chunk size and CRLF is not chunked: archives
// hold bodies whose chunks were already joined. Where a later chunk size is bad, the bytes from
// there on are payload as they are.
class TransferDecoder {
 public:
  struct Step {
    std::size_t consumed = 0;
    std::string_view payload;  // in the bytes given, or in the decoder until the next call
    bool done = false;         // the body has ended; bytes after it are not consumed
  };

  explicit TransferDecoder(const BodyPlan& plan);

  // Takes bytes from the front of `in`. Call again with the rest until all is consumed or `done`.
  Step Decode(std::string_view in);

  // No more bytes will come. Returns the last piece of payload, which the decoder had held back.
  std::string_view Finish();

  // Those of the plan too. Complete after `done` or Finish().
  const Defects& defects() const { return defects_; }
  // The trailer section as sent, without the empty line.
  std::string_view trailers() const { return trailers_; }

 private:
  enum class State {
    kLength,
    kAll,
    kSize,       // before and in the digits of a chunk size
    kAfterSize,  // blanks behind them
    kExtension,  // up to the line feed
    kSizeFeed,   // a line feed must follow
    kData,       // `left_` bytes
    kDataEnd,    // the line end behind them
    kDataFeed,   // its line feed
    kTrailer,    // lines up to an empty one
    kHeld,       // `held_` is to be given out, then kAll
    kDone,
  };

  Step Pass(std::string_view in);
  Step DecodeFraming(std::string_view in);
  bool AcceptFraming(char c);  // false: `c` does not belong here and is not taken
  bool AcceptSizeLine(char c);
  void EndSizeLine();
  bool AcceptTrailer(char c);
  bool GiveUp();  // the size line is bad

  State state_;
  Defects defects_;
  std::uint64_t left_ = 0;  // of the body or the chunk
  std::uint64_t size_ = 0;  // of the chunk, while its line is read
  bool first_ = true;       // no chunk size was accepted yet
  bool digits_ = false;     // the size has at least one
  bool blank_ = false;      // there are spaces in the size line
  std::string held_;        // the size line so far
  std::string trailers_;
  std::size_t line_size_ = 0;  // of the trailer line so far
  bool line_colon_ = false;
};

// The payload of a body that is all there. A copy only where the body was chunked.
struct Payload {
  std::string_view bytes;  // in the body, or in `joined`
  std::string joined;
  Defects defects;
  Payload() = default;
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;
};
void DecodeTransfer(const BodyPlan& plan, std::string_view body, Payload& payload);

}  // namespace stele::http
