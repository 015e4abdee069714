#include "access/job_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace stele::access {
namespace {

using nlohmann::json;

constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 20;
constexpr std::size_t kQueuesMax = 20;

// The members of a status that are told to browsers.
constexpr const char* kMembers[] = {
    "run",
    "state",
    "started",
    "time",
    "seconds",
    "pages",
    "files",
    "bytes",
    "duplicates",
    "failures",
    "waiting",
    "hosts",
    "pages_per_second",
    "files_per_second",
    "bytes_per_second",
    "under_way",
    "limit",
    "seconds_left",
    "limits",
};

std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Nothing where the answer is no status.
std::optional<std::string> StatusOf(const std::string& text) {
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object() || !all.contains("state")) return std::nullopt;
  json told = json::object();
  for (const char* member : kMembers) {
    if (all.contains(member)) told[member] = all[member];
  }
  return Dump(told);
}

std::string QueuesOf(const std::string& text) {
  const json all = json::parse(text, nullptr, false);
  json told = json::array();
  if (all.is_array()) {
    for (const json& queue : all) {
      if (told.size() < kQueuesMax && queue.is_object()) told.push_back(queue);
    }
  }
  return Dump(told);
}

struct Door {
  std::string address;
  std::uint16_t port = 0;
};

// Where the process of a job can be asked: on this machine only, whatever the file says.
std::optional<Door> DoorOf(const std::string& text) {
  const json running = json::parse(text, nullptr, false);
  if (!running.is_object()) return std::nullopt;
  const auto address = running.find("address");
  const auto port = running.find("port");
  if (address == running.end() || !address->is_string()) return std::nullopt;
  if (port == running.end() || !port->is_number_unsigned()) return std::nullopt;
  const std::uint64_t number = *port;
  const std::string name = *address;
  if (number == 0 || number > 65535 || (name != "127.0.0.1" && name != "::1")) return std::nullopt;
  return Door{name, static_cast<std::uint16_t>(number)};
}

}  // namespace

JobWatch::JobWatch(const Options& options) : options_(options) {
  net::HttpClientOptions client;
  client.connect_timeout = std::chrono::milliseconds(1000);
  client.read_timeout = std::chrono::milliseconds(2000);
  client.total_timeout = std::chrono::milliseconds(3000);
  auto opened = net::HttpClient::Open(client);
  if (opened) client_ = *std::move(opened);
}

std::string JobWatch::Ask(const std::string& address, std::uint16_t port,
                          const std::string& target) const {
  if (client_ == nullptr) return "";
  net::ClientRequest request;
  request.endpoint = {false, address, port};
  request.target = target;
  const Result<std::unique_ptr<net::ClientResponse>> response = client_->Send(request);
  if (!response || (*response)->status() != 200) return "";
  Result<std::string> body = (*response)->ReadAll(kAnswerBytesMax);
  return body ? *std::move(body) : "";
}

std::vector<WatchedJob> JobWatch::JobsOf(const archive::ArchiveView& view) const {
  std::vector<WatchedJob> jobs;
  const std::string folder = view.layout().directory() + "/crawl";
  const Result<std::vector<std::string>> names = view.fs().List(folder);
  if (!names) return jobs;
  for (const std::string& name : *names) {
    WatchedJob job;
    job.name = name;
    const Result<std::string> running =
        io::ReadFile(view.fs(), fmt::format("{}/{}/running.json", folder, name));
    const std::optional<Door> door = running ? DoorOf(*running) : std::nullopt;
    if (door) job.status = StatusOf(Ask(door->address, door->port, "/status")).value_or("");
    if (!job.status.empty()) job.queues = QueuesOf(Ask(door->address, door->port, "/hosts"));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

JobWatch::Stream::Stream(JobWatch& watch) : watch_(watch) {
  const std::lock_guard lock(watch_.mutex_);
  open_ = !watch_.stopping_ && watch_.streams_ < watch_.options_.streams_max;
  if (open_) ++watch_.streams_;
}

JobWatch::Stream::~Stream() {
  const std::lock_guard lock(watch_.mutex_);
  if (open_) --watch_.streams_;
}

bool JobWatch::Stream::Wait() {
  std::unique_lock lock(watch_.mutex_);
  return !watch_.wake_.wait_for(lock, watch_.options_.interval,
                                [this] { return watch_.stopping_; });
}

void JobWatch::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

}  // namespace stele::access
