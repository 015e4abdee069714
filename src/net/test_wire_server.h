#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

// A server that sends prepared bytes, good or bad, and ends as it is told.
namespace stele::net {

struct WireAnswer {
  enum class End {
    kKeep,   // waits for the next request
    kClose,  // says goodbye
    kReset,  // does not
    kHang,   // says nothing more until the client leaves
    kDrip,   // sends a byte now and then until the client leaves
  };
  std::string bytes;
  End end = End::kClose;
  std::size_t piece = 0;  // sent so many bytes at a time; 0: all at once
};

// A socket that listens on a free port of 127.0.0.1.
struct LoopbackListener {
  LoopbackListener() : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(socket, 1000), 0);
    socklen_t size = sizeof address;
    getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
  }
  ~LoopbackListener() { close(socket); }
  LoopbackListener(const LoopbackListener&) = delete;
  LoopbackListener& operator=(const LoopbackListener&) = delete;

  // Negative once Stop() was called, from another thread.
  int Accept() const { return accept4(socket, nullptr, nullptr, SOCK_CLOEXEC); }
  // From then on it refuses, and nobody else can have the port.
  void Stop() const { shutdown(socket, SHUT_RDWR); }

  const int socket;
  std::uint16_t port = 0;
};

// Answers until it is destroyed, on a thread for each connection.
class WireServer {
 public:
  // Gets the head of the request, and the number of requests before it.
  using Handler = std::function<WireAnswer(const std::string& request, int number)>;

  explicit WireServer(WireAnswer answer)
      : WireServer([answer](const std::string&, int) { return answer; }) {}
  explicit WireServer(Handler handler) : handler_(std::move(handler)) {
    accepting_ = std::thread([this] { Accept(); });
  }
  WireServer(const WireServer&) = delete;
  WireServer& operator=(const WireServer&) = delete;
  ~WireServer() {
    listener_.Stop();
    accepting_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int one : open_) shutdown(one, SHUT_RDWR);
    }
    for (std::thread& one : serving_) one.join();
  }

  std::uint16_t port() const { return listener_.port; }
  int connections() const { return connections_; }
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void Accept() {
    for (;;) {
      const int connection = listener_.Accept();
      if (connection < 0) return;
      ++connections_;
      const std::lock_guard lock(mutex_);
      open_.push_back(connection);
      serving_.emplace_back([this, connection] {
        Serve(connection);
        const std::lock_guard closing(mutex_);
        open_.remove(connection);
        close(connection);
      });
    }
  }

  void Serve(int connection) {
    std::string received;
    for (;;) {
      std::string request;
      int number = 0;
      if (!TakeRequest(connection, received, request)) return;
      {
        const std::lock_guard lock(mutex_);
        number = static_cast<int>(requests_.size());
        requests_.push_back(request);
      }
      const WireAnswer answer = handler_(request, number);
      if (!SendAll(connection, answer)) return;
      if (answer.end != WireAnswer::End::kKeep) return End(connection, answer.end);
    }
  }

  static bool TakeRequest(int connection, std::string& received, std::string& request) {
    for (;;) {
      const std::size_t end = received.find("\r\n\r\n");
      if (end != std::string::npos) {
        request = received.substr(0, end + 4);
        received.erase(0, end + 4);
        return true;
      }
      char piece[4096];
      const ssize_t size = recv(connection, piece, sizeof piece, 0);
      if (size <= 0) return false;
      received.append(piece, static_cast<std::size_t>(size));
    }
  }

  static bool SendAll(int connection, const WireAnswer& answer) {
    std::string_view rest = answer.bytes;
    while (!rest.empty()) {
      const std::string_view piece = answer.piece == 0 ? rest : rest.substr(0, answer.piece);
      const ssize_t size = send(connection, piece.data(), piece.size(), MSG_NOSIGNAL);
      if (size <= 0) return false;
      rest.remove_prefix(static_cast<std::size_t>(size));
      if (answer.piece != 0) std::this_thread::yield();
    }
    return true;
  }

  static void End(int connection, WireAnswer::End end) {
    char piece[4096];
    switch (end) {
      case WireAnswer::End::kReset: {
        // A reset throws away what was not yet taken.
        for (int left = 1; ioctl(connection, SIOCOUTQ, &left) == 0 && left > 0;) {
          std::this_thread::yield();
        }
        const linger now{1, 0};
        setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        return;
      }
      case WireAnswer::End::kHang:
        while (recv(connection, piece, sizeof piece, 0) > 0) {
        }
        return;
      case WireAnswer::End::kDrip:
        while (send(connection, "x", 1, MSG_NOSIGNAL) == 1) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return;
      default:
        shutdown(connection, SHUT_WR);
        while (recv(connection, piece, sizeof piece, 0) > 0) {
        }
        return;
    }
  }

  Handler handler_;
  const LoopbackListener listener_;
  std::atomic<int> connections_ = 0;
  mutable std::mutex mutex_;
  std::list<int> open_;
  std::vector<std::string> requests_;
  std::thread accepting_;
  std::vector<std::thread> serving_;
};

}  // namespace stele::net
