// Pages per second over loopback, many at a time, from our own server.
#include "net/fetcher.h"

#include <benchmark/benchmark.h>

#include <condition_variable>
#include <mutex>
#include <string>

#include "io/posix_file_system.h"
#include "net/http_server.h"
#include "util/check.h"

namespace stele::net {
namespace {

class Page final : public Handler {
 public:
  explicit Page(std::size_t size) : body_(size, 'x') {}
  void Handle(Request&, ResponseWriter& response) override {
    (void)response.Reply(200, "text/html", body_);
  }

 private:
  const std::string body_;
};

// `keep`: on connections that are used again.
void Run(benchmark::State& state, std::size_t body_size, bool keep) {
  constexpr std::size_t kAtATime = 64;
  Page page(body_size);
  const io::SystemClock clock;
  io::PosixFileSystem fs;
  HttpServerOptions server_options;
  server_options.workers = 4;
  const auto server = HttpServer::Open(server_options, page, clock);
  Check(server.ok());
  EventLoop loop;
  WorkerPool workers(1);
  const auto resolver = Resolver::Open({}, loop);
  Check(resolver.ok());
  FetcherOptions options;
  options.idle_per_host_max = kAtATime;
  const auto fetcher = Fetcher::Open(options, loop, **resolver, workers, fs, clock);
  Check(fetcher.ok());
  FetchRequest request;
  request.endpoint = {false, "127.0.0.1", (*server)->port()};
  request.fields = {{"Host", "127.0.0.1"}, {"User-Agent", "bench"}, {"Accept", "*/*"}};
  if (!keep) request.fields.push_back({"Connection", "close"});
  request.private_addresses = true;

  std::mutex mutex;
  std::condition_variable changed;
  std::size_t under_way = 0;
  for (auto _ : state) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return under_way < kAtATime; });
    ++under_way;
    lock.unlock();
    (*fetcher)->Fetch(request, [&](const FetchResult& result) {
      Check(result.payload_length == body_size || result.failure == FetchFailure::kCancelled);
      const std::lock_guard done(mutex);
      --under_way;
      changed.notify_one();
    });
  }
  (*fetcher)->Stop();
  state.SetItemsProcessed(state.iterations());
}

void BM_FetchKept(benchmark::State& state) {
  Run(state, static_cast<std::size_t>(state.range(0)), true);
}
BENCHMARK(BM_FetchKept)->Arg(1 << 10)->Arg(20 << 10)->UseRealTime();

void BM_FetchFresh(benchmark::State& state) {
  Run(state, static_cast<std::size_t>(state.range(0)), false);
}
BENCHMARK(BM_FetchFresh)->Arg(20 << 10)->UseRealTime();

}  // namespace
}  // namespace stele::net
