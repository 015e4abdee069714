// After every event Pump() starts what the connection wants and what is not yet under way: at most
// one read and one write. Deadlines are plain moments that OnTick() looks at, so that no timer is
// armed per request.
#include "net/server_session.h"

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <type_traits>
#include <utility>

#include "net/server_connection.h"
#include "net/transfer_budget.h"

namespace stele::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;
using TlsStream = asio::ssl::stream<Socket>;
using std::chrono::steady_clock;

// A slow client is given 64 KB at a time, so that its progress is seen.
constexpr std::size_t kWriteSize = std::size_t{64} << 10;

template <typename Stream>
class StreamSession final : public ServerSession,
                            public ConnectionHost,
                            public ExchangeHost,
                            public std::enable_shared_from_this<StreamSession<Stream>> {
  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;
  using Wait = ServerConnection::Wait;

 public:
  template <typename... StreamArguments>
  explicit StreamSession(SessionSetting setting, StreamArguments&&... arguments)
      : setting_(std::move(setting)),
        stream_(std::forward<StreamArguments>(arguments)...),
        connection_(
            {setting_.limits, setting_.clock, setting_.handler, *this, setting_.peer, kTls}),
        read_budget_(setting_.limits.transfer_timeout, setting_.limits.transfer_rate_min),
        write_budget_(read_budget_) {}

  void Start() override {
    if constexpr (kTls) {
      busy_ = true;
      since_ = steady_clock::now();
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](const error_code& error) {
                                self->busy_ = false;
                                if (error) return self->Kill();
                                self->Pump();
                              });
    } else {
      Pump();
    }
  }

  void OnTick(Moment now) override {
    if (closed_) return;
    if (busy_) {
      // The closing of TLS may take its time no longer, but what was sent still arrives.
      const bool ending = connection_.lingering();
      if (now - since_ <=
          (ending ? setting_.limits.linger_timeout : setting_.limits.head_timeout)) {
        return;
      }
      return ending ? Close() : Kill();
    }
    if (writing_ && now - write_since_ > write_budget_.left()) return Kill();
    if (wait_ == Wait::kAhead) {
      connection_.OnWake();  // the worker may be done, and the client idle
      return Pump();
    }
    if (wait_ == Wait::kNothing || now - since_ <= Allowed(wait_)) return;
    connection_.OnTimeout();
    Pump();
  }

  void Stop() override {
    if (closed_) return;
    if (busy_) {
      if (!connection_.lingering()) Kill();
      return;
    }
    connection_.OnStop();
    Pump();
  }

  void Kill() override {
    connection_.Abort();
    Close();
  }

  void RunOnWorker(std::function<void()> work) override { setting_.workers.Run(std::move(work)); }

  std::shared_ptr<ExchangeHost> ForExchanges() override { return this->shared_from_this(); }

  void Wake() override {
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
      if (self->closed_) return;
      self->connection_.OnWake();
      self->Pump();
    });
  }

  std::size_t SendNow(std::string_view bytes) override {
    if constexpr (kTls) return 0;
    const ssize_t size =
        ::send(Tcp().native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return size > 0 ? static_cast<std::size_t>(size) : 0;  // the loop will see what is wrong
  }

 private:
  Socket& Tcp() {
    if constexpr (kTls) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }

  std::chrono::milliseconds Allowed(Wait wait) const {
    switch (wait) {
      case Wait::kRequest:
        return setting_.limits.idle_timeout;
      case Wait::kHead:
        return setting_.limits.head_timeout;
      case Wait::kLinger:
        return setting_.limits.linger_timeout;
      default:
        return read_budget_.left();
    }
  }

  void Pump() {
    if (closed_ || busy_) return;
    if (connection_.closed()) return Close();
    if (!writing_ && !connection_.output().empty()) StartWrite();
    if (connection_.lingering() && !shut_) {
      shut_ = true;
      ShutDown();
      if (busy_) return;
    }
    NoteWait();
    if (!reading_ && wait_ != Wait::kNothing) StartRead();
  }

  // A wait that goes on keeps its begin: one byte now and then is no progress in a head.
  void NoteWait() {
    const Wait wait = connection_.wait();
    if (wait == wait_ && (wait != Wait::kBody || reading_)) return;
    if (wait_ != Wait::kBody) read_budget_.Refill();
    wait_ = wait;
    since_ = steady_clock::now();
  }

  void StartRead() {
    reading_ = true;
    const std::span<char> room = connection_.InputRoom();
    const auto done = [self = this->shared_from_this()](const error_code& error, std::size_t size) {
      self->OnRead(error, size);
    };
    // While lingering, whatever comes is dropped, encrypted or not.
    if (shut_) {
      Tcp().async_read_some(asio::buffer(room.data(), room.size()), done);
    } else {
      stream_.async_read_some(asio::buffer(room.data(), room.size()), done);
    }
  }

  void OnRead(const error_code& error, std::size_t size) {
    reading_ = false;
    if (closed_ || busy_) return;  // cancelled, because TLS ends
    if (wait_ == Wait::kBody) read_budget_.Account(Since(since_), size);
    if (!error) {
      connection_.OnInput(size);
    } else if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) {
      connection_.OnEof();
    } else {
      return Kill();
    }
    Pump();
  }

  void StartWrite() {
    writing_ = true;
    write_since_ = steady_clock::now();
    const std::string_view bytes = connection_.output().substr(0, kWriteSize);
    stream_.async_write_some(
        asio::buffer(bytes.data(), bytes.size()),
        [self = this->shared_from_this()](const error_code& error, std::size_t size) {
          self->OnWritten(error, size);
        });
  }

  void OnWritten(const error_code& error, std::size_t size) {
    writing_ = false;
    if (closed_) return;
    if (error) return Kill();
    write_budget_.Account(Since(write_since_), size);
    connection_.OnOutput(size);
    Pump();
  }

  static std::chrono::milliseconds Since(Moment begin) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - begin);
  }

  void ShutDown() {
    error_code ignored;
    if constexpr (kTls) {
      // A read under way would take the client's answer away.
      if (reading_) Tcp().cancel(ignored);
      busy_ = true;
      since_ = steady_clock::now();
      stream_.async_shutdown([self = this->shared_from_this()](const error_code&) {
        self->busy_ = false;
        if (self->closed_) return;
        error_code none;
        self->Tcp().shutdown(Socket::shutdown_send, none);
        self->Pump();
      });
    } else {
      Tcp().shutdown(Socket::shutdown_send, ignored);
    }
  }

  void Close() {
    if (closed_) return;
    closed_ = true;
    error_code ignored;
    if (connection_.cut()) {
      Tcp().set_option(asio::socket_base::linger(true, 0), ignored);
    }
    Tcp().close(ignored);
    setting_.on_closed(*this);
  }

  SessionSetting setting_;
  Stream stream_;
  ServerConnection connection_;
  bool closed_ = false;
  bool busy_ = false;  // TLS begins or ends
  bool shut_ = false;
  bool reading_ = false;
  bool writing_ = false;
  Wait wait_ = Wait::kNothing;
  Moment since_;  // begin of wait_, or of being busy
  Moment write_since_;
  TransferBudget read_budget_;
  TransferBudget write_budget_;
};

}  // namespace

std::shared_ptr<ServerSession> NewSession(SessionSetting setting, int socket, ssl_ctx_st* tls) {
  Socket tcp(setting.context);
  error_code ignored;
  tcp.assign(asio::ip::tcp::v4(), socket, ignored);
  tcp.set_option(asio::ip::tcp::no_delay(true), ignored);
  if (tls == nullptr) {
    return std::make_shared<StreamSession<Socket>>(std::move(setting), std::move(tcp));
  }
  SSL_CTX_up_ref(tls);
  asio::ssl::context context(tls);  // only lends its handle to the stream
  return std::make_shared<StreamSession<TlsStream>>(std::move(setting), std::move(tcp), context);
}

}  // namespace stele::net
