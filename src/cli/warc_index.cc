#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "cli/file_jobs.h"
#include "cli/output.h"
#include "cli/warc_commands.h"
#include "formats/archive_file/archive_file.h"
#include "formats/cdx/cdx.h"
#include "formats/cdx/indexer.h"

namespace stele::cli {
namespace {

enum class LineFormat { kCdxj, kEleven, kNine };

std::optional<LineFormat> LineFormatByName(const std::string& name) {
  if (name == "cdxj") return LineFormat::kCdxj;
  if (name == "cdx11" || name == "cdx") return LineFormat::kEleven;
  if (name == "cdx9") return LineFormat::kNine;
  return std::nullopt;
}

class LineFormatter {
 public:
  explicit LineFormatter(LineFormat format)
      : cdxj_(format == LineFormat::kCdxj),
        legend_(format == LineFormat::kNine ? cdx::Legend::Nine() : cdx::Legend::Eleven()) {}

  std::string Header() const { return cdxj_ ? "" : legend_.Format() + '\n'; }
  std::string Line(const cdx::Capture& capture) const {
    std::string line = cdxj_ ? cdx::FormatCdxjLine(capture) : cdx::FormatCdxLine(capture, legend_);
    line += '\n';
    return line;
  }

 private:
  bool cdxj_;
  cdx::Legend legend_;
};

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Result<ExitCode> IndexFile(FileJob& job, Context& context, const LineFormatter& formatter,
                           bool all_records) {
  Result<std::unique_ptr<archive_file::ArchiveFile>> file =
      archive_file::ArchiveFile::Open(context.fs, job.path);
  if (!file) return file.error();
  record::RecordReader& reader = (*file)->reader();
  cdx::Indexer indexer(reader, {BaseName(job.path), all_records});
  std::uint64_t counted = 0;
  for (;;) {
    Result<std::optional<cdx::Capture>> capture = indexer.Next();
    if (!capture) return capture.error();
    job.done += reader.position() - counted;
    counted = reader.position();
    if (!*capture) break;
    if (Status written = job.out.Write(formatter.Line(**capture)); !written) {
      return written.error();
    }
  }
  for (const record::Loss& loss : reader.losses()) {
    Complain(context, fmt::format("{}: bytes {} to {} could not be read: {}", job.path, loss.begin,
                                  loss.end, loss.reason));
  }
  return reader.losses().empty() ? ExitCode::kDone : ExitCode::kDefects;
}

// Collects the lines to sort them; the header goes out first.
class SortingSink final : public io::Sink {
 public:
  Status Write(std::string_view bytes) override {
    text_ += bytes;
    return {};
  }
  Status WriteSorted(io::Sink& out) const {
    std::vector<std::string_view> lines;
    std::string_view rest = text_;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n') + 1;
      lines.push_back(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    std::sort(lines.begin(), lines.end());
    for (const std::string_view line : lines) {
      if (const Status written = out.Write(line); !written) return written;
    }
    return {};
  }

 private:
  std::string text_;
};

ExitCode Fail(Context& context, const Error& error) {
  Complain(context, error.text);
  return ExitCode::kFailed;
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const std::string name = arguments.Get("--format").value_or("cdxj");
  const std::optional<LineFormat> format = LineFormatByName(name);
  if (!format) {
    Complain(context, fmt::format("--format {} is none of cdxj, cdx11, cdx9", name));
    return ExitCode::kUsage;
  }
  const int threads = ThreadsOf(arguments, context);
  if (threads == 0 || !HasFiles(arguments, context)) return ExitCode::kUsage;
  auto output = OutputFile::Create(context, arguments.Get("--output").value_or("-"),
                                   arguments.Has("--force"));
  if (!output) return Fail(context, output.error());
  const LineFormatter formatter(*format);
  if (const Status written = (*output)->Write(formatter.Header()); !written) {
    return Fail(context, written.error());
  }
  const bool sort = arguments.Has("--sort");
  SortingSink sorting;
  io::Sink& lines = sort ? static_cast<io::Sink&>(sorting) : **output;
  const ExitCode code = RunOverFiles(
      arguments.positionals, threads, lines, ShowsProgress(arguments, context), context,
      [&](FileJob& job) { return IndexFile(job, context, formatter, arguments.Has("--all")); });
  if (sort) {
    if (const Status sorted = sorting.WriteSorted(**output); !sorted) {
      return Fail(context, sorted.error());
    }
  }
  if (const Status committed = (*output)->Commit(); !committed) {
    return Fail(context, committed.error());
  }
  return code;
}

}  // namespace

Command WarcIndexCommand() {
  Command command;
  command.name = "index";
  command.summary = "Write the CDXJ or CDX index of archive files";
  command.details =
      "One line for each response, revisit, resource and metadata record: its SURT key, time, URL, "
      "type, status, payload digest, and where it lies. Digests are taken from the record's head, "
      "or computed where it has none. A request that is not a GET gives its method and body to the "
      "key of the response beside it, as pywb does.\n\nReads WARC, ARC and Tianwang files, "
      "compressed or not. Damaged places are reported and passed; the exit code is then 1.";
  command.arguments = "FILE...";
  command.options = WithFileOptions(
      {{"--format", "FORMAT", "cdxj, cdx11 or cdx9", "cdxj"},
       {"--sort", "", "Sort the lines bytewise, as replay tools need them; keeps them in memory"},
       {"--all", "", "Index every record, also requests and warcinfo"},
       {"--output", "FILE", "Write to FILE instead of the standard output"},
       {"--force", "", "Replace FILE if it exists"}});
  command.examples = {
      {"stele warc index --sort *.warc.gz >all.cdxj", "One sorted index of a folder"},
      {"zcat old.arc.gz | stele warc index --format cdx11 -", "An 11-field CDX from a pipe"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
