// Heads, chunked bodies and encoded contents as an indexer meets them.
#include <benchmark/benchmark.h>

#include <string>

#include "codec/registry.h"
#include "codec/test_samples.h"
#include "formats/http/body.h"
#include "formats/http/content_decoder.h"
#include "formats/http/media_type.h"
#include "formats/http/message.h"

namespace stele::http {
namespace {

constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\n"
    "Date: Wed, 30 Apr 2008 20:48:25 GMT\r\n"
    "Server: Apache/2.0.54 (Ubuntu) PHP/5.0.5-2ubuntu1.4 mod_ssl/2.0.54 OpenSSL/0.9.7g\r\n"
    "Last-Modified: Mon, 16 Jun 2003 22:28:51 GMT\r\n"
    "ETag: \"a9f0d-1c2b-3a1f2b40\"\r\n"
    "Accept-Ranges: bytes\r\n"
    "Content-Length: 7211\r\n"
    "Cache-Control: max-age=604800, public\r\n"
    "Set-Cookie: session=0123456789abcdef0123456789abcdef; path=/; HttpOnly\r\n"
    "Vary: Accept-Encoding\r\n"
    "Connection: close\r\n"
    "Content-Type: text/html; charset=UTF-8\r\n\r\n";

void ParseHead(benchmark::State& state) {
  ResponseParser parser;
  const std::string bytes = std::string(kHead) + codec::Markup(7211);
  for (auto _ : state) {
    parser.Reset();
    benchmark::DoNotOptimize(parser.Parse(bytes, true));
    benchmark::DoNotOptimize(parser.head().headers.Find("Content-Type"));
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * kHead.size()));
}
BENCHMARK(ParseHead);

void PlanAndMediaType(benchmark::State& state) {
  const ResponseHead head = *ParseResponseHead(kHead);
  for (auto _ : state) {
    benchmark::DoNotOptimize(PlanStoredBody(head.headers).framing);
    benchmark::DoNotOptimize(ParseMediaType(*head.headers.Find("Content-Type")).type.size());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(PlanAndMediaType);

void JoinChunks(benchmark::State& state) {
  const std::string text = codec::Markup(1 << 20);
  const std::size_t chunk = static_cast<std::size_t>(state.range(0));
  std::string body;
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    char size[20];
    snprintf(size, sizeof size, "%zx\r\n", std::min(chunk, text.size() - at));
    body += size + text.substr(at, chunk) + "\r\n";
  }
  body += "0\r\n\r\n";
  Payload payload;
  for (auto _ : state) {
    DecodeTransfer({BodyFraming::kChunked, 0, {}}, body, payload);
    benchmark::DoNotOptimize(payload.bytes.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * body.size()));
}
BENCHMARK(JoinChunks)->Arg(100)->Arg(8192);

void DecodeGzip(benchmark::State& state) {
  const codec::Registry registry = codec::StandardRegistry();
  const std::string text = codec::Markup(20000);
  const std::string packed = *registry.Find("gzip")->Compress(text, 6);
  std::string room(64 << 10, '\0');
  for (auto _ : state) {
    ContentDecoder decoder(registry, {"gzip"});
    std::string_view rest = packed;
    for (bool done = false; !done;) {
      const ContentDecoder::Step step = decoder.Decode(rest, room, true);
      rest.remove_prefix(step.consumed);
      done = step.done;
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(DecodeGzip);

}  // namespace
}  // namespace stele::http
