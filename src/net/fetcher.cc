#include "net/fetcher.h"

#include <condition_variable>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/fetch_job.h"

namespace stele::net {
namespace {

using std::chrono::milliseconds;

// Deadlines are plain moments that jobs look at so often; no timer is armed per fetch.
constexpr milliseconds kTick{20};

class LoopFetcher final : public Fetcher {
 public:
  LoopFetcher(const FetcherOptions& options, EventLoop& loop, Resolver& resolver,
              WorkerPool& workers, io::FileSystem& fs, const io::Clock& clock,
              std::shared_ptr<FetchTls> tls)
      : setting_{
            options,
            loop,
            resolver,
            workers,
            fs,
            clock,
            std::move(tls),
            IdleStreams({options.idle_per_host_max, options.idle_max, options.idle_time_max})} {}
  ~LoopFetcher() override { Stop(); }

  void Fetch(FetchRequest request, Done done) override {
    {
      const std::lock_guard lock(mutex_);
      ++under_way_;
    }
    setting_.loop.Post([this, request = std::move(request), done = std::move(done)]() mutable {
      auto job = std::make_shared<FetchJob>(
          setting_, std::move(request),
          [this, done = std::move(done)](FetchJob& over, FetchResult result) {
            OnDone(over, std::move(result), done);
          });
      jobs_[job.get()] = job;
      if (stopping_) return job->Cancel();
      job->Start();
      if (timer_ == nullptr) SetTimer();
    });
  }

  void CutShort() override {
    setting_.loop.Post([this] {
      for (const auto& job : Jobs()) job->CutShort();
    });
  }

  void Stop() override {
    setting_.loop.PostAndWait([this] {
      stopping_ = true;
      for (const auto& job : Jobs()) job->Cancel();
    });
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return under_way_ == 0; });
    }
    setting_.loop.PostAndWait([this] {
      timer_ = nullptr;
      setting_.idle.Clear();
      idle_ = 0;
    });
  }

  std::size_t under_way() const override {
    const std::lock_guard lock(mutex_);
    return under_way_;
  }
  std::size_t idle_connections() const override { return idle_; }
  std::uint64_t connections_made() const override { return setting_.connections_made; }

 private:
  void OnDone(FetchJob& over, FetchResult result, const Done& done) {
    const auto job = jobs_.extract(&over);  // lives until the end of this call
    idle_ = setting_.idle.size();
    done(std::move(result));
    const std::lock_guard lock(mutex_);
    if (--under_way_ == 0) changed_.notify_all();
  }

  std::vector<std::shared_ptr<FetchJob>> Jobs() const {
    std::vector<std::shared_ptr<FetchJob>> jobs;
    jobs.reserve(jobs_.size());
    for (const auto& [key, job] : jobs_) jobs.push_back(job);
    return jobs;
  }

  void SetTimer() {
    timer_ = setting_.loop.CallAfter(kTick, [this] { OnTick(); });
  }

  void OnTick() {
    const auto now = std::chrono::steady_clock::now();
    for (const auto& job : Jobs()) job->OnTick(now);
    setting_.idle.Sweep(now);
    idle_ = setting_.idle.size();
    timer_ = nullptr;
    if (!jobs_.empty() || setting_.idle.size() > 0) SetTimer();
  }

  FetchSetting setting_;
  // Of the loop's thread.
  std::unordered_map<FetchJob*, std::shared_ptr<FetchJob>> jobs_;
  std::unique_ptr<Timer> timer_;
  bool stopping_ = false;

  std::atomic<std::size_t> idle_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t under_way_ = 0;
};

}  // namespace

Result<std::unique_ptr<Fetcher>> Fetcher::Open(const FetcherOptions& options, EventLoop& loop,
                                               Resolver& resolver, WorkerPool& workers,
                                               io::FileSystem& fs, const io::Clock& clock) {
  Result<std::shared_ptr<FetchTls>> tls = FetchTls::Open(options.ca_file, options.tls_sessions_max);
  if (!tls) return tls.error();
  return std::unique_ptr<Fetcher>(
      std::make_unique<LoopFetcher>(options, loop, resolver, workers, fs, clock, std::move(*tls)));
}

}  // namespace stele::net
