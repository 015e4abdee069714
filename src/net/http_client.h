#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/http/message.h"
#include "io/stream.h"
#include "net/header_field.h"
#include "net/socket_stream.h"
#include "util/result.h"

namespace stele::net {

struct HttpClientOptions {
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds read_timeout{30'000};    // for each wait for the server
  std::chrono::milliseconds total_timeout{600'000};  // from Send() to the end of the body
  std::size_t head_size_max = std::size_t{64} << 10;
  std::size_t connections_per_host_max = 256;  // Send() waits for a free one
  std::size_t idle_per_host_max = 64;
  // Less than servers keep idle connections, so that few turn out dead.
  std::chrono::milliseconds idle_time_max{50'000};
  // PEM; the system's authorities where it is empty.
  std::string ca_file;
  bool verify = true;
};

// What to send. The client adds Host (unless given), Content-Length or Transfer-Encoding.
struct ClientRequest {
  Endpoint endpoint;
  std::string method = "GET";
  std::string target = "/";  // path and query, encoded
  std::vector<HeaderField> fields;

  // The body: `body`, or all of `body_source` where there is one, in chunks where its length is not
  // known. Both are borrowed for the call.
  std::string_view body;
  io::Source* body_source = nullptr;
  std::optional<std::uint64_t> body_length;

  // Sending it twice does no harm although the method does not say so (GET, HEAD, PUT, DELETE,
  // OPTIONS and TRACE do): it may be repeated when a kept connection turns out dead.
  bool repeatable = false;

  std::optional<std::chrono::milliseconds> total_timeout;  // instead of the client's
  // Gets the response as it came over the wire, heads, chunks and all, in step with the reading;
  // borrowed as long as the response lives.
  io::Sink* wire = nullptr;
};

// A response whose head has come. Not thread-safe. Destroying it before its end closes the
// connection; at the end the connection goes back to the client, which may be gone by then.
class ClientResponse : public io::Source {
 public:
  // Points into the response.
  virtual const http::ResponseHead& head() const = 0;
  int status() const { return head().status; }

  // The body without its transfer coding, but with its content coding.
  // Errors: kBusy when a timeout passed, kIo when the connection broke before the end, kCorrupt for
  // bad chunks; those of `wire`. After an error nothing more comes.
  Result<std::size_t> Read(std::span<char> out) override = 0;

  // The rest of the body. Errors: those of Read(); kFull beyond `size_max`.
  Result<std::string> ReadAll(std::size_t size_max);
};

// HTTP/1.1 with connections that are kept and used again. Thread-safe: any number of threads may
// send at once, each waits for its own response.
class HttpClient {
 public:
  // Errors: kInvalid, for a CA file that cannot be used.
  static Result<std::unique_ptr<HttpClient>> Open(const HttpClientOptions& options);
  virtual ~HttpClient() = default;

  // Returns when the head of the final response has come; any status is a response. When a kept
  // connection dies before the first byte of the response, a request that may be repeated is sent
  // once more, on a new connection.
  // Errors name the server: kInvalid for a request that cannot be sent or a certificate that is not
  // trusted, kBusy when a timeout passed, kIo for connections that fail, kCorrupt when the answer
  // is not HTTP, kFull for a head beyond the limit; those of `body_source`.
  virtual Result<std::unique_ptr<ClientResponse>> Send(const ClientRequest& request) = 0;

  virtual std::size_t idle_connections() const = 0;
};

}  // namespace stele::net
