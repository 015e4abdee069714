#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "formats/http/body.h"
#include "formats/http/message.h"
#include "io/clock.h"
#include "net/http_server.h"

// What the tests of this folder talk to and with.
namespace stele::net {

class FunctionHandler final : public Handler {
 public:
  using Function = std::function<void(Request&, ResponseWriter&)>;
  explicit FunctionHandler(Function function) : function_(std::move(function)) {}
  void Handle(Request& request, ResponseWriter& response) override { function_(request, response); }

 private:
  Function function_;
};

// The whole body, or nothing where it could not be read.
inline std::optional<std::string> ReadBody(Request& request) {
  std::string all;
  std::string piece(16 << 10, '\0');
  for (;;) {
    const Result<std::size_t> size = request.body().Read(piece);
    if (!size) return std::nullopt;
    if (*size == 0) return all;
    all.append(piece, 0, *size);
  }
}

// Answers with method, target and body.
inline void Echo(Request& request, ResponseWriter& response) {
  const std::optional<std::string> body = ReadBody(request);
  if (!body) return;
  std::string text(request.head().method);
  text.append(" ").append(request.head().target).append("\n").append(*body);
  EXPECT_TRUE(response.Reply(200, "text/plain", text));
}

// A server on a free port of the loopback.
class TestServer {
 public:
  explicit TestServer(FunctionHandler::Function function = Echo, HttpServerOptions options = {})
      : handler_(std::move(function)) {
    auto server = HttpServer::Open(options, handler_, clock_);
    EXPECT_TRUE(server.ok()) << server.error().text;
    server_ = std::move(*server);
  }
  HttpServer& operator*() { return *server_; }
  HttpServer* operator->() { return server_.get(); }

 private:
  io::SystemClock clock_;
  FunctionHandler handler_;
  std::unique_ptr<HttpServer> server_;
};

// A client that sends what it likes.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, int receive_buffer = 0) {
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer > 0) {
      setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    // A test that would hang fails instead.
    const timeval limit{60, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { close(socket_); }

  bool connected() const { return connected_; }

  // False where the server does not take it.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t size = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (size <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(size));
    }
    return true;
  }
  void EndSending() { shutdown(socket_, SHUT_WR); }

  // False at the end.
  bool Receive() {
    char piece[16 << 10];
    const ssize_t size = recv(socket_, piece, sizeof piece, 0);
    if (size > 0) received_.append(piece, static_cast<std::size_t>(size));
    reset_ |= size < 0;
    return size > 0;
  }
  std::string ReceiveAll() {
    while (Receive()) {
    }
    return std::exchange(received_, {});
  }
  bool reset() const { return reset_; }
  const std::string& received() const { return received_; }  // so far, and not yet taken

  struct Response {
    int status = 0;  // 0: none came, or not all of it
    std::string head;
    std::string body;
  };
  // One response; what follows it is kept for the next.
  Response ReceiveResponse(std::string_view method = "GET") {
    Response response;
    http::ResponseParser parser;
    while (parser.Parse(received_, false) != http::HeadOutcome::kComplete) {
      if (!Receive()) return response;
    }
    const http::BodyPlan plan = http::PlanResponseBody(parser.head(), method);
    const int status = parser.head().status;
    response.head = received_.substr(0, parser.head().head_length);
    received_.erase(0, parser.head().head_length);
    if (plan.framing != http::BodyFraming::kNone) {
      http::TransferDecoder decoder(plan);
      const bool empty = plan.framing == http::BodyFraming::kLength && plan.length == 0;
      for (bool done = empty; !done;) {
        if (received_.empty() && !Receive()) {
          if (plan.framing != http::BodyFraming::kUntilClose || reset_) return response;
          break;
        }
        const auto step = decoder.Decode(received_);
        response.body += step.payload;
        received_.erase(0, step.consumed);
        done = step.done;
      }
    }
    response.status = status;
    return response;
  }

 private:
  int socket_;
  bool connected_ = false;
  bool reset_ = false;
  std::string received_;
};

struct CommandOutcome {
  int exit_code = -1;
  std::string output;
};

inline CommandOutcome RunCommand(const std::string& command) {
  CommandOutcome outcome;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char piece[4096];
  for (std::size_t size = 0; (size = fread(piece, 1, sizeof piece, pipe)) > 0;) {
    outcome.output.append(piece, size);
  }
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

}  // namespace stele::net
