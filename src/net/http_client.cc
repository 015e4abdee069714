#include "net/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

#include "formats/http/body.h"
#include "net/connection_pool.h"
#include "util/ascii.h"

namespace stele::net {
namespace {

using http::Defect;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kReadSize = std::size_t{32} << 10;
constexpr std::size_t kAnswerPiece = std::size_t{4} << 10;
constexpr std::size_t kSendSize = std::size_t{64} << 10;
constexpr std::string_view kInterim = "HTTP/1.1 1";
constexpr std::array<std::string_view, 6> kRepeatableMethods{"GET",    "HEAD",    "PUT",
                                                             "DELETE", "OPTIONS", "TRACE"};
constexpr std::array<std::string_view, 3> kOwnFields{"Content-Length", "Transfer-Encoding",
                                                     "Connection"};
// Of the body's bytes: what follows them is not what the server meant.
constexpr std::array kBrokenBody{Defect::kShortBody, Defect::kNotChunked, Defect::kBadChunkSize,
                                 Defect::kNoFinalChunk};

// When to give up, at each step.
class Patience {
 public:
  Patience(milliseconds step, milliseconds total)
      : step_(step), end_(steady_clock::now() + total) {}
  Deadline Next() const { return std::min(end_, steady_clock::now() + step_); }
  Deadline end() const { return end_; }

 private:
  milliseconds step_;
  Deadline end_;
};

Status CheckRequest(const ClientRequest& request) {
  if (Status good = CheckRequestLine(request.method, request.target); !good) return good;
  for (const HeaderField& field : request.fields) {
    if (Status good = CheckField(field); !good) return good;
    for (const std::string_view own : kOwnFields) {
      if (EqualsIgnoreCase(field.name, own)) {
        return Error{ErrorCode::kInvalid, fmt::format("{} is set by the client itself", own)};
      }
    }
  }
  return {};
}

bool MayRepeat(const ClientRequest& request) {
  return request.repeatable || std::find(kRepeatableMethods.begin(), kRepeatableMethods.end(),
                                         request.method) != kRepeatableMethods.end();
}

bool IsChunked(const ClientRequest& request) {
  return request.body_source != nullptr && !request.body_length;
}

std::string HeadOf(const ClientRequest& request) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\n", request.method, request.target);
  const bool has_host =
      std::any_of(request.fields.begin(), request.fields.end(),
                  [](const HeaderField& field) { return EqualsIgnoreCase(field.name, "Host"); });
  const Endpoint& endpoint = request.endpoint;
  if (!has_host) {
    const bool v6 = endpoint.host.find(':') != std::string::npos;
    fmt::format_to(std::back_inserter(head), "Host: {}{}{}", v6 ? "[" : "", endpoint.host,
                   v6 ? "]" : "");
    if (endpoint.port != (endpoint.tls ? 443 : 80)) head += fmt::format(":{}", endpoint.port);
    head += "\r\n";
  }
  for (const HeaderField& field : request.fields) {
    head.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  const bool usual =
      request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  const std::uint64_t length = request.body_length.value_or(request.body.size());
  if (IsChunked(request)) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (length > 0 || request.body_source != nullptr || usual) {
    head += fmt::format("Content-Length: {}\r\n", length);
  }
  return head += "\r\n";
}

bool Has(const http::Headers& headers, std::string_view name, std::string_view option) {
  for (const std::string_view one : headers.List(name)) {
    if (EqualsIgnoreCase(one, option)) return true;
  }
  return false;
}

// Sends one request over one connection.
class Sender {
 public:
  Sender(const ClientRequest& request, SocketStream& stream, const Patience& patience)
      : request_(request), stream_(stream), patience_(patience) {}

  Status Send() {
    std::string head = HeadOf(request_);
    if (request_.body_source == nullptr) {
      if (request_.body.size() <= kSendSize) {
        head += request_.body;
        return Pass(head);
      }
      if (Status done = Pass(head); !done) return done;
      return Pass(request_.body);
    }
    if (Status done = Pass(head); !done) return done;
    return SendSource();
  }

  // The server answered before it had all: it will not take the rest.
  bool answered() const { return answered_; }
  bool source_touched() const { return source_touched_; }
  // An error of the body's source, not of the connection.
  bool source_failed() const { return source_failed_; }

 private:
  Status SendSource() {
    std::string piece(kSendSize, '\0');
    std::uint64_t left = request_.body_length.value_or(0);
    for (;;) {
      source_touched_ = true;
      const Result<std::size_t> size = request_.body_source->Read(piece);
      if (!size || (request_.body_length && *size > left) ||
          (request_.body_length && *size == 0 && left > 0)) {
        source_failed_ = true;
        if (!size) return size.error();
        return Error{ErrorCode::kInvalid, "the body of the request is not as long as was said"};
      }
      const std::string_view bytes = std::string_view(piece).substr(0, *size);
      left -= request_.body_length ? *size : 0;
      Status done;
      if (IsChunked(request_)) {
        done = Pass(fmt::format("{:x}\r\n{}\r\n", *size, bytes));
      } else {
        done = Pass(bytes);
      }
      if (!done || answered_ || *size == 0) return done;
    }
  }

  Status Pass(std::string_view bytes) {
    bool heed = true;
    while (!bytes.empty()) {
      if (answered_) return {};
      const Result<std::size_t> size =
          stream_.WriteSome(bytes.substr(0, kSendSize), patience_.Next(), heed);
      if (!size) return size.error();
      bytes.remove_prefix(*size);
      if (*size == 0 || !bytes.empty()) {
        // An interim response asks for patience or for more, any other is the answer.
        const std::string come = stream_.Peek(kInterim.size());
        answered_ = !come.empty() && !come.starts_with(kInterim);
        heed = *size > 0;
      }
    }
    return {};
  }

  const ClientRequest& request_;
  SocketStream& stream_;
  const Patience& patience_;
  bool answered_ = false;
  bool source_touched_ = false;
  bool source_failed_ = false;
};

class Response final : public ClientResponse {
 public:
  Response(std::shared_ptr<ConnectionPool> pool, Endpoint endpoint,
           std::unique_ptr<SocketStream> stream, const Patience& patience, io::Sink* wire)
      : pool_(std::move(pool)),
        endpoint_(std::move(endpoint)),
        stream_(std::move(stream)),
        patience_(patience),
        wire_(wire) {}
  ~Response() override { Release(false); }

  SocketStream& stream() { return *stream_; }
  bool touched() const { return touched_; }

  // `reusable`: nothing speaks against another request after this one.
  Status ReadHead(std::string_view method, std::size_t size_max, bool reusable) {
    http::ResponseParser parser(size_max);
    for (;;) {
      const Result<std::size_t> size = Fill();
      if (!size) return size.error();
      const bool at_end = *size == 0;
      if (at_end && !touched_) return Broken("the connection ended without a response");
      switch (parser.Parse(in().view(), at_end)) {
        case http::HeadOutcome::kComplete:
          if (at_end) return Broken("the connection ended within the head of the response");
          return Begin(parser.head(), method, reusable);
        case http::HeadOutcome::kNeedMore:
          break;
        case http::HeadOutcome::kNoHead:
          return Error{ErrorCode::kCorrupt, endpoint_.ToText() + ": the answer is not HTTP"};
        case http::HeadOutcome::kTooLong:
          return Error{ErrorCode::kFull,
                       fmt::format("{}: the head of the response is longer than {} bytes",
                                   endpoint_.ToText(), size_max)};
      }
    }
  }

  const http::ResponseHead& head() const override { return parser_.head(); }

  Result<std::size_t> Read(std::span<char> out) override {
    if (failure_) return *failure_;
    Result<std::size_t> size = out.empty() || done_ ? std::size_t{0} : ReadSome(out);
    if (!size) {
      failure_ = size.error();
      Release(false);
    }
    return size;
  }

 private:
  Error Broken(std::string_view what) const {
    return {ErrorCode::kIo, fmt::format("{}: {}", endpoint_.ToText(), what)};
  }

  InputBuffer& in() { return stream_->input(); }  // until the stream is given back

  Result<std::size_t> Fill() {
    const std::span<char> room = in().Room(kReadSize);
    const Result<std::size_t> size = stream_->Read(room, patience_.Next());
    if (size) in().Added(*size);
    touched_ |= size && *size > 0;
    return size;
  }

  Status Begin(const http::ResponseHead& head, std::string_view method, bool reusable) {
    head_bytes_ = std::string(in().view().substr(0, head.head_length));
    const http::BodyPlan plan = http::PlanResponseBody(head, method);
    until_close_ = plan.framing == http::BodyFraming::kUntilClose;
    reusable_ = reusable && !until_close_ && plan.defects.empty() && head.version == "HTTP/1.1" &&
                head.status >= 200 && method != "CONNECT" &&
                !Has(head.headers, "Connection", "close");
    in().Consume(head.head_length);
    parser_.Parse(head_bytes_, true);
    if (wire_ != nullptr) {
      if (Status done = wire_->Write(head_bytes_); !done) return done;
    }
    decoder_.emplace(plan);
    const bool empty = plan.framing == http::BodyFraming::kNone ||
                       (plan.framing == http::BodyFraming::kLength && plan.length == 0);
    if (empty) End();
    return {};
  }

  Result<std::size_t> ReadSome(std::span<char> out) {
    for (;;) {
      if (in().empty()) {
        const Result<std::size_t> size = Fill();
        if (!size) return size;
        if (*size == 0) return AtEof();
      }
      const std::string_view come = in().view().substr(0, out.size());
      const http::TransferDecoder::Step step = decoder_->Decode(come);
      for (const Defect defect : kBrokenBody) {
        if (!decoder_->defects().Has(defect)) continue;
        return Error{ErrorCode::kCorrupt, fmt::format("{}: the body of the response is broken ({})",
                                                      endpoint_.ToText(), http::NameOf(defect))};
      }
      if (wire_ != nullptr) {
        if (Status done = wire_->Write(come.substr(0, step.consumed)); !done) return done.error();
      }
      if (!step.payload.empty()) std::memcpy(out.data(), step.payload.data(), step.payload.size());
      const std::size_t size = step.payload.size();
      in().Consume(step.consumed);
      if (step.done) End();
      if (size > 0 || step.done) return size;
    }
  }

  Result<std::size_t> AtEof() {
    if (!until_close_) return Broken("the connection ended before the body did");
    End();
    return std::size_t{0};
  }

  void End() {
    done_ = true;
    Release(reusable_ && in().empty() && decoder_->defects().empty());
  }

  void Release(bool reuse) {
    if (stream_ == nullptr) return;
    if (!reuse) stream_.reset();
    pool_->GiveBack(endpoint_, std::move(stream_));
  }

  const std::shared_ptr<ConnectionPool> pool_;
  const Endpoint endpoint_;
  std::unique_ptr<SocketStream> stream_;  // null when given back
  const Patience patience_;
  io::Sink* const wire_;
  bool touched_ = false;  // something has come
  std::string head_bytes_;
  http::ResponseParser parser_;  // of head_bytes_
  std::optional<http::TransferDecoder> decoder_;
  bool until_close_ = false;
  bool reusable_ = false;
  bool done_ = false;
  std::optional<Error> failure_;
};

class Client final : public HttpClient {
 public:
  Client(const HttpClientOptions& options, TlsContext tls)
      : options_(options),
        pool_(std::make_shared<ConnectionPool>(
            ConnectionPool::Options{options.connections_per_host_max, options.idle_per_host_max,
                                    options.idle_time_max, options.connect_timeout},
            std::move(tls))) {}

  Result<std::unique_ptr<ClientResponse>> Send(const ClientRequest& request) override {
    if (Status good = CheckRequest(request); !good) return good.error();
    const Patience patience(options_.read_timeout,
                            request.total_timeout.value_or(options_.total_timeout));
    bool dead = false;
    const bool may_repeat = MayRepeat(request);
    Result<std::unique_ptr<ClientResponse>> response =
        Try(request, patience, may_repeat ? Want::kAny : Want::kAlive, dead);
    if (!response && dead && may_repeat) response = Try(request, patience, Want::kFresh, dead);
    return response;
  }

  std::size_t idle_connections() const override { return pool_->idle(); }

 private:
  using Want = ConnectionPool::Want;

  // `dead`: the connection had been used before and gave no byte, and the request can be sent
  // again.
  Result<std::unique_ptr<ClientResponse>> Try(const ClientRequest& request,
                                              const Patience& patience, Want want, bool& dead) {
    Result<ConnectionPool::Lease> lease = pool_->Take(request.endpoint, want, patience.end());
    if (!lease) return lease.error();
    auto response = std::make_unique<Response>(pool_, request.endpoint, std::move(lease->stream),
                                               patience, request.wire);
    Sender sender(request, response->stream(), patience);
    const Status sent = sender.Send();
    dead = lease->used_before && !sender.source_touched();
    if (!sent && (sender.source_failed() || sent.error().code == ErrorCode::kBusy)) {
      dead = false;
      return sent.error();
    }
    // A server that refuses a body closes while it is sent; its answer may lie there.
    const Status got =
        response->ReadHead(request.method, options_.head_size_max, sent.ok() && !sender.answered());
    if (got) return std::unique_ptr<ClientResponse>(std::move(response));
    dead &= !response->touched() && got.error().code == ErrorCode::kIo;
    return sent ? got.error() : sent.error();
  }

  const HttpClientOptions options_;
  const std::shared_ptr<ConnectionPool> pool_;
};

}  // namespace

Result<std::string> ClientResponse::ReadAll(std::size_t size_max) {
  std::string all;
  std::array<char, kAnswerPiece> piece;
  for (;;) {
    const Result<std::size_t> size = Read(piece);
    if (!size) return size.error();
    if (*size == 0) return all;
    all.append(piece.data(), *size);
    if (all.size() > size_max) {
      return Error{ErrorCode::kFull,
                   fmt::format("the body of the response has more than {} bytes", size_max)};
    }
  }
}

Result<std::unique_ptr<HttpClient>> HttpClient::Open(const HttpClientOptions& options) {
  Result<TlsContext> tls = MakeClientTls(options.ca_file, options.verify);
  if (!tls) return tls.error();
  return std::unique_ptr<HttpClient>(std::make_unique<Client>(options, std::move(*tls)));
}

}  // namespace stele::net
