#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "archive/import.h"
#include "cli/amount.h"
#include "cli/archive_commands.h"
#include "cli/file_jobs.h"
#include "cli/file_tree.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::cli {
namespace {

// What all files of a run came to.
struct Totals {
  std::atomic<std::uint64_t> files = 0;
  std::atomic<std::uint64_t> known = 0;
  std::atomic<std::uint64_t> passed = 0;
  std::atomic<std::uint64_t> captures = 0;
  std::atomic<std::uint64_t> bytes = 0;
};

std::string OutcomeLine(const std::string& path, const archive::ImportOutcome& outcome, bool json) {
  const archive::Container& container = outcome.container;
  if (!json) {
    return outcome.is_new
               ? fmt::format("{}: {} captures\n", path, container.captures)
               : fmt::format("{}: here already, as container {}\n", path, container.number);
  }
  std::string line = "{\"file\": ";
  AppendJsonString(line, path);
  line += fmt::format(
      ", \"new\": {}, \"container\": {}, \"captures\": {}, \"records\": {}, \"bytes\": {}, "
      "\"sha256\": \"{}\", \"losses\": {}, \"unlisted\": {}}}\n",
      outcome.is_new, container.number, container.captures, container.records, container.bytes,
      container.sha256, container.losses, container.unlisted);
  return line;
}

struct ImportRun {
  archive::ArchiveWriter& archive;
  std::uint32_t run;
  bool in_place;
  bool json;
  bool quiet;
  std::set<std::string> named;  // by the person, and not found in a directory
  Context& context;
  Totals totals = {};

  Result<ExitCode> Import(FileJob& job) {
    archive::ImportOptions options;
    options.in_place = in_place;
    // Each byte is told twice; the bar knows each once.
    std::uint64_t told = 0;
    options.progress = [&](std::uint64_t bytes) {
      const std::uint64_t before = told / 2;
      told += bytes;
      job.done += told / 2 - before;
    };
    std::string path = job.path;
    if (in_place && path != "-") path = std::filesystem::absolute(path).lexically_normal();
    Result<archive::ImportOutcome> outcome = archive::ImportFile(archive, run, path, options);
    // Other files stand beside archive files in many a directory.
    if (!outcome && outcome.error().code == ErrorCode::kInvalid && !named.contains(job.path)) {
      ++totals.passed;
      if (!quiet) Complain(context, "passed over: " + outcome.error().text);
      return ExitCode::kDone;
    }
    if (!outcome) return outcome.error();
    ++totals.files;
    if (outcome->is_new) {
      totals.captures += outcome->container.captures;
      totals.bytes += outcome->container.bytes;
    } else {
      ++totals.known;
    }
    if (json || !quiet) {
      const Status written = job.out.Write(OutcomeLine(job.path, *outcome, json));
      if (!written) return written.error();
    }
    return Report(job.path, *outcome);
  }

  ExitCode Report(const std::string& path, const archive::ImportOutcome& outcome) const {
    for (const std::string& complaint : outcome.complaints) {
      Complain(context, fmt::format("{}: {}", path, complaint));
    }
    const archive::ContainerSummary& summary = outcome.summary;
    for (const record::Loss& loss : summary.losses) {
      Complain(context, fmt::format("{}: bytes {} to {} could not be read: {}", path, loss.begin,
                                    loss.end, loss.reason));
    }
    if (summary.unlisted > 0) {
      Complain(context, fmt::format("{}: {} captures have no date, or a URL that is too long, and "
                                    "are not listed",
                                    path, summary.unlisted));
    }
    const bool defects =
        !summary.losses.empty() || summary.unlisted > 0 || !outcome.complaints.empty();
    return defects ? ExitCode::kDefects : ExitCode::kDone;
  }
};

// Makes the archive where there is none. Nothing: a complaint was made.
Status MakeArchive(const std::string& directory, const Arguments& arguments, Context& context) {
  const Result<bool> there = archive::IsArchive(context.fs, directory);
  if (!there) return there.error();
  if (*there) return {};
  archive::ArchiveConfig config;
  config.title = arguments.Get("--title").value_or(
      std::filesystem::absolute(directory).lexically_normal().filename().string());
  config.volumes = {{.name = "main", .path = ""}};
  if (const Status made = archive::ArchiveWriter::Create(context.fs, directory, config); !made) {
    return made;
  }
  if (!arguments.Has("--quiet")) {
    Complain(context, fmt::format("made the archive {}", directory));
  }
  return {};
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const int threads = ThreadsOf(arguments, context);
  if (threads == 0 || !HasFiles(arguments, context)) return ExitCode::kUsage;
  Result<std::vector<std::string>> files = FilesOf(arguments.positionals);
  if (!files) return Fail(context, files.error());
  if (files->empty()) {
    Complain(context, "there is no file in what was named");
    return ExitCode::kUsage;
  }
  const std::string directory = ArchiveDirectory(arguments);
  if (const Status made = MakeArchive(directory, arguments, context); !made) {
    return Fail(context, made.error());
  }
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveWriter> archive =
      OpenArchiveToWrite(directory, "import", context, code);
  if (archive == nullptr) return code;
  Result<std::uint32_t> run =
      archive->BeginRun("import", fmt::format("{}", fmt::join(arguments.positionals, " ")));
  if (!run) return Fail(context, run.error());
  ImportRun import{*archive,
                   *run,
                   arguments.Has("--in-place"),
                   arguments.Has("--json"),
                   arguments.Has("--quiet"),
                   {arguments.positionals.begin(), arguments.positionals.end()},
                   context};
  code = RunOverFiles(*files, threads, context.out, ShowsProgress(arguments, context), context,
                      [&](FileJob& job) { return import.Import(job); });
  if (const Status ended = archive->EndRun(*run); !ended) return Fail(context, ended.error());
  if (!arguments.Has("--quiet")) {
    const Totals& totals = import.totals;
    const std::string text = fmt::format(
        "run {}: {}, {} of them here already{}; {}, {}\n", *run, Count(totals.files.load(), "file"),
        totals.known.load(),
        totals.passed > 0 ? fmt::format(", {} others passed over", totals.passed.load()) : "",
        Count(totals.captures.load(), "capture"), ByteCount(totals.bytes.load()));
    static_cast<void>(context.err.Write(text));
  }
  return code;
}

}  // namespace

Command ImportCommand() {
  Command command;
  command.name = "import";
  command.summary = "Bring web archive files into the archive, and make it where there is none";
  command.details =
      "WARC, ARC, Tianwang and WACZ files, compressed or not, directories of them, where other "
      "files are "
      "passed over, and - for the standard input. The bytes of a file stay as they are, under its "
      "own name: it is copied into "
      "the archive, or with --in-place stays where it is, and may then not be changed or moved. A "
      "file that is here already changes nothing, so an import that was interrupted is simply "
      "started again.\n\nDamaged places are reported and passed; what can be read is listed, and "
      "the exit code is then 1.";
  command.arguments = "FILE...";
  command.options = WithArchiveOption(WithFileOptions(
      {{"--in-place", "", "Leave the files where they are"},
       {"--title", "TEXT", "The title of an archive that is made", "the directory's name"},
       {"--json", "", "One JSON object for each file"}}));
  command.examples = {{"stele import --archive my-archive crawls/", "All files below a directory"},
                      {"stele import --in-place /mnt/warcs/*.warc.gz", "Without copying"},
                      {"curl -s URL | stele import -", "From a pipe"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
