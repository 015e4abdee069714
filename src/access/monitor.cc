#include "access/monitor.h"

#include <fmt/format.h>

#include <algorithm>

#include "access/gate.h"
#include "util/json.h"

namespace stele::access {
namespace {

// Passes everything on, and sees the status.
class WatchedWriter final : public net::ResponseWriter {
 public:
  explicit WatchedWriter(net::ResponseWriter& writer) : writer_(writer) {}
  int status() const { return status_; }

  Status Reply(const net::ResponseStart& start, std::string_view body) override {
    status_ = start.status;
    return writer_.Reply(start, body);
  }
  Status SendFrom(const net::ResponseStart& start, std::unique_ptr<io::Source> body) override {
    status_ = start.status;
    return writer_.SendFrom(start, std::move(body));
  }
  Status Start(const net::ResponseStart& start) override {
    status_ = start.status;
    return writer_.Start(start);
  }
  Status Write(std::string_view bytes) override { return writer_.Write(bytes); }
  Status Flush() override { return writer_.Flush(); }
  void Abandon() override { writer_.Abandon(); }

 private:
  net::ResponseWriter& writer_;
  int status_ = 500;
};

// What lets somebody in does not belong into a log.
std::string WithoutTicket(std::string_view target) {
  std::string text(target);
  const std::string mark = fmt::format("{}=", kTicketParameter);
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
    at += mark.size();
    text.erase(at, std::min(text.find('&', at), text.size()) - at);
  }
  return text;
}

}  // namespace

void Monitor::Note(const net::Request& request, const Answered& answered) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_[{std::string(answered.server), answered.status}];
    milliseconds_[std::string(answered.server)] += answered.milliseconds;
  }
  if (log_ == nullptr) return;
  // As JSON, so that no request can write a line of its own.
  std::string line = fmt::format("{{\"time\": \"{}\", \"client\": \"{}\", \"server\": \"{}\", ",
                                 FormatIsoMillis(clock_.Now()), request.peer(), answered.server);
  line += "\"method\": ";
  AppendJsonString(line, request.head().method);
  line += ", \"target\": ";
  AppendJsonString(line, WithoutTicket(request.head().target));
  line += fmt::format(", \"status\": {}, \"ms\": {}}}\n", answered.status, answered.milliseconds);
  static_cast<void>(log_->Write(line));
}

std::string Monitor::Metrics() const {
  const std::lock_guard lock(mutex_);
  std::string out =
      "# HELP stele_http_requests_total Requests that were answered.\n"
      "# TYPE stele_http_requests_total counter\n";
  for (const auto& [what, count] : counts_) {
    out += fmt::format("stele_http_requests_total{{server=\"{}\",status=\"{}\"}} {}\n", what.first,
                       what.second, count);
  }
  out +=
      "# HELP stele_http_seconds_total Time until answers were begun.\n"
      "# TYPE stele_http_seconds_total counter\n";
  for (const auto& [server, milliseconds] : milliseconds_) {
    out += fmt::format("stele_http_seconds_total{{server=\"{}\"}} {:.3f}\n", server,
                       static_cast<double>(milliseconds) / 1000);
  }
  return out;
}

void MonitoredHandler::Handle(net::Request& request, net::ResponseWriter& response) {
  const Timestamp begin = monitor_.Now();
  WatchedWriter watched(response);
  handler_.Handle(request, watched);
  monitor_.Note(request,
                {server_, watched.status(), monitor_.Now().milliseconds - begin.milliseconds});
}

}  // namespace stele::access
