#include "net/fetch_stream.h"

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <utility>

namespace stele::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Socket = asio::basic_stream_socket<tcp, asio::io_context::executor_type>;

StreamOutcome OutcomeOf(const error_code& error, std::size_t size) {
  using How = StreamOutcome::How;
  if (!error) return {How::kGood, size, {}};
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) {
    return {How::kEnd, 0, "the connection ended"};
  }
  const bool local = error == asio::error::no_descriptors || error == asio::error::no_memory ||
                     error == asio::error::no_buffer_space ||
                     error == error_code(EADDRNOTAVAIL, boost::system::system_category()) ||
                     error == error_code(ENFILE, boost::system::system_category());
  return {local ? How::kLocal : How::kBroken, 0, error.message()};
}

tcp::endpoint ToEndpoint(const IpAddress& address, std::uint16_t port) {
  if (address.v6) return {asio::ip::address_v6(address.bytes), port};
  asio::ip::address_v4::bytes_type bytes{};
  std::copy_n(address.bytes.begin(), bytes.size(), bytes.begin());
  return {asio::ip::address_v4(bytes), port};
}

class AsioStream final : public FetchStream, public std::enable_shared_from_this<AsioStream> {
 public:
  AsioStream(EventLoop& loop, std::shared_ptr<FetchTls> tls)
      : socket_(loop.context()), tls_(std::move(tls)) {}
  ~AsioStream() override { EndTls(); }

  void Connect(const IpAddress& address, std::uint16_t port, Done done) override {
    error_code error;
    socket_.close(error);
    socket_.open(address.v6 ? tcp::v6() : tcp::v4(), error);
    if (error) {
      asio::post(socket_.get_executor(), [self = shared_from_this(), error,
                                          done = std::move(done)] { done(OutcomeOf(error, 0)); });
      return;
    }
    error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    socket_.async_connect(ToEndpoint(address, port),
                          [self = shared_from_this(), done = std::move(done)](
                              const error_code& outcome) { done(OutcomeOf(outcome, 0)); });
  }

  void Secure(const std::string& host, const std::string& key, Done done) override {
    key_ = key;
    SSL_CTX_up_ref(tls_->context());
    asio::ssl::context context(tls_->context());  // only lends its handle to the stream
    secure_.emplace(socket_, context);
    if (!tls_->Prepare(secure_->native_handle(), host, key_)) {
      asio::post(socket_.get_executor(), [self = shared_from_this(), done = std::move(done)] {
        done({StreamOutcome::How::kBroken, 0, "TLS cannot use the host's name"});
      });
      return;
    }
    secure_->async_handshake(
        asio::ssl::stream_base::client,
        [self = shared_from_this(), done = std::move(done)](const error_code& error) {
          if (!error) {
            self->facts_ = self->tls_->FactsOf(self->secure_->native_handle(), self->key_);
          }
          done(OutcomeOf(error, 0));
        });
  }

  void Write(std::string_view bytes, Done done) override {
    auto call = [self = shared_from_this(), done = std::move(done)](
                    const error_code& error, std::size_t size) { done(OutcomeOf(error, size)); };
    const auto buffer = asio::buffer(bytes.data(), bytes.size());
    if (secure_) {
      asio::async_write(*secure_, buffer, std::move(call));
    } else {
      asio::async_write(socket_, buffer, std::move(call));
    }
  }

  void Read(std::span<char> out, Done done) override {
    auto call = [self = shared_from_this(), done = std::move(done)](
                    const error_code& error, std::size_t size) { done(OutcomeOf(error, size)); };
    const auto buffer = asio::buffer(out.data(), out.size());
    if (secure_) {
      secure_->async_read_some(buffer, std::move(call));
    } else {
      socket_.async_read_some(buffer, std::move(call));
    }
  }

  // With TLS, too, whatever has come makes a connection one not to rely on.
  bool Quiet() override {
    char byte = 0;
    const ssize_t size =
        ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT | MSG_NOSIGNAL);
    return size < 0 && errno == EAGAIN;
  }

  void Close() override {
    EndTls();
    error_code ignored;
    socket_.close(ignored);
  }

  std::shared_ptr<const TlsFacts> tls() const override { return facts_; }

 private:
  // Without an orderly end OpenSSL would not take up the session again; nobody has to be told.
  void EndTls() {
    if (!secure_) return;
    SSL_set_shutdown(secure_->native_handle(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  }

  Socket socket_;
  std::shared_ptr<FetchTls> tls_;  // sessions that come late are remembered there
  std::string key_;
  std::optional<asio::ssl::stream<Socket&>> secure_;
  std::shared_ptr<const TlsFacts> facts_;
};

}  // namespace

std::shared_ptr<FetchStream> NewFetchStream(EventLoop& loop, std::shared_ptr<FetchTls> tls) {
  return std::make_shared<AsioStream>(loop, std::move(tls));
}

}  // namespace stele::net
