#include <fmt/format.h>

#include "cli/file_jobs.h"
#include "cli/visible_text.h"
#include "cli/warc_commands.h"
#include "formats/archive_file/archive_file.h"
#include "formats/record/block_stream.h"
#include "formats/record/payload.h"
#include "util/json.h"

namespace stele::cli {
namespace {

// What the HTTP head of a record says, where it has one.
struct HttpSummary {
  std::string status;  // of a response; the method of a request
  std::string type;
};

Result<HttpSummary> Summarize(record::RecordReader& reader, const record::Record& record,
                              record::PayloadStream& payload) {
  HttpSummary summary;
  summary.type = record.content_type;
  payload.Begin(record);
  record::BlockStream block(reader, record);
  while (!payload.head_is_known()) {
    Result<std::string_view> piece = block.Read();
    if (!piece && piece.error().code != ErrorCode::kCorrupt) return piece.error();
    if (!piece || piece->empty()) {
      payload.Finish(nullptr);
      break;
    }
    payload.Feed(*piece, nullptr);
  }
  if (const http::ResponseHead* head = payload.response()) {
    summary.status = fmt::to_string(head->status);
    summary.type = head->headers.Find("Content-Type").value_or("");
  } else if (const http::RequestHead* request = payload.request()) {
    summary.status = request->method;
    summary.type = "";
  }
  summary.type = summary.type.substr(0, summary.type.find(';'));
  return summary;
}

void AppendJson(std::string& line, std::string_view name, std::string_view value) {
  AppendJsonString(line, name);
  line += ": ";
  AppendJsonString(line, value);
}

std::string JsonLine(const FileJob& job, const record::Record& record, const HttpSummary& http,
                     const record::Extent& extent) {
  std::string line = "{";
  AppendJson(line, "file", job.path);
  line += fmt::format(", \"offset\": {}, \"length\": {}, \"content_length\": {}, ", extent.offset,
                      extent.length, record.content_length);
  AppendJson(line, "type", record.type_name);
  line += ", ";
  AppendJson(line, "record_id", record.record_id());
  line += ", ";
  AppendJson(line, "date", record.date_text);
  line += ", ";
  AppendJson(line, "url", record.target_uri);
  line += ", ";
  AppendJson(line, "status", http.status);
  line += ", ";
  AppendJson(line, "mime", http.type);
  line += "}\n";
  return line;
}

std::string TextLine(const record::Record& record, const HttpSummary& http,
                     const record::Extent& extent) {
  const auto shown = [](std::string_view text) { return VisibleText(text.empty() ? "-" : text); };
  return fmt::format("{:>11} {:>10} {:<12} {} {:>4} {:<24} {}\n", extent.offset, extent.length,
                     shown(record.type_name),
                     record.date ? FormatDigits14(*record.date) : "--------------",
                     shown(http.status), shown(http.type), shown(record.target_uri));
}

Result<ExitCode> ListFile(FileJob& job, Context& context, bool json) {
  auto file = archive_file::ArchiveFile::Open(context.fs, job.path);
  if (!file) return file.error();
  record::RecordReader& reader = (*file)->reader();
  record::PayloadStream payload;
  std::uint64_t counted = 0;
  for (;;) {
    Result<const record::Record*> next = reader.Next();
    if (!next) return next.error();
    if (*next == nullptr) break;
    const record::Record& record = **next;
    Result<HttpSummary> http = Summarize(reader, record, payload);
    if (!http) return http.error();
    Result<record::Extent> extent = reader.Finish();
    if (!extent && extent.error().code != ErrorCode::kCorrupt) return extent.error();
    if (!extent) continue;  // a loss
    const Status written = job.out.Write(json ? JsonLine(job, record, *http, *extent)
                                              : TextLine(record, *http, *extent));
    if (!written) return written.error();
    job.done += reader.position() - counted;
    counted = reader.position();
  }
  for (const record::Loss& loss : reader.losses()) {
    Complain(context, fmt::format("{}: bytes {} to {} could not be read: {}", job.path, loss.begin,
                                  loss.end, loss.reason));
  }
  return reader.losses().empty() ? ExitCode::kDone : ExitCode::kDefects;
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const int threads = ThreadsOf(arguments, context);
  if (threads == 0 || !HasFiles(arguments, context)) return ExitCode::kUsage;
  const bool json = arguments.Has("--json");
  return RunOverFiles(arguments.positionals, threads, context.out,
                      ShowsProgress(arguments, context), context,
                      [&](FileJob& job) { return ListFile(job, context, json); });
}

}  // namespace

Command WarcLsCommand() {
  Command command;
  command.name = "ls";
  command.summary = "List the records of archive files";
  command.details =
      "One line per record: offset, length in the file, type, time, HTTP status (or method, for "
      "requests), media type, URL.";
  command.arguments = "FILE...";
  command.options = WithFileOptions({{"--json", "", "One JSON object per record"}});
  command.examples = {{"stele warc ls crawl.warc.gz", "What is in there?"},
                      {"stele warc ls --json *.arc.gz | jq -r .url", "For programs"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
