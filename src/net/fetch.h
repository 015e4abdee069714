#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/http/body.h"
#include "formats/http/message.h"
#include "io/stream.h"
#include "net/header_field.h"
#include "net/ip_address.h"
#include "net/socket_stream.h"
#include "net/spooled_bytes.h"
#include "util/timestamp.h"

// What a Fetcher is asked, and what it answers.
namespace stele::net {

struct FetchLimits {
  std::size_t head_size_max = std::size_t{1} << 20;  // interim heads included
  // Of the body as it comes over the wire, chunk sizes and all. Beyond it: Truncation::kLength.
  std::uint64_t body_size_max = UINT64_MAX;
  std::chrono::milliseconds connect_time_max{20'000};  // for each address, TLS handshake included
  // Nothing came for so long: Truncation::kTime once the head is there, else a failure.
  std::chrono::milliseconds idle_time_max{20'000};
  // From the first look for the address to the last byte; likewise. It ends servers that drip.
  std::chrono::milliseconds total_time_max{1'200'000};
  std::uint64_t rate_max = 0;  // bytes of body in a second; 0: as fast as they come
};

// A proxy that speaks HTTP: asked for whole URLs, and by CONNECT for tunnels to TLS hosts.
struct FetchProxy {
  std::string host;
  std::uint16_t port = 3128;
  std::string authorization;  // the value of Proxy-Authorization; empty: none

  bool operator==(const FetchProxy&) const = default;
  auto operator<=>(const FetchProxy&) const = default;
};

enum class HeadVerdict {
  kGoOn,
  kAbort,  // the body is not wanted: the connection is closed, Truncation::kAborted
};

struct FetchRequest {
  Endpoint endpoint;
  std::string method = "GET";
  std::string target = "/";  // path and query, encoded
  // Sent in this order and nothing besides: Host, Connection and Content-Length are the caller's to
  // give, too. Errors: FetchFailure::kUnfetchable for control characters.
  std::vector<HeaderField> fields;
  std::string body;

  std::optional<FetchProxy> proxy;
  FetchLimits limits;
  // Addresses that are not public, for instance 127.0.0.1 and 10.0.0.0/8, may be asked. A proxy
  // always may; as it looks up names by itself, only addresses and "localhost" are refused then.
  bool private_addresses = false;
  // Called on the loop's thread when the head of the final response has come. May be null.
  std::function<HeadVerdict(const http::ResponseHead&)> on_head;
};

// Why there is no response. The bytes that came are kept nevertheless.
enum class FetchFailure : std::uint8_t {
  kNone,
  kNoAddress,    // the name does not exist, or no server knows
  kPrivate,      // its address is not public, and private_addresses is false
  kConnect,      // refused, unreachable, or the TLS handshake failed
  kLost,         // the connection ended before the head of a response was complete
  kTimeout,      // a time limit passed before that
  kNotHttp,      // what came begins with no head: HTTP/0.9, or another protocol
  kHeadTooLong,  // beyond head_size_max
  kUnfetchable,  // the request cannot be sent
  kLocal,        // this machine: no descriptor, no space for the spooled bytes
  kCancelled,    // Fetcher::Stop()
};
// "no-address" and so on: stable, for reports.
std::string_view NameOf(FetchFailure failure);
// Heritrix's negative status codes, as they stand in crawl logs: -1 for kNoAddress, -2 for
// kConnect, -3 for kLost, kNotHttp and kHeadTooLong, -4 for kTimeout, -5 for kLocal, -7 for
// kUnfetchable, -5001 for kPrivate, -7000 for kCancelled. 0 for kNone.
int HeritrixStatus(FetchFailure failure);
// Trying again later may help.
bool MayPass(FetchFailure failure);

// Why the response is not whole. Of a failure it says nothing.
enum class Truncation : std::uint8_t {
  kNone,
  kLength,      // body_size_max
  kTime,        // idle_time_max or total_time_max
  kDisconnect,  // the connection ended too early, or the chunks are broken
  kAborted,     // on_head said so
};
// As WARC-Truncated has it: "length", "time", "disconnect", "unspecified" for kAborted, "".
std::string_view WarcTruncated(Truncation truncation);

// Of a TLS connection. Any certificate is accepted.
struct TlsFacts {
  std::string version;  // "TLSv1.3"
  std::string cipher;   // "TLS_AES_256_GCM_SHA384"
  std::string chain;    // PEM, the server's certificate first
  // Why a browser would refuse it ("self-signed certificate", "hostname mismatch"); empty: it
  // would not.
  std::string distrust;
  bool resumed = false;  // by a session that an earlier connection began
};

// From the begin of the fetch; nothing where it did not happen, as on a connection used again.
struct FetchTimings {
  using Duration = std::chrono::microseconds;
  std::optional<Duration> resolved;
  std::optional<Duration> connected;
  std::optional<Duration> secured;     // TLS is there
  std::optional<Duration> sent;        // the last byte of the request
  std::optional<Duration> first_byte;  // of the response
  Duration done{0};                    // the last byte, or the failure
};

struct FetchResult {
  FetchFailure failure = FetchFailure::kNone;
  std::string error;  // for people, with the host; empty: no failure

  Timestamp begun;
  FetchTimings timings;
  std::optional<IpAddress> address;     // that was asked, the last one; nothing behind a proxy
  std::vector<IpAddress> addresses;     // all of the host's
  std::shared_ptr<const TlsFacts> tls;  // null: no TLS
  bool reused = false;                  // on a connection kept from an earlier fetch

  // Exactly what was sent, but for the proxy's authorization.
  std::string request;
  // Exactly what came, from the first byte to the end of the message: head, chunks and trailers.
  // Bytes after the message's end are not part of it.
  SpooledBytes response;
  std::string interim;            // the 1xx responses that came before it, as exactly
  std::uint64_t head_length = 0;  // where the body begins; 0: there is no head
  int status = 0;                 // 0: no head, or no number in it
  // The head of the final response: http::ParseResponseHead(result.head).
  std::string head;
  http::BodyPlan plan;    // how the body is framed
  http::Defects defects;  // of head, framing and body
  Truncation truncation = Truncation::kNone;
  std::uint64_t payload_length = 0;  // the body without transfer coding
  bool surplus = false;              // bytes came after the end of the message

  std::uint64_t body_length() const { return response.size() - head_length; }
  // The body without its transfer coding but with its content coding, as payload digests want it.
  // Borrows the result, which must not be moved meanwhile. May wait for the disk.
  std::unique_ptr<io::Source> OpenPayload() const;
  // The same at once; a view into the result where it can be, else in `joined`. For bodies in
  // memory; otherwise nothing.
  std::optional<std::string_view> PayloadInMemory(std::string& joined) const;
};

}  // namespace stele::net
