#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/http/message.h"
#include "io/stream.h"
#include "net/header_field.h"
#include "util/result.h"

// What an application sees of the HTTP server: a request comes, a response goes.
namespace stele::net {

// Valid during Handler::Handle() only.
class Request {
 public:
  virtual ~Request() = default;

  // Well-formed: the server has refused anything that two readers could understand differently.
  // Views stay valid during Handle().
  virtual const http::RequestHead& head() const = 0;
  // The target up to its '?', as sent, still percent-encoded; without scheme and host where a
  // client sent them. "*" for OPTIONS *.
  virtual std::string_view path() const = 0;
  // What comes after the '?'; empty where there is none.
  virtual std::string_view query() const = 0;
  // "127.0.0.1:49152" or "[::1]:49152".
  virtual std::string_view peer() const = 0;
  virtual bool secure() const = 0;  // over TLS

  // The body without its transfer coding, as it arrives: Read() waits for the client. It need not
  // be read. Errors: kIo when the client has gone or is too slow, kCorrupt for bad chunks, kFull
  // beyond the limit; where the handler then sends nothing, the server answers suitably.
  virtual io::Source& body() = 0;
  // Nothing where it is not known before (chunked). 0 where there is no body.
  virtual std::optional<std::uint64_t> body_length() const = 0;
};

struct ResponseStart {
  int status = 200;  // from 200 to 999
  // Not Content-Length, Transfer-Encoding, Connection or Date, which are the server's. Names and
  // values with line ends or control characters are refused.
  std::vector<HeaderField> fields;
  // Of the body. Where it is not known the body is sent in chunks. For HEAD and status 304: what it
  // would be.
  std::optional<std::uint64_t> length;
};

// One response, by one of the three ways: Reply(), SendFrom(), or Start() with Write(). The body of
// a response that has none (HEAD, 204, 304) is counted and dropped.
//
// Errors of all: kIo when the client has gone or reads too slowly (do no more work for it),
// kInvalid when the call is wrong (a second Start, a bad field, more bytes than the length says).
class ResponseWriter : public io::Sink {
 public:
  // A whole response. Does not wait for the client.
  virtual Status Reply(const ResponseStart& start, std::string_view body) = 0;
  Status Reply(int status, std::string_view content_type, std::string_view body);

  // The server reads `body` piece by piece as the client takes it, after Handle() has returned, on
  // worker threads, one at a time: a slow client then holds no thread. The way for large contents.
  virtual Status SendFrom(const ResponseStart& start, std::unique_ptr<io::Source> body) = 0;

  // A body made while it is sent. Write() waits while the client is slow. The response ends when
  // Handle() returns; with fewer bytes than its length says the connection is cut, so that the
  // client sees it.
  virtual Status Start(const ResponseStart& start) = 0;
  Status Write(std::string_view bytes) override = 0;
  // Sends what was written so far without waiting for more, as for a stream of events.
  virtual Status Flush() = 0;
  // The response cannot be completed: the connection is cut, so that the client sees it.
  virtual void Abandon() = 0;
};

class Handler {
 public:
  virtual ~Handler() = default;
  // Called on worker threads, many at once. A handler that starts no response, or throws, is
  // answered for with 500.
  virtual void Handle(Request& request, ResponseWriter& response) = 0;
};

}  // namespace stele::net
