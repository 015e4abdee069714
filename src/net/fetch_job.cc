// A fetch is a chain of steps; each starts one operation and its callback starts the next. There is
// never more than one operation under way, so that giving up is simple: the attempt's number goes
// up, the connection is closed, and whatever still calls back finds that it is out of date.
#include "net/fetch_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "formats/http/message.h"
#include "util/ascii.h"

namespace stele::net {
namespace {

using std::chrono::steady_clock;
using How = StreamOutcome::How;

constexpr std::size_t kReadSize = std::size_t{32} << 10;
constexpr std::size_t kPaceSizeMin = 1024;
// Of the time that connecting may take, an address gets such a part while there are others.
constexpr int kPatienceShare = 4;
constexpr std::size_t kTunnelHeadMax = std::size_t{64} << 10;
constexpr std::array<std::string_view, 3> kRepeatableMethods{"GET", "HEAD", "OPTIONS"};

std::string HostAndPort(const Endpoint& endpoint, bool always_port) {
  const bool v6 = endpoint.host.find(':') != std::string::npos;
  std::string text = v6 ? fmt::format("[{}]", endpoint.host) : endpoint.host;
  if (always_port || endpoint.port != (endpoint.tls ? 443 : 80)) {
    text += fmt::format(":{}", endpoint.port);
  }
  return text;
}

std::string AuthorizationOf(const FetchProxy& proxy) {
  if (proxy.authorization.empty()) return {};
  return fmt::format("Proxy-Authorization: {}\r\n", proxy.authorization);
}

// Known without looking it up.
bool IsPrivateByName(std::string_view host) {
  while (host.ends_with('.')) host.remove_suffix(1);
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  const std::optional<IpAddress> address = IpAddress::FromText(host);
  return address && !address->IsPublic();
}

}  // namespace

FetchJob::FetchJob(FetchSetting& setting, FetchRequest request, Done done)
    : setting_(setting),
      request_(std::move(request)),
      done_(std::move(done)),
      key_{request_.endpoint, request_.proxy},
      begun_(steady_clock::now()) {}

void FetchJob::Start() {
  result_.begun = setting_.clock.Now();
  if (Status composed = Compose(); !composed) {
    return Fail(FetchFailure::kUnfetchable, composed.error().text);
  }
  const std::string& host = request_.endpoint.host;
  if (request_.proxy && !request_.private_addresses && IsPrivateByName(host)) {
    return Fail(FetchFailure::kPrivate, fmt::format("the address {} is not public", host));
  }
  std::optional<KeptStream> kept = setting_.idle.Take(key_, request_.private_addresses);
  if (!kept) return Resolve();
  stream_ = std::move(kept->stream);
  result_.address = kept->address;
  result_.addresses = std::move(kept->addresses);
  result_.reused = true;
  Send();
}

Status FetchJob::Compose() {
  if (Status good = CheckRequestLine(request_.method, request_.target); !good) return good;
  const bool whole = request_.proxy && !request_.endpoint.tls;
  std::string line =
      fmt::format("{} {}{} HTTP/1.1\r\n", request_.method,
                  whole ? "http://" + HostAndPort(request_.endpoint, false) : "", request_.target);
  std::string rest;
  for (const HeaderField& field : request_.fields) {
    if (Status good = CheckField(field); !good) return good;
    rest.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  rest.append("\r\n").append(request_.body);
  if (request_.proxy) {
    const Status good = CheckField({"Proxy-Authorization", request_.proxy->authorization});
    if (!good) return good;
    if (whole) sent_ = line + AuthorizationOf(*request_.proxy) + rest;
  }
  result_.request = std::move(line) + rest;
  if (sent_.empty()) sent_ = result_.request;
  return {};
}

// ---- Connecting ----

// Says whose failure it is.
std::string FetchJob::WithProxy(const std::string& error) const {
  if (!request_.proxy) return error;
  return fmt::format("the proxy {}:{}: {}", request_.proxy->host, request_.proxy->port, error);
}

void FetchJob::Resolve() {
  Enter(Step::kResolve);
  const std::string& host = request_.proxy ? request_.proxy->host : request_.endpoint.host;
  setting_.resolver.Resolve(host, [self = shared_from_this(), attempt = attempt_,
                                   &loop = setting_.loop](const Resolution& resolution) {
    const auto go_on = [self, attempt](const Resolution& found) {
      if (self->step_ == Step::kResolve && self->attempt_ == attempt) self->OnResolved(found);
    };
    if (loop.OnLoopThread()) return go_on(resolution);
    loop.Post([go_on, resolution] { go_on(resolution); });
  });
}

void FetchJob::OnResolved(const Resolution& resolution) {
  result_.timings.resolved = SinceBegin();
  if (resolution.addresses.empty())
    return Fail(FetchFailure::kNoAddress, WithProxy(resolution.failure));
  candidates_ = resolution.addresses;
  setting_.lost.PutLast(candidates_, port(), steady_clock::now());
  std::reverse(candidates_.begin(), candidates_.end());
  if (!request_.proxy) {
    result_.addresses = resolution.addresses;
    if (!request_.private_addresses) {
      std::erase_if(candidates_, [](const IpAddress& one) { return !one.IsPublic(); });
    }
  }
  if (candidates_.empty()) {
    return Fail(FetchFailure::kPrivate,
                fmt::format("the address {} is not public", resolution.addresses.front().ToText()));
  }
  result_.failure = FetchFailure::kConnect;
  ConnectNext();
}

// After the last address, the failure of the last attempt stays.
void FetchJob::ConnectNext() {
  ++attempt_;
  if (stream_ != nullptr) stream_->Close();
  if (candidates_.empty()) return Fail(result_.failure, std::exchange(result_.error, {}));
  tried_ = candidates_.back();
  candidates_.pop_back();
  if (!request_.proxy) result_.address = tried_;
  Enter(Step::kConnect);
  stream_ = NewFetchStream(setting_.loop, setting_.tls);
  stream_->Connect(tried_, port(), Then(&FetchJob::OnConnected));
}

void FetchJob::OnConnected(const StreamOutcome& outcome) {
  if (!outcome.good()) {
    const bool local = outcome.how == How::kLocal;
    if (local) setting_.idle.Clear();  // they take what is missing
    if (!local) setting_.lost.Add(tried_, port(), steady_clock::now());
    result_.failure = local ? FetchFailure::kLocal : FetchFailure::kConnect;
    result_.error = WithProxy("cannot connect: " + outcome.error);
    return ConnectNext();
  }
  ++setting_.connections_made;
  setting_.lost.Remove(tried_, port());
  result_.timings.connected = SinceBegin();
  if (Tunnels()) {
    Enter(Step::kTunnel);
    const std::string target = HostAndPort(request_.endpoint, true);
    tunnel_ = fmt::format("CONNECT {} HTTP/1.1\r\nHost: {}\r\n{}\r\n", target, target,
                          AuthorizationOf(*request_.proxy));
    return stream_->Write(tunnel_, Then(&FetchJob::OnTunnelAsked));
  }
  if (request_.endpoint.tls) return Secure();
  Send();
}

void FetchJob::OnTunnelAsked(const StreamOutcome& outcome) {
  if (!outcome.good()) return Fail(FetchFailure::kConnect, WithProxy(outcome.error));
  tunnel_.clear();
  ReadTunnel();
}

void FetchJob::ReadTunnel() {
  buffer_.Reserve(kReadSize);
  stream_->Read({buffer_.data(), kReadSize}, Then(&FetchJob::OnTunnelAnswer));
}

void FetchJob::OnTunnelAnswer(const StreamOutcome& outcome) {
  if (!outcome.good()) return Fail(FetchFailure::kConnect, WithProxy(outcome.error));
  tunnel_.append(buffer_.data(), outcome.size);
  http::ResponseParser parser(kTunnelHeadMax);
  switch (parser.Parse(tunnel_, false)) {
    case http::HeadOutcome::kNeedMore:
      return ReadTunnel();
    case http::HeadOutcome::kComplete:
      break;
    default:
      return Fail(FetchFailure::kConnect, "the proxy's answer is not HTTP");
  }
  if (parser.head().status < 200 || parser.head().status >= 300) {
    return Fail(FetchFailure::kConnect, fmt::format("the proxy refuses: {} {}",
                                                    parser.head().status, parser.head().reason));
  }
  Secure();
}

void FetchJob::Secure() {
  Enter(Step::kSecure);
  std::string key = request_.endpoint.ToText();
  if (request_.proxy) key += fmt::format(" by {}:{}", request_.proxy->host, request_.proxy->port);
  stream_->Secure(request_.endpoint.host, key, Then(&FetchJob::OnSecured));
}

void FetchJob::OnSecured(const StreamOutcome& outcome) {
  if (!outcome.good()) {
    return Fail(FetchFailure::kConnect, "the TLS handshake failed: " + outcome.error);
  }
  result_.timings.secured = SinceBegin();
  Send();
}

// ---- The exchange ----

void FetchJob::Send() {
  Enter(Step::kSend);
  result_.failure = FetchFailure::kNone;
  result_.error.clear();
  result_.tls = stream_->tls();
  collector_.emplace(request_, result_, setting_.options.memory_max);
  stream_->Write(sent_, Then(&FetchJob::OnSent));
}

// A server may have answered and closed before it took everything: whatever it said counts.
void FetchJob::OnSent(const StreamOutcome& outcome) {
  if (outcome.good()) result_.timings.sent = SinceBegin();
  Enter(Step::kReceive);
  Receive();
}

void FetchJob::Receive() {
  step_ = Step::kReceive;
  buffer_.Reserve(kReadSize);
  const std::uint64_t rate = request_.limits.rate_max;
  const std::size_t size =
      rate == 0 ? kReadSize : std::clamp<std::size_t>(rate / 10, kPaceSizeMin, kReadSize);
  stream_->Read({buffer_.data(), size}, Then(&FetchJob::OnReceived));
}

void FetchJob::OnReceived(const StreamOutcome& outcome) {
  if (!outcome.good()) return OnConnectionEnd(outcome);
  since_ = steady_clock::now();
  if (!collector_->touched()) result_.timings.first_byte = SinceBegin();
  const bool had_head = collector_->has_head();
  collector_->OnBytes({buffer_.data(), outcome.size});
  if (!had_head) body_begun_ = since_;
  if (collector_->done()) return Complete();
  if (collector_->pending().size() >= setting_.options.memory_max) return SpoolPending();
  GoOn();
}

void FetchJob::OnConnectionEnd(const StreamOutcome& outcome) {
  if (!collector_->touched() && result_.reused && MayRepeat()) {
    ++attempt_;
    stream_->Close();
    stream_ = nullptr;
    result_.reused = false;
    result_.timings = {};
    return Resolve();
  }
  collector_->OnEnd(outcome.how == How::kEnd ? ResponseCollector::End::kClosed
                                             : ResponseCollector::End::kBroken);
  Complete();
}

// The next read, at once or when the rate allows it.
void FetchJob::GoOn() {
  if (const std::uint64_t rate = request_.limits.rate_max; rate > 0 && collector_->has_head()) {
    const double seconds = static_cast<double>(collector_->body_size()) / static_cast<double>(rate);
    resume_at_ = body_begun_ + std::chrono::duration_cast<steady_clock::duration>(
                                   std::chrono::duration<double>(seconds));
    if (resume_at_ > steady_clock::now()) {
      step_ = Step::kPause;
      return;
    }
  }
  Receive();
}

// ---- Bytes that do not fit in memory ----

void FetchJob::SpoolPending() {
  Enter(Step::kSpool);
  std::string path;
  if (spool_ == nullptr) {
    path = fmt::format("{}/fetch-{}-{}-{}.spool", setting_.options.spool_folder, getpid(),
                       static_cast<const void*>(&setting_), ++setting_.spool_files);
  }
  // The loop gets the job back whole: nothing of it may end on another thread.
  setting_.workers.Run(
      [self = shared_from_this(), path, bytes = collector_->TakePending()]() mutable {
        const Status status = self->Spool(path, bytes);
        EventLoop& loop = self->setting_.loop;
        loop.Post([self = std::move(self), status] { self->OnSpooled(status); });
      });
}

Status FetchJob::Spool(const std::string& path, std::string_view bytes) {
  if (spool_ == nullptr) {
    Result<std::unique_ptr<SpoolFile>> made = SpoolFile::Make(setting_.fs, path);
    if (!made) return made.error();
    spool_ = std::move(*made);
  }
  return spool_->Append(bytes);
}

void FetchJob::OnSpooled(const Status& status) {
  Enter(Step::kReceive);
  if (!status) return Fail(FetchFailure::kLocal, status.error().text);
  if (cancelled_) return Fail(FetchFailure::kCancelled, "the fetch was cancelled");
  if (collector_->done()) return Finish();
  if (cut_short_) return OnTimeout();
  GoOn();
}

// The response has come to its end.
void FetchJob::Complete() {
  if (spool_ != nullptr && !collector_->pending().empty()) return SpoolPending();
  Finish();
}

// ---- The end ----

void FetchJob::OnTick(Moment now) {
  const FetchLimits& limits = request_.limits;
  if (step_ == Step::kOver || step_ == Step::kSpool) return;
  if (now - begun_ > limits.total_time_max) return OnTimeout();
  switch (step_) {
    case Step::kConnect:
      // Where there are others, they are not kept waiting so long.
      if (now - since_ <= limits.connect_time_max / (candidates_.empty() ? 1 : kPatienceShare)) {
        return;
      }
      setting_.lost.Add(tried_, port(), now);
      result_.failure = FetchFailure::kTimeout;
      result_.error = "connecting took too long";
      return ConnectNext();
    case Step::kTunnel:
    case Step::kSecure:
      if (now - since_ <= limits.connect_time_max) return;
      result_.failure = FetchFailure::kTimeout;
      result_.error = "connecting took too long";
      return ConnectNext();
    case Step::kSend:
    case Step::kReceive:
      if (now - since_ > limits.idle_time_max) OnTimeout();
      return;
    case Step::kPause:
      if (now < resume_at_) return;
      since_ = now;
      return Receive();
    default:
      return;
  }
}

void FetchJob::OnTimeout() {
  ++attempt_;
  if (step_ == Step::kSend || step_ == Step::kReceive || step_ == Step::kPause) {
    collector_->OnEnd(ResponseCollector::End::kTimeout);
    return Complete();
  }
  Fail(FetchFailure::kTimeout, WithProxy("connecting took too long"));
}

void FetchJob::CutShort() {
  if (step_ == Step::kOver) return;
  if (!collector_ || !collector_->has_head()) return Cancel();
  if (step_ != Step::kSpool) return OnTimeout();
  cut_short_ = true;
}

void FetchJob::Cancel() {
  if (step_ == Step::kOver) return;
  if (step_ == Step::kSpool) {
    cancelled_ = true;
    return;
  }
  Fail(FetchFailure::kCancelled, "the fetch was cancelled");
}

void FetchJob::Fail(FetchFailure failure, const std::string& error) {
  ++attempt_;
  result_.failure = failure;
  result_.error = error;
  Finish();
}

void FetchJob::Finish() {
  step_ = Step::kOver;
  if (collector_) {
    std::string memory = collector_->TakeMemory();
    if (spool_ == nullptr) {
      memory += collector_->TakePending();
      result_.response = SpooledBytes(std::move(memory));
    } else {
      const std::uint64_t size = spool_->size();
      result_.response = SpooledBytes(std::move(memory), spool_->TakeReader(), size);
      spool_ = nullptr;
    }
  }
  if (stream_ != nullptr) {
    if (collector_ && collector_->done() && collector_->reusable()) {
      setting_.idle.Keep(key_, {std::move(stream_), result_.address, result_.addresses});
    } else {
      stream_->Close();
    }
    stream_ = nullptr;
  }
  if (!result_.error.empty()) {
    result_.error = fmt::format("{}: {}", request_.endpoint.ToText(), result_.error);
  }
  result_.timings.done = SinceBegin();
  const Done done = std::exchange(done_, nullptr);
  done(*this, std::move(result_));
}

void FetchJob::Enter(Step step) {
  step_ = step;
  since_ = steady_clock::now();
}

FetchStream::Done FetchJob::Then(void (FetchJob::*next)(const StreamOutcome&)) {
  return [self = shared_from_this(), attempt = attempt_, next](const StreamOutcome& outcome) {
    if (self->attempt_ == attempt && self->step_ != Step::kOver) ((*self).*next)(outcome);
  };
}

FetchTimings::Duration FetchJob::SinceBegin() const {
  return std::chrono::duration_cast<FetchTimings::Duration>(steady_clock::now() - begun_);
}

bool FetchJob::MayRepeat() const {
  return std::find(kRepeatableMethods.begin(), kRepeatableMethods.end(), request_.method) !=
         kRepeatableMethods.end();
}

}  // namespace stele::net
