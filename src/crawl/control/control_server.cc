#include "crawl/control/control_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "crawl/control/running_crawl.h"
#include "io/posix_file_system.h"
#include "net/http_server.h"
#include "util/ascii.h"
#include "util/base_encoding.h"
#include "util/coding.h"
#include "util/json.h"
#include "util/secret.h"

namespace stele::crawl {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kAddress = "127.0.0.1";
constexpr std::string_view kJson = "application/json";
constexpr std::size_t kWorkers = 12;
// Each holds a worker; the others are left for short answers.
constexpr int kStreamsMax = 8;
constexpr std::uint64_t kBodyMax = std::uint64_t{16} << 20;
constexpr std::size_t kQueuesMax = 100;
constexpr auto kEventEvery = 1s;
constexpr auto kGrace = 1s;

void Answer(net::ResponseWriter& response, int status, std::string_view type,
            std::string_view body) {
  net::ResponseStart start;
  start.status = status;
  start.fields = {{"Content-Type", std::string(type)},
                  {"Cache-Control", "no-store"},
                  {"X-Content-Type-Options", "nosniff"}};
  // Whoever has gone does not miss it.
  static_cast<void>(response.Reply(start, body));
}

void AnswerError(net::ResponseWriter& response, int status, std::string_view text) {
  std::string json = "{\"error\": ";
  AppendJsonString(json, text);
  Answer(response, status, kJson, json + "}\n");
}

int StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
    case ErrorCode::kCorrupt:
      return 400;
    case ErrorCode::kFull:
      return 507;
    case ErrorCode::kNotFound:
      return 410;
    default:
      return 500;
  }
}

Result<std::string> ReadBody(net::Request& request) {
  std::string body;
  std::array<char, 16384> piece;
  for (;;) {
    const Result<std::size_t> size = request.body().Read(piece);
    if (!size) return size.error();
    if (*size == 0) return body;
    body.append(piece.data(), *size);
  }
}

// Makes an empty file that only its owner may read, before anything is in it: whoever has opened
// an older one does not see what is written to this one. Where the disk is not a true one, there is
// nobody else.
Status MakePrivate(const std::string& path) {
  static_cast<void>(::unlink(path.c_str()));
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0 && errno == ENOENT) return {};
  if (file < 0) return io::SystemError(path + " cannot be kept from others", errno);
  ::close(file);
  return {};
}

Status WriteSecret(io::FileSystem& fs, const std::string& path, std::string_view secret) {
  if (const Status made = MakePrivate(path); !made) return made;
  Result<std::unique_ptr<io::WritableFile>> file = fs.Create(path);
  if (!file) return file.error();
  if (const Status written = (*file)->Append(secret); !written) return written;
  return (*file)->Close();
}

}  // namespace

std::string NewToken(io::Random& random) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) PutFixed64(bytes, random.Next());
  return HexEncode(bytes);
}

ControlServer::ControlServer(io::FileSystem& fs, std::string folder, std::string token,
                             CrawlMonitor& monitor, Controlled& crawl)
    : fs_(fs),
      folder_(std::move(folder)),
      token_(std::move(token)),
      monitor_(monitor),
      crawl_(crawl) {}

Result<std::unique_ptr<ControlServer>> ControlServer::Open(
    io::FileSystem& fs, const io::Clock& clock, const std::string& folder,
    const ControlOptions& options, CrawlMonitor& monitor, Controlled& crawl) {
  std::unique_ptr<ControlServer> control(
      new ControlServer(fs, folder, options.token, monitor, crawl));
  net::HttpServerOptions serving;
  serving.address = kAddress;
  serving.port = options.port;
  serving.workers = kWorkers;
  serving.limits.body_size_max = kBodyMax;
  Result<std::unique_ptr<net::HttpServer>> server = net::HttpServer::Open(serving, *control, clock);
  if (!server) return server.error();
  control->server_ = *std::move(server);
  control->port_ = control->server_->port();
  if (const Status written = control->WriteFiles(); !written) return written.error();
  return control;
}

ControlServer::~ControlServer() {
  // Whoever looks for the crawl from now on finds none.
  static_cast<void>(fs_.Remove(RunningPath(folder_)));
  static_cast<void>(fs_.Remove(TokenPath(folder_)));
  monitor_.Close();
  if (server_ != nullptr) server_->Stop(kGrace);
}

Status ControlServer::WriteFiles() {
  const CrawlStatus status = monitor_.Now();
  if (const Status written = WriteSecret(fs_, TokenPath(folder_), token_ + '\n'); !written) {
    return written;
  }
  RunningCrawl running;
  running.job = status.job;
  running.run = status.run;
  running.pid = status.pid;
  running.address = kAddress;
  running.port = port_;
  running.started = status.started;
  return io::ReplaceFile(fs_, RunningPath(folder_), FormatRunning(running));
}

std::string ControlServer::WhyRefused(const net::Request& request) const {
  const http::Headers& headers = request.head().headers;
  // A page whose host name was made to mean this machine sends that name.
  const std::string host = AsciiLower(headers.Find("Host").value_or(""));
  const std::string port = fmt::format(":{}", port_.load());
  if (host != std::string(kAddress) + port && host != "localhost" + port) {
    return "this Host is not asked here";
  }
  // Browsers send it with everything that could change something; nobody else does.
  if (headers.Find("Origin")) return "pages in a browser may not ask here";
  if (request.head().method != "POST") return "";
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view given = headers.Find("Authorization").value_or("");
  if (!given.starts_with(kBearer) || !SameSecret(TrimSpace(given.substr(kBearer.size())), token_)) {
    return "the token is missing or another one; it is in control.token beside running.json";
  }
  return "";
}

void ControlServer::Handle(net::Request& request, net::ResponseWriter& response) {
  // Requests may come before Open() has the server.
  if (port_ == 0) return AnswerError(response, 503, "not yet");
  if (const std::string why = WhyRefused(request); !why.empty()) {
    return AnswerError(response, 403, why);
  }
  const std::string_view method = request.head().method;
  if (method == "GET") return HandleGet(request, response);
  if (method == "POST") return HandlePost(request, response);
  AnswerError(response, 405, "only GET and POST");
}

void ControlServer::HandleGet(net::Request& request, net::ResponseWriter& response) {
  const std::string_view path = request.path();
  if (path == "/status") return Answer(response, 200, kJson, StatusJson(monitor_.Now()) + '\n');
  if (path == "/metrics") {
    return Answer(response, 200, "text/plain; version=0.0.4", StatusMetrics(monitor_.Now()));
  }
  if (path == "/events") return SendEvents(response);
  if (path != "/hosts")
    return AnswerError(response, 404, "ask for /status, /events, /metrics or /hosts");
  const Result<std::vector<HostQueue>> queues = crawl_.LongestQueues(kQueuesMax);
  if (!queues) return AnswerError(response, StatusOf(queues.error().code), queues.error().text);
  Answer(response, 200, kJson, HostQueuesJson(*queues) + '\n');
}

void ControlServer::HandlePost(net::Request& request, net::ResponseWriter& response) {
  const Result<std::string> body = ReadBody(request);
  if (!body) {
    const bool too_long = body.error().code == ErrorCode::kFull;
    return AnswerError(response, too_long ? 413 : StatusOf(body.error().code), body.error().text);
  }
  const Result<std::string> answer = Obey(request.path(), *body);
  if (!answer) return AnswerError(response, StatusOf(answer.error().code), answer.error().text);
  Answer(response, 200, kJson, *answer + '\n');
}

Result<std::string> ControlServer::Obey(std::string_view path, std::string_view body) {
  if (path == "/urls") {
    const Result<UrlsToAdd> urls = ParseUrlsToAdd(body);
    if (!urls) return urls.error();
    const Result<AddedUrls> added = crawl_.AddUrls(*urls);
    if (!added) return added.error();
    return AddedUrlsJson(*added);
  }
  if (path == "/limits") {
    const Result<LimitChanges> changes = ParseLimitChanges(body);
    if (!changes) return changes.error();
    if (const Status changed = crawl_.ChangeLimits(*changes); !changed) return changed.error();
  } else if (path == "/pause") {
    if (const Status paused = crawl_.Pause(); !paused) return paused.error();
  } else if (path == "/resume") {
    if (const Status resumed = crawl_.Resume(); !resumed) return resumed.error();
  } else if (path == "/stop") {
    if (const Status ended = crawl_.End(); !ended) return ended.error();
  } else {
    return Error{ErrorCode::kInvalid, "post to /pause, /resume, /stop, /urls or /limits"};
  }
  return StatusJson(monitor_.Now());
}

void ControlServer::SendEvents(net::ResponseWriter& response) {
  const int before = streams_++;
  if (before >= kStreamsMax) {
    AnswerError(response, 503, "too many are watching; ask for /status");
  } else {
    net::ResponseStart start;
    start.fields = {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}};
    Status sent = response.Start(start);
    for (bool more = true; sent && more;) {
      const CrawlStatus status = monitor_.Now();
      sent = response.Write(fmt::format("event: status\ndata: {}\n\n", StatusJson(status)));
      if (sent) sent = response.Flush();
      more = sent && monitor_.WaitForChange(status.progress.state, kEventEvery);
    }
    if (sent) {
      sent = response.Write(fmt::format("event: end\ndata: {}\n\n", StatusJson(monitor_.Now())));
    }
  }
  --streams_;
}

}  // namespace stele::crawl
