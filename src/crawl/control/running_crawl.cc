#include "crawl/control/running_crawl.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "net/http_client.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::crawl {
namespace {

constexpr std::size_t kAnswerMax = std::size_t{16} << 20;
// A stream of events lasts as long as the crawl.
constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365);

bool ProcessIsThere(std::int64_t pid) {
  return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
}

// Whether anybody takes connections there, on this machine: the number of a process that was killed
// may be that of another one by now.
bool IsOpen(const std::string& address, std::uint16_t port) {
  sockaddr_in door = {};
  door.sin_family = AF_INET;
  door.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &door.sin_addr) != 1) return false;
  if (ntohl(door.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET) return false;
  const int knock = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (knock < 0) return true;  // nobody can tell
  // Whoever is there and slow is there.
  const timeval patience = {1, 0};
  static_cast<void>(::setsockopt(knock, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience));
  const bool refused =
      ::connect(knock, reinterpret_cast<const sockaddr*>(&door), sizeof door) != 0 &&
      errno == ECONNREFUSED;
  ::close(knock);
  return !refused;
}

// {"error": "text"}, or what came instead.
std::string ErrorTextOf(const std::string& answer) {
  const nlohmann::json object = nlohmann::json::parse(answer, nullptr, false);
  if (object.is_object() && object.contains("error") && object["error"].is_string()) {
    return object["error"].get<std::string>();
  }
  return answer;
}

ErrorCode CodeOf(int status) {
  if (status == 410) return ErrorCode::kNotFound;
  if (status == 503) return ErrorCode::kBusy;
  return status >= 500 ? ErrorCode::kIo : ErrorCode::kInvalid;
}

Error OverError() { return {ErrorCode::kNotFound, "the crawl is over by now"}; }

}  // namespace

std::string RunningPath(const std::string& job_folder) { return job_folder + "/running.json"; }
std::string TokenPath(const std::string& job_folder) { return job_folder + "/control.token"; }

std::string FormatRunning(const RunningCrawl& crawl) {
  std::string json = "{\"job\": ";
  AppendJsonString(json, crawl.job);
  json += fmt::format(", \"run\": {}, \"pid\": {}, \"address\": ", crawl.run, crawl.pid);
  AppendJsonString(json, crawl.address);
  return json + fmt::format(", \"port\": {}, \"started\": \"{}\"}}\n", crawl.port,
                            FormatIsoMillis(crawl.started));
}

Result<RunningCrawl> ParseRunning(std::string_view text, const std::string& path) {
  const Error damaged{ErrorCode::kCorrupt,
                      fmt::format("{} is damaged; remove it when no crawl runs", path)};
  const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object()) return damaged;
  const auto whole = [&](const char* name, std::uint64_t max) -> std::uint64_t {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_number_unsigned()) return 0;
    const std::uint64_t value = found->get<std::uint64_t>();
    return value > max ? 0 : value;
  };
  const auto word = [&](const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  RunningCrawl crawl;
  crawl.job = word("job");
  crawl.run = static_cast<std::uint32_t>(whole("run", UINT32_MAX));
  crawl.pid = static_cast<std::int64_t>(whole("pid", INT32_MAX));
  crawl.address = word("address");
  crawl.port = static_cast<std::uint16_t>(whole("port", UINT16_MAX));
  const std::optional<Timestamp> started = ParseIso(word("started"));
  if (crawl.pid == 0 || crawl.port == 0 || crawl.address.empty() || !started) return damaged;
  crawl.started = *started;
  return crawl;
}

Result<std::optional<RunningCrawl>> FindRunningCrawl(io::FileSystem& fs,
                                                     const std::string& archive) {
  const std::string folder = archive + "/crawl";
  const Result<std::vector<std::string>> jobs = fs.List(folder);
  if (!jobs && jobs.error().code == ErrorCode::kNotFound) return std::optional<RunningCrawl>();
  if (!jobs) return jobs.error();
  for (const std::string& job : *jobs) {
    const std::string path = RunningPath(folder + '/' + job);
    const Result<std::string> text = io::ReadFile(fs, path);
    if (!text && text.error().code == ErrorCode::kNotFound) continue;
    if (!text) return text.error();
    Result<RunningCrawl> crawl = ParseRunning(*text, path);
    if (!crawl || !ProcessIsThere(crawl->pid) || !IsOpen(crawl->address, crawl->port)) continue;
    crawl->folder = folder + '/' + job;
    return std::optional(*std::move(crawl));
  }
  return std::optional<RunningCrawl>();
}

Result<std::unique_ptr<net::ClientResponse>> CrawlClient::Send(std::string_view method,
                                                               std::string_view target,
                                                               std::string_view body) const {
  net::ClientRequest request;
  request.endpoint.host = crawl_.address;
  request.endpoint.port = crawl_.port;
  request.method = method;
  request.target = target;
  request.body = body;
  request.total_timeout = kForever;
  if (method == "POST") {
    const Result<std::string> token = io::ReadFile(fs_, TokenPath(crawl_.folder));
    if (!token && token.error().code == ErrorCode::kNotFound) return OverError();
    if (!token) return token.error();
    request.fields.push_back({"Authorization", fmt::format("Bearer {}", TrimSpace(*token))});
  }
  Result<std::unique_ptr<net::ClientResponse>> response = http_.Send(request);
  if (!response && response.error().code == ErrorCode::kIo) return OverError();
  if (!response) return response.error();
  const int status = (*response)->status();
  if (status == 200) return response;
  const Result<std::string> answer = (*response)->ReadAll(kAnswerMax);
  if (!answer) return answer.error();
  return Error{CodeOf(status), ErrorTextOf(*answer)};
}

Result<std::string> CrawlClient::StatusText() const {
  const Result<std::unique_ptr<net::ClientResponse>> response = Send("GET", "/status", "");
  if (!response) return response.error();
  return (*response)->ReadAll(kAnswerMax);
}

Result<CrawlStatus> CrawlClient::ReadStatus() const {
  const Result<std::string> text = StatusText();
  if (!text) return text.error();
  return ParseStatus(*text);
}

Status CrawlClient::Events(const std::function<bool(std::string_view piece)>& take) const {
  const Result<std::unique_ptr<net::ClientResponse>> response = Send("GET", "/events", "");
  if (!response) return response.error();
  std::array<char, 8192> piece;
  for (;;) {
    const Result<std::size_t> size = (*response)->Read(piece);
    if (!size) return size.error();
    if (*size == 0 || !take(std::string_view(piece.data(), *size))) return {};
  }
}

Result<std::string> CrawlClient::Post(std::string_view what, std::string_view body) const {
  const Result<std::unique_ptr<net::ClientResponse>> response =
      Send("POST", fmt::format("/{}", what), body);
  if (!response) return response.error();
  return (*response)->ReadAll(kAnswerMax);
}

}  // namespace stele::crawl
