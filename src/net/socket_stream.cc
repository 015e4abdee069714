// poll() waits for sockets until the deadline. A plain one blocks when it is read and the deadline
// is far: most answers then cost one call to the system. OpenSSL writes through a BIO of our own,
// because its socket BIO raises SIGPIPE.
#include "net/socket_stream.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>
#include <utility>

#include "net/tls.h"

namespace stele::net {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kBlockedMax{1};  // by one call

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  int get() const { return value_; }

 private:
  int value_;
};

Error SystemError(const Endpoint& endpoint, std::string_view what, int code) {
  return {ErrorCode::kIo, fmt::format("{}: {}: {}", endpoint.ToText(), what,
                                      std::generic_category().message(code))};
}

// What poll() saw, or 0 when the deadline passed.
short WaitFor(int descriptor, short events, Deadline deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return 0;
    pollfd entry{descriptor, events, 0};
    const int timeout = static_cast<int>(std::min<std::int64_t>(left.count(), INT_MAX));
    if (poll(&entry, 1, timeout) > 0) return entry.revents;
  }
}

bool IsReadable(int descriptor) {
  pollfd entry{descriptor, POLLIN, 0};
  return poll(&entry, 1, 0) != 0;
}

Error TooLate(const Endpoint& endpoint, std::string_view what) {
  return {ErrorCode::kBusy, fmt::format("{}: {} took too long", endpoint.ToText(), what)};
}

class PlainStream final : public SocketStream {
 public:
  PlainStream(Endpoint endpoint, Descriptor socket)
      : endpoint_(std::move(endpoint)), socket_(std::move(socket)) {
    const timeval time{kBlockedMax.count(), 0};
    may_block_ = setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0 &&
                 fcntl(socket_.get(), F_SETFL, 0) == 0;
  }

  Result<std::size_t> Read(std::span<char> out, Deadline deadline) override {
    for (;;) {
      const bool far = may_block_ && deadline - steady_clock::now() > kBlockedMax;
      const ssize_t size = recv(socket_.get(), out.data(), out.size(), far ? 0 : MSG_DONTWAIT);
      if (size >= 0) return static_cast<std::size_t>(size);
      if (errno == EINTR || (errno == EAGAIN && far)) continue;
      if (errno != EAGAIN) return SystemError(endpoint_, "cannot read", errno);
      if (WaitFor(socket_.get(), POLLIN, deadline) == 0) return TooLate(endpoint_, "reading");
    }
  }

  Result<std::size_t> WriteSome(std::string_view bytes, Deadline deadline,
                                bool heed_input) override {
    const short events = heed_input ? POLLOUT | POLLIN : POLLOUT;
    for (;;) {
      const ssize_t size =
          send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (size >= 0) return static_cast<std::size_t>(size);
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return SystemError(endpoint_, "cannot write", errno);
      const short seen = WaitFor(socket_.get(), events, deadline);
      if (seen == 0) return TooLate(endpoint_, "writing");
      if ((seen & POLLOUT) == 0 && (seen & POLLIN) != 0) return std::size_t{0};
    }
  }

  bool Quiet() override { return !IsReadable(socket_.get()); }

  std::string Peek(std::size_t size_max) override {
    std::string bytes(size_max, '\0');
    const ssize_t size = recv(socket_.get(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
    bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return bytes;
  }

 private:
  const Endpoint endpoint_;
  Descriptor socket_;
  bool may_block_ = false;
};

// ---- TLS ----

int DescriptorOf(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

int BioWrite(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent = send(DescriptorOf(bio), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int BioRead(BIO* bio, char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t got = recv(DescriptorOf(bio), bytes, static_cast<std::size_t>(size), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(got);
}

long BioControl(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

struct BioMethodDeleter {
  void operator()(BIO_METHOD* method) const { BIO_meth_free(method); }
};
struct SslDeleter {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

class TlsStream final : public SocketStream {
 public:
  TlsStream(Endpoint endpoint, Descriptor socket)
      : endpoint_(std::move(endpoint)), socket_(std::move(socket)) {}
  ~TlsStream() override {
    if (ssl_ != nullptr && healthy_) SSL_shutdown(ssl_.get());
    ERR_clear_error();
  }

  Status Shake(ssl_ctx_st* context, Deadline deadline) {
    ERR_clear_error();
    method_.reset(BIO_meth_new(BIO_TYPE_SOURCE_SINK, "socket without SIGPIPE"));
    ssl_.reset(SSL_new(context));
    if (ssl_ == nullptr || method_ == nullptr) return Failed("no TLS", ErrorCode::kIo);
    BIO_meth_set_write(method_.get(), BioWrite);
    BIO_meth_set_read(method_.get(), BioRead);
    BIO_meth_set_ctrl(method_.get(), BioControl);
    BIO* const bio = BIO_new(method_.get());
    if (bio == nullptr) return Failed("no TLS", ErrorCode::kIo);
    BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket_.get())));
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
    if (!NameHost()) return Failed("cannot use the host's name", ErrorCode::kInvalid);
    const Status done =
        Repeat("the TLS handshake", deadline, [this] { return SSL_connect(ssl_.get()); });
    if (done) {
      healthy_ = true;
      return {};
    }
    const long verdict = SSL_get_verify_result(ssl_.get());
    if (verdict == X509_V_OK) return done;
    return Error{ErrorCode::kInvalid,
                 fmt::format("{}: the certificate is not trusted: {}", endpoint_.ToText(),
                             X509_verify_cert_error_string(verdict))};
  }

  Result<std::size_t> Read(std::span<char> out, Deadline deadline) override {
    std::size_t size = 0;
    ended_ = false;
    const Status done = Repeat("reading", deadline, [&] {
      return SSL_read_ex(ssl_.get(), out.data(), out.size(), &size);
    });
    if (!done && !ended_) return done.error();
    return size;
  }

  Result<std::size_t> WriteSome(std::string_view bytes, Deadline deadline, bool) override {
    std::size_t size = 0;
    const Status done = Repeat("writing", deadline, [&] {
      return SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &size);
    });
    if (!done) return done.error();
    return size;
  }

  // Session tickets may lie there unread: what is not application data and no end is quiet.
  bool Quiet() override {
    char byte = 0;
    ERR_clear_error();
    const int got = SSL_peek(ssl_.get(), &byte, 1);
    return got <= 0 && SSL_get_error(ssl_.get(), got) == SSL_ERROR_WANT_READ;
  }

  std::string Peek(std::size_t) override { return {}; }

 private:
  bool NameHost() {
    in6_addr address{};
    const char* const host = endpoint_.host.c_str();
    if (inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1) {
      return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), host) == 1;
    }
    return SSL_set_tlsext_host_name(ssl_.get(), host) == 1 && SSL_set1_host(ssl_.get(), host) == 1;
  }

  // Calls `work` until it succeeds, waiting for the socket in between.
  template <typename Work>
  Status Repeat(std::string_view what, Deadline deadline, const Work& work) {
    for (;;) {
      ERR_clear_error();
      errno = 0;
      const int outcome = work();
      if (outcome > 0) return {};
      const int reason = SSL_get_error(ssl_.get(), outcome);
      short events = 0;
      if (reason == SSL_ERROR_WANT_READ) events = POLLIN;
      if (reason == SSL_ERROR_WANT_WRITE) events = POLLOUT;
      if (events == 0) {
        healthy_ = false;
        ended_ = reason == SSL_ERROR_ZERO_RETURN;
        if (reason == SSL_ERROR_SYSCALL) return SystemError(endpoint_, what, errno);
        return Failed(what, ErrorCode::kIo);
      }
      if (WaitFor(socket_.get(), events, deadline) == 0) return TooLate(endpoint_, what);
    }
  }

  Error Failed(std::string_view what, ErrorCode code) const {
    return {code, fmt::format("{}: {}: {}", endpoint_.ToText(), what, TlsErrorText())};
  }

  const Endpoint endpoint_;
  Descriptor socket_;
  std::unique_ptr<BIO_METHOD, BioMethodDeleter> method_;
  std::unique_ptr<SSL, SslDeleter> ssl_;  // uses method_ and socket_
  bool healthy_ = false;                  // the other side shall be told of the end
  bool ended_ = false;                    // it told us
};

// ---- Connecting ----

struct AddressDeleter {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

Result<Descriptor> ConnectTo(const addrinfo& address, const Endpoint& endpoint, Deadline deadline) {
  Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return SystemError(endpoint, "no socket", errno);
  if (connect(socket.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return SystemError(endpoint, "cannot connect", errno);
    if (WaitFor(socket.get(), POLLOUT, deadline) == 0) return TooLate(endpoint, "connecting");
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return SystemError(endpoint, "cannot connect", error);
  }
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

Result<Descriptor> ConnectToAny(const Endpoint& endpoint, Deadline deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failure =
      getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (failure != 0) {
    return Error{ErrorCode::kIo, fmt::format("{}: no address for this host: {}", endpoint.ToText(),
                                             gai_strerror(failure))};
  }
  const std::unique_ptr<addrinfo, AddressDeleter> list(found);
  Result<Descriptor> socket =
      Error{ErrorCode::kIo, endpoint.ToText() + ": the host has no address"};
  for (const addrinfo* one = found; one != nullptr && !socket; one = one->ai_next) {
    socket = ConnectTo(*one, endpoint, deadline);
  }
  return socket;
}

}  // namespace

Status SocketStream::Write(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const Result<std::size_t> size = WriteSome(bytes, deadline, false);
    if (!size) return size.error();
    bytes.remove_prefix(*size);
  }
  return {};
}

std::string Endpoint::ToText() const {
  const bool v6 = host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", tls ? "https" : "http", v6 ? "[" : "", host, v6 ? "]" : "",
                     port);
}

Result<std::unique_ptr<SocketStream>> SocketStream::Connect(const Endpoint& endpoint,
                                                            ssl_ctx_st* context,
                                                            Deadline deadline) {
  Result<Descriptor> socket = ConnectToAny(endpoint, deadline);
  if (!socket) return socket.error();
  if (!endpoint.tls) {
    return std::unique_ptr<SocketStream>(
        std::make_unique<PlainStream>(endpoint, std::move(*socket)));
  }
  auto stream = std::make_unique<TlsStream>(endpoint, std::move(*socket));
  if (Status done = stream->Shake(context, deadline); !done) return done.error();
  return std::unique_ptr<SocketStream>(std::move(stream));
}

}  // namespace stele::net
