// A connection without TLS waits for requests in the worker pool. The worker that sees one come
// reads it, handles it and sends the response, and no other thread takes part: an exchange of two
// small messages costs one change of thread. All that needs waiting for a client in the middle of
// an exchange, a large body, a large response, a slow reader, goes to the loop, as does closing;
// with TLS everything is there. There, Pump() starts after every event what the connection wants
// and what is not yet under way: at most one read and one write.
//
// Who has the connection is never in doubt: the worker pool while it is watched, whoever took it
// from there, or the loop, to which HandOver() gives it. Deadlines are plain moments that OnTick()
// looks at, so that no timer is armed per request.
#include "net/server_session.h"

#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cerrno>
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
                            public Watcher,
                            public std::enable_shared_from_this<StreamSession<Stream>> {
  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;
  using Wait = ServerConnection::Wait;

 public:
  // `socket` is given to `stream` when the loop needs it.
  template <typename... StreamArguments>
  explicit StreamSession(SessionSetting setting, int socket, StreamArguments&&... arguments)
      : setting_(std::move(setting)),
        socket_(socket),
        stream_(std::forward<StreamArguments>(arguments)...),
        connection_(
            {setting_.limits, setting_.clock, setting_.handler, *this, setting_.peer, kTls}),
        read_budget_(setting_.limits.transfer_timeout, setting_.limits.transfer_rate_min),
        write_budget_(read_budget_) {}

  ~StreamSession() override {
    if (!assigned_) ::close(socket_);
  }

  void Start() override {
    TakeSocket();
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
    if (!on_loop_) {
      if (now.time_since_epoch().count() <= watch_end_ || !TakeFromWatch()) return;
      connection_.OnTimeout();
      return Pump();
    }
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
    if (wait_ == Wait::kNothing || now - since_ <= Allowed(wait_)) return;
    connection_.OnTimeout();
    Pump();
  }

  void Stop() override {
    if (closed_) return;
    stopping_ = true;
    if (!on_loop_ && !TakeFromWatch()) return;  // the worker will notice
    if (busy_) {
      if (!connection_.lingering()) Kill();
      return;
    }
    connection_.OnStop();
    Pump();
  }

  void Kill() override {
    if (closed_) return;
    killed_ = true;
    stopping_ = true;
    if (!on_loop_ && !TakeFromWatch()) return;  // the worker will notice
    connection_.Abort();
    Close();
  }

  bool Stopping() const override { return stopping_; }

  void RunOnWorker(std::function<void()> work) override {
    if (on_worker_) {
      work_ = std::move(work);
    } else {
      setting_.workers.Run(std::move(work));
    }
  }

  std::shared_ptr<ExchangeHost> ForExchanges() override { return this->shared_from_this(); }

  // From the handler: it needs somebody who sends and receives while it goes on, or it is over.
  void Wake(bool over) override {
    if (on_worker_) {
      if (!over) HandOver();
      return;
    }
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
      if (self->closed_ || !self->on_loop_) return;
      self->connection_.OnWake();
      self->Pump();
    });
  }

  // ---- On a worker ----

  void OnReadable() override {
    on_worker_ = true;
    do {
      const std::span<char> room = connection_.InputRoom();
      const ssize_t size = ::recv(socket_, room.data(), room.size(), MSG_DONTWAIT);
      if (size < 0 && errno != EAGAIN && errno != EINTR) {
        connection_.Abort();
        return HandOver();
      }
      if (size < 0) break;
      NoteInput(static_cast<std::size_t>(size));
      if (!WorkAndSend()) return;
      NoteWait();
    } while (wait_ == Wait::kBody);  // most of which have come with their heads
    if (connection_.closed() || connection_.lingering() || wait_ == Wait::kNothing) {
      return HandOver();
    }
    WatchAgain();
  }

 private:
  // False when the connection is the loop's now.
  bool WorkAndSend() {
    for (;;) {
      if (work_ != nullptr) {
        const std::function<void()> work = std::exchange(work_, nullptr);
        if (!connection_.whole_request()) {
          HandOver();
          setting_.workers.Run(work);
          return false;
        }
        bool gone = false;
        gone_ = &gone;
        work();
        if (gone) return false;  // it needed the loop
        gone_ = nullptr;
        connection_.OnWake();
      } else if (const std::string_view output = connection_.output(); !output.empty()) {
        const ssize_t size =
            ::send(socket_, output.data(), output.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size != static_cast<ssize_t>(output.size())) {
          if (size > 0) connection_.OnOutput(static_cast<std::size_t>(size));
          HandOver();
          return false;
        }
        connection_.OnOutput(output.size());
      } else {
        return true;
      }
    }
  }

  // The loop goes on. Nothing of the connection may be touched after this.
  void HandOver() {
    on_worker_ = false;
    if (bool* const gone = std::exchange(gone_, nullptr)) *gone = true;
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
      self->TakeSocket();
      if (self->killed_) {
        self->connection_.Abort();
        return self->Close();
      }
      if (self->stopping_) self->connection_.OnStop();
      self->connection_.OnWake();
      self->Pump();
    });
  }

  // From a worker or the loop, which does not have the connection any longer.
  void WatchAgain() {
    on_worker_ = false;
    watch_end_ = (since_ + Allowed(wait_)).time_since_epoch().count();
    const std::shared_ptr<StreamSession> self = this->shared_from_this();
    const bool watched = setting_.workers.Watch(socket_, self);
    if (watched && !stopping_) return;
    if (!watched || setting_.workers.Unwatch(socket_)) HandOver();
  }

  // ---- On the loop ----

  // True when the connection was waiting and is the loop's now.
  bool TakeFromWatch() {
    if (!setting_.workers.Unwatch(socket_)) return false;
    TakeSocket();
    return true;
  }

  void TakeSocket() {
    on_loop_ = true;
    if (std::exchange(assigned_, true)) return;
    error_code ignored;
    Tcp().assign(asio::ip::tcp::v4(), socket_, ignored);
  }

  // True when there is nothing to do but to wait for a request.
  bool LeaveTheLoop() {
    if (kTls || wait_ != Wait::kRequest || reading_ || writing_ || stopping_) return false;
    error_code error;
    Tcp().release(error);
    if (error) return false;
    assigned_ = false;
    on_loop_ = false;
    WatchAgain();
    return true;
  }

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
    if (!reading_ && wait_ != Wait::kNothing && !LeaveTheLoop()) StartRead();
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
    const bool ended = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
    if (error && !ended) return Kill();
    NoteInput(ended ? 0 : size);
    Pump();
  }

  // 0: the end.
  void NoteInput(std::size_t size) {
    if (wait_ == Wait::kBody) read_budget_.Account(Since(since_), size);
    if (size > 0) {
      connection_.OnInput(size);
    } else {
      connection_.OnEof();
    }
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
  const int socket_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> killed_ = false;
  std::atomic<Moment::rep> watch_end_ = 0;  // when a wait in the worker pool has taken too long

  // Of whoever has the connection.
  Stream stream_;
  ServerConnection connection_;
  bool on_worker_ = false;
  std::function<void()> work_;  // to be done by the worker that has the connection
  bool* gone_ = nullptr;        // tells a worker whose handler goes on that it has it no longer
  Wait wait_ = Wait::kNothing;
  Moment since_;  // begin of wait_, or of being busy
  TransferBudget read_budget_;
  TransferBudget write_budget_;

  // Of the loop.
  bool on_loop_ = true;    // it has the connection
  bool assigned_ = false;  // the socket belongs to the stream
  bool closed_ = false;
  bool busy_ = false;  // TLS begins or ends
  bool shut_ = false;
  bool reading_ = false;
  bool writing_ = false;
  Moment write_since_;
};

}  // namespace

std::shared_ptr<ServerSession> NewSession(SessionSetting setting, int socket, ssl_ctx_st* tls) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  Socket tcp(setting.context);
  if (tls == nullptr) {
    return std::make_shared<StreamSession<Socket>>(std::move(setting), socket, std::move(tcp));
  }
  SSL_CTX_up_ref(tls);
  asio::ssl::context context(tls);  // only lends its handle to the stream
  return std::make_shared<StreamSession<TlsStream>>(std::move(setting), socket, std::move(tcp),
                                                    context);
}

}  // namespace stele::net
