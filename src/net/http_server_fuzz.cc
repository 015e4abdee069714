// Any bytes to the server's connection, without sockets: it comes to an end, odd pieces are
// answered as the whole is, and every answer is a well-formed response to one request.
#include <cstdint>
#include <string>

#include "formats/http/body.h"
#include "net/connection_driver.h"

namespace stele::net {
namespace {

// Reads all, then answers; "/skip" answers without reading, "/stream" in chunks, "/source" later.
class FuzzHandler final : public Handler {
 public:
  void Handle(Request& request, ResponseWriter& response) override {
    const std::string_view path = request.path();
    Check(path == "*" || path.starts_with('/'));
    if (path == "/skip") {
      (void)response.Reply(200, "text/plain", "skipped");
      return;
    }
    std::string body(request.head().target);
    std::string piece(37, '\0');
    for (;;) {
      const Result<std::size_t> size = request.body().Read(piece);
      if (!size) return;
      if (*size == 0) break;
      body.append(piece, 0, *size);
    }
    if (path == "/stream") {
      (void)response.Start({});
      (void)response.Write(body);
    } else if (path == "/source") {
      (void)response.SendFrom({}, std::make_unique<OwningSource>(std::move(body)));
    } else {
      (void)response.Reply(200, "application/octet-stream", body);
    }
  }

 private:
  class OwningSource final : public io::Source {
   public:
    explicit OwningSource(std::string bytes) : bytes_(std::move(bytes)), source_(bytes_) {}
    Result<std::size_t> Read(std::span<char> out) override { return source_.Read(out); }

   private:
    std::string bytes_;
    io::MemorySource source_;
  };
};

std::string Run(std::string_view input, std::size_t piece) {
  static WorkerPool workers(1);
  HttpLimits limits;
  limits.head_size_max = 2000;
  limits.body_size_max = 3000;
  limits.body_buffer = 64;
  limits.output_buffer = 200;
  limits.drain_max = 100;
  FuzzHandler handler;
  ConnectionDriver driver(limits, handler, workers);
  return driver.Run(input, piece);
}

// The final responses with their chunks joined: where a chunk ends depends on who was faster, and
// whether 100 Continue was needed on how the bytes came.
// HEAD responses announce bytes that do not come, so that outputs with them cannot be walked.
std::string Walk(std::string_view output) {
  std::string joined;
  while (!output.empty()) {
    http::ResponseParser parser;
    Check(parser.Parse(output, false) == http::HeadOutcome::kComplete);
    const http::ResponseHead& head = parser.head();
    Check(head.version == "HTTP/1.1" && head.defects.empty());
    const http::BodyPlan plan = http::PlanResponseBody(head, "GET");
    Check(plan.defects.empty());
    joined += head.raw;
    output.remove_prefix(head.head_length);
    if (plan.framing == http::BodyFraming::kUntilClose) return joined.append(output);
    http::TransferDecoder decoder(plan);
    bool done = plan.framing == http::BodyFraming::kNone ||
                (plan.framing == http::BodyFraming::kLength && plan.length == 0);
    while (!done) {
      Check(!output.empty());
      const auto step = decoder.Decode(output);
      joined += step.payload;
      output.remove_prefix(step.consumed);
      done = step.done;
    }
    Check(decoder.defects().empty());
  }
  return joined;
}

}  // namespace
}  // namespace stele::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele::net;
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = Run(input, 1 << 20);
  const std::string pieces = Run(input, 1 + data[0] % 61);
  if (input.find("HEAD") != std::string_view::npos) return 0;
  const std::string one = Walk(whole);
  const std::string other = Walk(pieces);
  // A body that is not read races with its arrival, and the connection may end before a later
  // request.
  if (input.find("/skip") == std::string_view::npos) Check(one == other);
  return 0;
}
