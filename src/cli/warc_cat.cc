#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "cli/file_jobs.h"
#include "cli/record_part.h"
#include "cli/record_selection.h"
#include "cli/segment_set.h"
#include "cli/warc_commands.h"
#include "formats/archive_file/archive_file.h"
#include "formats/warc/angle_brackets.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::cli {
namespace {

struct CatOptions {
  RecordPart part = RecordPart::kRecord;
  RecordSelection selection;
  std::optional<std::uint64_t> offset;
  std::string id;  // without <>; empty: any
  bool json = false;
};

// [["name", "value"], ...]: names may come several times.
void AppendFields(std::string& line, const http::Headers& headers) {
  line += '[';
  for (const http::Field& field : headers.fields()) {
    if (line.back() != '[') line += ", ";
    line += '[';
    AppendJsonString(line, field.name);
    line += ", ";
    AppendJsonString(line, http::Unfold(field.value));
    line += ']';
  }
  line += ']';
}

// The heads of a record: its own, and that of the HTTP message in it.
std::string HeadsAsJson(const std::string& path, const record::Record& record,
                        const record::PayloadStream& payload) {
  std::string line = "{\"file\": ";
  AppendJsonString(line, path);
  line += fmt::format(", \"offset\": {}, \"version\": ", record.offset);
  AppendJsonString(line, record.version);
  line += ", \"fields\": ";
  AppendFields(line, record.fields);
  if (const http::ResponseHead* response = payload.response()) {
    line += fmt::format(", \"status\": {}, \"http\": ", response->status);
    AppendFields(line, response->headers);
  } else if (const http::RequestHead* request = payload.request()) {
    line += ", \"method\": ";
    AppendJsonString(line, request->method);
    line += ", \"http\": ";
    AppendFields(line, request->headers);
  }
  line += "}\n";
  return line;
}

class CatFile {
 public:
  CatFile(FileJob& job, Context& context, const CatOptions& options, SegmentSet& segments)
      : job_(job), context_(context), options_(options), segments_(segments) {}

  Result<ExitCode> Run() {
    auto file = archive_file::ArchiveFile::Open(context_.fs, job_.path);
    if (!file) return file.error();
    record::RecordReader& reader = (*file)->reader();
    if (options_.offset && (*file)->size()) {
      if (const Status moved = reader.SkipTo(*options_.offset); !moved) return moved.error();
    }
    std::uint64_t counted = reader.position();
    for (bool done = false; !done;) {
      Result<const record::Record*> next = reader.Next();
      if (!next) return next.error();
      if (*next == nullptr) break;
      Result<bool> last = One(reader, **next);
      if (!last) return last.error();
      done = *last;
      job_.done += reader.position() - std::min(counted, reader.position());
      counted = reader.position();
    }
    for (const record::Loss& loss : reader.losses()) {
      Say(fmt::format("bytes {} to {} could not be read: {}", loss.begin, loss.end, loss.reason));
    }
    return found_ || !WantsOne() ? code_ : NotFound();
  }

  // Whether a record was printed.
  bool found() const { return found_; }

 private:
  bool WantsOne() const { return options_.offset || !options_.id.empty(); }

  Result<ExitCode> NotFound() const {
    if (options_.offset) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("no record begins at byte {}", *options_.offset)};
    }
    return code_;  // another file may have it
  }

  void Say(const std::string& text) {
    Complain(context_, fmt::format("{}: {}", job_.path, text));
    code_ = ExitCode::kDefects;
  }

  // True when no other record can be meant.
  Result<bool> One(record::RecordReader& reader, const record::Record& record) {
    if (options_.offset && record.offset != *options_.offset) {
      return record.offset > *options_.offset;
    }
    if (!options_.id.empty() && warc::WithoutBrackets(record.record_id()) != options_.id)
      return false;
    PeekedBlock block(reader, record);
    Result<bool> selected = Selects(options_.selection, record, block);
    if (!selected) return selected.error();
    if (!*selected) return false;
    found_ = true;
    Result<std::optional<std::string>> trouble = Print(record, block);
    if (!trouble) return trouble.error();
    if (*trouble) Say(fmt::format("the record at byte {}: {}", record.offset, **trouble));
    return WantsOne();
  }

  // Says what is wrong with what was printed.
  Result<std::optional<std::string>> Print(const record::Record& record, PeekedBlock& block) {
    if (options_.json) {
      Result<const record::PayloadStream*> payload = block.Peek();
      if (!payload) return payload.error();
      const Status put = job_.out.Write(HeadsAsJson(job_.path, record, **payload));
      if (!put) return put.error();
      return std::optional<std::string>();
    }
    if (options_.part == RecordPart::kRecord || !warc::BeginsSegments(record)) {
      return PrintRecord(
          record, options_.part, [&] { return block.Read(); }, job_.out);
    }
    Result<std::unique_ptr<OpenSegments>> joined = segments_.Join(record.record_id());
    if (!joined) {
      if (joined.error().code == ErrorCode::kIo) return joined.error();
      return std::optional(joined.error().text);
    }
    return PrintRecord(
        record, options_.part, [&] { return (*joined)->block.Read(); }, job_.out);
  }

  FileJob& job_;
  Context& context_;
  const CatOptions& options_;
  SegmentSet& segments_;
  bool found_ = false;
  ExitCode code_ = ExitCode::kDone;
};

// Errors: kInvalid, for the person who typed it.
Result<CatOptions> OptionsOf(const Arguments& arguments) {
  CatOptions options;
  Result<RecordSelection> selection = SelectionOf(arguments);
  if (!selection) return selection.error();
  options.selection = *std::move(selection);
  int parts = 0;
  for (const auto& [name, part] :
       {std::pair("--block", RecordPart::kBlock), std::pair("--http", RecordPart::kHttp),
        std::pair("--payload", RecordPart::kPayload),
        std::pair("--decoded", RecordPart::kDecoded)}) {
    if (!arguments.Has(name)) continue;
    options.part = part;
    ++parts;
  }
  options.json = arguments.Has("--json");
  if (parts + (options.json ? 1 : 0) > 1) {
    return Error{ErrorCode::kInvalid, "give one of --block, --http, --payload, --decoded, --json"};
  }
  if (const std::optional<std::string> text = arguments.Get("--offset")) {
    options.offset = ParseDecimal(*text);
    if (!options.offset) {
      return Error{ErrorCode::kInvalid, fmt::format("--offset {} is no number", *text)};
    }
    if (arguments.positionals.size() > 1) {
      return Error{ErrorCode::kInvalid, "--offset is for one file"};
    }
  }
  options.id = warc::WithoutBrackets(arguments.Get("--id").value_or(""));
  return options;
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const int threads = ThreadsOf(arguments, context);
  if (threads == 0 || !HasFiles(arguments, context)) return ExitCode::kUsage;
  const Result<CatOptions> options = OptionsOf(arguments);
  if (!options) {
    Complain(context, options.error().text);
    return ExitCode::kUsage;
  }
  SegmentSet segments(context.fs, arguments.positionals);
  std::atomic<bool> found = false;
  const ExitCode code = RunOverFiles(arguments.positionals, threads, context.out,
                                     ShowsProgress(arguments, context), context, [&](FileJob& job) {
                                       CatFile file(job, context, *options, segments);
                                       Result<ExitCode> outcome = file.Run();
                                       if (file.found()) found = true;
                                       return outcome;
                                     });
  if (!found && !options->id.empty() && code < ExitCode::kUsage) {
    Complain(context, fmt::format("no record has the id {}", options->id));
    return ExitCode::kFailed;
  }
  return code;
}

}  // namespace

Command WarcCatCommand() {
  Command command;
  command.name = "cat";
  command.summary = "Print records, or what is in them";
  command.details =
      "Prints whole records, decompressed, from files that may be damaged: what cannot be read is "
      "passed and named, and the exit code is then 1. Options say which records, and which part "
      "of them.\n\nThe payload is the body of HTTP without transfer coding; for records without "
      "HTTP it is the block. --decoded also takes the content coding off, and stops where a small "
      "body becomes absurdly large.\n\nA record that was cut into segments is joined for all but "
      "whole records, also when its segments lie in several of the files given.";
  command.arguments = "FILE...";
  command.options = WithFileOptions(WithSelectionOptions(
      {{"--offset", "N", "The record that begins at byte N"},
       {"--id", "URN", "The record with this WARC-Record-ID"},
       {"--block", "", "The block: all of a record but its head"},
       {"--http", "", "The head of the HTTP message"},
       {"--payload", "", "The payload, as the server sent it"},
       {"--decoded", "", "The payload, decompressed"},
       {"--json", "", "The heads, of the record and of HTTP, as one JSON object"}}));
  command.examples = {
      {"stele warc cat --offset 1742 --payload x.warc.gz >page.html", "What an index points to"},
      {"stele warc cat --type warcinfo *.warc.gz", "How were these files made?"},
      {"stele warc cat --url http://example.org/ --decoded x.warc.gz", "A page in plain text"},
      {"curl -s https://example.org/x.warc.gz | stele warc cat -", "Unpack from a pipe"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
