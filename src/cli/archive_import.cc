#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "archive/archive_reader.h"
#include "archive/durable_file.h"
#include "archive/import.h"
#include "archive/unresolved.h"
#include "archive/warcinfo_text.h"
#include "cli/amount.h"
#include "cli/archive_commands.h"
#include "cli/file_jobs.h"
#include "cli/file_tree.h"
#include "cli/output.h"
#include "cli/repacking.h"
#include "cli/rewriting.h"
#include "cli/scratch_digests.h"
#include "cli/temporary_folder.h"
#include "crawl/crawl_job.h"
#include "dedup/archive_originals.h"
#include "formats/archive_file/archive_file.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::cli {
namespace {

// What all files of a run came to.
struct Totals {
  std::atomic<std::uint64_t> files = 0;
  std::atomic<std::uint64_t> known = 0;
  std::atomic<std::uint64_t> passed = 0;
  std::atomic<std::uint64_t> waiting = 0;  // for room
  std::atomic<std::uint64_t> captures = 0;
  std::atomic<std::uint64_t> duplicates = 0;  // written as revisits
  std::atomic<std::uint64_t> bytes = 0;
};

// `removed`: how many captures of a file that was here already were taken down.
std::string OutcomeLine(const std::string& path, const archive::ImportOutcome& outcome,
                        std::uint64_t removed, bool json) {
  const archive::Container& container = outcome.container;
  if (!json && outcome.is_new) {
    return fmt::format("{}: {}\n", path, Count(container.captures, "capture"));
  }
  if (!json) {
    const std::string taken_down =
        removed == 0 ? ""
                     : fmt::format("; {} of its {} taken down: stele rm --list says why", removed,
                                   Count(container.captures, "capture"));
    return fmt::format("{}: here already, as container {}{}\n", path, container.number, taken_down);
  }
  std::string line = "{\"file\": ";
  AppendJsonString(line, path);
  line += fmt::format(
      ", \"new\": {}, \"container\": {}, \"captures\": {}, \"records\": {}, \"bytes\": {}, "
      "\"sha256\": \"{}\", \"losses\": {}, \"unlisted\": {}, \"removed\": {}}}\n",
      outcome.is_new, container.number, container.captures, container.records, container.bytes,
      container.sha256, container.losses, container.unlisted, removed);
  return line;
}

// The person knows a file by its own name.
Error NamedAs(Error error, const std::string& name, const std::string& own_name) {
  if (const std::size_t at = error.text.find(name); at != std::string::npos) {
    error.text.replace(at, name.size(), own_name);
  }
  return error;
}

struct ImportRun {
  archive::ArchiveWriter& archive;
  std::uint32_t run;
  bool in_place;
  bool again;
  bool repack;
  dedup::ArchiveOriginals* originals;  // null: duplicates are kept
  bool json;
  bool quiet;
  std::set<std::string> named;  // by the person, and not found in a directory
  Context& context;
  Totals totals = {};
  std::atomic<bool> damaged = false;  // records could not be repacked
  std::atomic<bool> full = false;     // there is no room for more

  // Writes the file anew, and brings that in. The outcome is told as if it were the file itself.
  Result<archive::ImportOutcome> ImportRepacked(FileJob& job) {
    if (job.path == "-") {
      return Error{ErrorCode::kInvalid, "--repack reads a file more than once: name one"};
    }
    const Result<archive::FileFacts> facts = archive::FactsOf(context.fs, job.path);
    if (!facts) return facts.error();
    archive::ImportOutcome outcome;
    if (const std::optional<archive::Container> here = archive.FindBySha256(facts->sha256)) {
      outcome.container = *here;
      return outcome;
    }
    Result<std::unique_ptr<TemporaryFolder>> folder = TemporaryFolder::Make();
    if (!folder) return folder.error();
    const std::string source = job.path.substr(job.path.rfind('/') + 1);
    const std::string name = WarcName(source, record::Compression::kGzip);
    const std::string path = fmt::format("{}/{}", (*folder)->path(), name);
    Result<std::unique_ptr<OutputFile>> file = OutputFile::Create(context, path, false);
    if (!file) return file.error();
    const std::string about = archive::WarcinfoText(archive.layout().config());
    Result<RepackOutcome> repacked = Repack(context, job,
                                            {.name = name,
                                             .about = about,
                                             .source_name = source,
                                             .source_sha256 = facts->sha256,
                                             .spill_path = (*folder)->path() + "/block",
                                             .known = originals},
                                            **file);
    if (!repacked) return repacked.error();
    if (const Status written = (*file)->Commit(); !written) return written.error();
    totals.duplicates += repacked->duplicates;
    if (repacked->code != ExitCode::kDone) damaged = true;
    archive::ImportOptions options;
    options.again = again;
    options.origin_sha256 = facts->sha256;
    Result<archive::ImportOutcome> imported = archive::ImportFile(archive, run, path, options);
    if (!imported) return NamedAs(imported.error(), path, job.path);
    if (!imported->is_new || originals == nullptr) return imported;
    const Status learned = Learn(imported->container);
    return learned ? std::move(imported) : learned.error();
  }

  // The payloads of a container are known to the files after it.
  Status Learn(const archive::Container& container) {
    const auto learn = [&](const archive::ContainerCapture& capture) -> Status {
      const catalog::Capture& row = capture.row;
      if ((row.flags & catalog::kRevisit) == 0) originals->Learn(row.id, {row.sha1, row.sha256});
      return {};
    };
    return archive.View().ForEachCapture(container, learn);
  }

  Result<archive::ImportOutcome> ImportAsItIs(FileJob& job) {
    archive::ImportOptions options;
    options.in_place = in_place;
    options.again = again;
    // Each byte is told twice; the bar knows each once.
    std::uint64_t told = 0;
    options.progress = [&](std::uint64_t bytes) {
      const std::uint64_t before = told / 2;
      told += bytes;
      job.done += told / 2 - before;
    };
    std::string path = job.path;
    if (in_place && path != "-") path = std::filesystem::absolute(path).lexically_normal();
    return archive::ImportFile(archive, run, path, options);
  }

  std::string Summary() const {
    const std::string files = fmt::format(
        "{}, {} of them here already{}", Count(totals.files.load(), "file"), totals.known.load(),
        totals.passed > 0 ? fmt::format(", {} others passed over", totals.passed.load()) : "");
    const bool is_told = archive.View().holdings().runs().contains(run);
    if (!is_told) return fmt::format("nothing is new: {}; no run\n", files);
    return fmt::format(
        "run {}: {}; {}{}, {}\n", run, files, Count(totals.captures.load(), "capture"),
        repack
            ? fmt::format(", {} of them duplicates that became revisits", totals.duplicates.load())
            : "",
        ByteCount(totals.bytes.load()));
  }

  void TellOfWaiting() const {
    const std::uint64_t waiting = totals.waiting;
    if (waiting == 0) return;
    Complain(context, fmt::format("{} more of the files {} not looked at; when there is room, "
                                  "start this import again",
                                  waiting, waiting == 1 ? "was" : "were"));
  }

  Status TellUnresolved() const {
    const Result<archive::UnresolvedRevisits> found = archive::FindUnresolved(archive.View(), run);
    if (!found) return found.error();
    if (const std::uint64_t missing = found->missing.captures; missing > 0) {
      Complain(context, fmt::format("{} of run {} {} on captures that are not here; stele report "
                                    "--run {} names the first",
                                    Count(missing, "revisit"), run,
                                    missing == 1 ? "depends" : "depend", run));
    }
    if (const std::uint64_t undecided = found->undecided.captures; undecided > 0) {
      Complain(context, fmt::format("whether the originals of {} of run {} are here cannot be "
                                    "known: {}",
                                    Count(undecided, "revisit"), run, found->reason));
    }
    return {};
  }

  Result<ExitCode> Import(FileJob& job) {
    if (full) {
      ++totals.waiting;
      return ExitCode::kFailed;
    }
    const Result<archive::ImportOutcome> outcome = repack ? ImportRepacked(job) : ImportAsItIs(job);
    // Other files stand beside archive files in many a directory.
    if (!outcome && outcome.error().code == ErrorCode::kInvalid && !named.contains(job.path)) {
      ++totals.passed;
      if (!quiet) Complain(context, "passed over: " + outcome.error().text);
      return ExitCode::kDone;
    }
    if (!outcome && outcome.error().code == ErrorCode::kFull) full = true;
    if (!outcome) return outcome.error();
    ++totals.files;
    if (outcome->is_new) {
      totals.captures += outcome->container.captures;
      totals.bytes += outcome->container.bytes;
    } else {
      ++totals.known;
    }
    if (json || !quiet) {
      const std::uint64_t removed =
          outcome->is_new ? 0 : archive.View().holdings().RemovedIn(outcome->container);
      const Status written = job.out.Write(OutcomeLine(job.path, *outcome, removed, json));
      if (!written) return written.error();
    }
    return Report(job.path, *outcome);
  }

  void TellOfKnownParts(const std::string& path, const archive::ImportOutcome& outcome) const {
    const std::size_t known = outcome.container.left_out.size();
    if (!outcome.is_new || quiet || known == 0) return;
    const bool is_one = known == 1;
    Complain(context,
             fmt::format("{}: {} of its {} archive files {} here already; {} captures stay listed "
                         "where they are",
                         path, known, outcome.container.part_sha256s.size(), is_one ? "is" : "are",
                         is_one ? "its" : "their"));
  }

  ExitCode Report(const std::string& path, const archive::ImportOutcome& outcome) const {
    for (const std::string& complaint : outcome.complaints) {
      Complain(context, fmt::format("{}: {}", path, complaint));
    }
    TellOfKnownParts(path, outcome);
    const archive::ContainerSummary& summary = outcome.summary;
    for (const record::Loss& loss : summary.losses) {
      Complain(context, fmt::format("{}: bytes {} to {} could not be read: {}", path, loss.begin,
                                    loss.end, loss.reason));
    }
    if (summary.unlisted > 0) {
      Complain(context,
               fmt::format("{}: {} not listed, without a date or with a URL that is too long", path,
                           Count(summary.unlisted, "capture")));
    }
    const bool defects =
        !summary.losses.empty() || summary.unlisted > 0 || !outcome.complaints.empty();
    return defects ? ExitCode::kDefects : ExitCode::kDone;
  }
};

// False after complaints: then no archive is made for files that are empty, also where they are
// compressed. What cannot be opened here may be of a kind that is known elsewhere, or is complained
// of there.
bool AnyHasBytes(const std::vector<std::string>& files, Context& context) {
  for (const std::string& path : files) {
    if (path == "-") return true;
    const auto file = archive_file::ArchiveFile::Open(context.fs, path);
    if (!file || !(*file)->empty()) return true;
  }
  for (const std::string& path : files) Complain(context, archive::EmptyFile(path).text);
  return false;
}

// False after complaints: then nothing is begun for files that are not there.
bool AnyCanBeRead(const std::vector<std::string>& files, Context& context) {
  std::vector<std::string> complaints;
  for (const std::string& path : files) {
    if (path == "-") return true;
    const Result<std::unique_ptr<io::ReadableFile>> file = context.fs.OpenForReading(path);
    if (file) return true;
    complaints.push_back(file.error().text);
  }
  for (const std::string& complaint : complaints) Complain(context, complaint);
  return false;
}

std::string CanonicalPath(const std::string& path) {
  std::error_code unknown;
  const std::filesystem::path canonical =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path), unknown);
  return unknown ? path : canonical.string();
}

// Knows what an archive consists of.
class ArchiveParts {
 public:
  ArchiveParts(const archive::ArchiveLayout& layout, io::FileSystem& fs)
      : whole_{archive::ArchiveLayout::ConfigPath(layout.directory()), layout.LockPath(),
               layout.WriterPath(), layout.LedgerPath(), layout.CatalogDirectory()} {
    const Result<std::vector<std::string>> names =
        fs.List(crawl::JobFolder::AllJobs(layout.directory()));
    for (const std::string& name : names ? *names : std::vector<std::string>()) {
      const crawl::JobFolder job(layout.directory(), name);
      const Result<bool> is_job = fs.Exists(job.Settings());
      if (is_job && *is_job) whole_.push_back(job.path());
    }
    for (std::string& path : whole_) path = CanonicalPath(path);
    for (const archive::ArchiveConfig::Volume& volume : layout.config().volumes) {
      volumes_.push_back(CanonicalPath(layout.VolumeDirectory(volume)) + '/');
    }
  }

  bool Has(const std::string& file) const {
    const auto is_in = [&](const std::string& part) {
      return file == part || file.starts_with(part + '/');
    };
    // Containers and their rows have numbers for names.
    const auto is_in_volume = [&](const std::string& volume) {
      if (!file.starts_with(volume)) return false;
      const std::string name = file.substr(volume.size());
      return name.find_first_not_of("0123456789") == 8 && (name[8] == '/' || name[8] == '.');
    };
    return std::any_of(whole_.begin(), whole_.end(), is_in) ||
           std::any_of(volumes_.begin(), volumes_.end(), is_in_volume);
  }

 private:
  std::vector<std::string> whole_;
  std::vector<std::string> volumes_;
};

// An archive may lie in a directory that is brought to it: what it consists of is not meant. Tells
// of it, also quietly when a person named such a file.
Status LeaveOutItself(const std::string& directory, const Arguments& arguments, Context& context,
                      std::vector<std::string>& files) {
  const Result<std::shared_ptr<const archive::ArchiveLayout>> layout =
      archive::LoadLayout(context.fs, directory);
  if (!layout) return layout.error();
  const ArchiveParts parts(**layout, context.fs);
  bool tells = !arguments.Has("--quiet");
  const std::size_t left_out = std::erase_if(files, [&](const std::string& path) {
    if (path == "-") return false;
    const bool is_own = parts.Has(CanonicalPath(path));
    const auto& named = arguments.positionals;
    tells = tells || (is_own && std::find(named.begin(), named.end(), path) != named.end());
    return is_own;
  });
  if (left_out > 0 && tells) {
    Complain(context,
             fmt::format("{} to the archive itself and {} left out",
                         left_out == 1 ? "1 file belongs" : Count(left_out, "file") + " belong",
                         left_out == 1 ? "was" : "were"));
  }
  return {};
}

bool IsWaczName(const std::string& path) { return AsciiLower(path).ends_with(".wacz"); }

// Makes the archive where there is none.
Status MakeArchive(const std::string& directory, const Arguments& arguments, Context& context) {
  const Result<bool> there = archive::IsArchive(context.fs, directory);
  if (!there) return there.error();
  if (*there) return {};
  archive::ArchiveConfig config;
  config.title = arguments.Get("--title").value_or(
      std::filesystem::absolute(directory).lexically_normal().filename().string());
  config.volumes = {{.name = "main", .path = ""}};
  const Result<bool> made = archive::ArchiveWriter::Create(context.fs, directory, config);
  if (!made) return made.error();
  if (*made && !arguments.Has("--quiet")) {
    Complain(context, fmt::format("made the archive {}", directory));
  }
  return {};
}

ExitCode Run(const Arguments& arguments, Context& context) {
  int threads = ThreadsOf(arguments, context);
  if (threads == 0 || !HasFiles(arguments, context)) return ExitCode::kUsage;
  const bool repack = arguments.Has("--repack") || arguments.Has("--dedup");
  if (repack && arguments.Has("--in-place")) {
    Complain(context, "--in-place leaves files as they are, --repack writes them anew: choose one");
    return ExitCode::kUsage;
  }
  Result<std::vector<std::string>> files = FilesOf(arguments.positionals);
  if (!files) return Fail(context, files.error());
  const std::string directory = ArchiveDirectory(arguments);
  const Result<bool> there = archive::IsArchive(context.fs, directory);
  if (!there) return Fail(context, there.error());
  if (*there) {
    const Status left_out = LeaveOutItself(directory, arguments, context, *files);
    if (!left_out) return Fail(context, left_out.error());
  }
  if (files->empty()) {
    Complain(context, "there is no file in what was named");
    return ExitCode::kUsage;
  }
  if (!AnyCanBeRead(*files, context)) return ExitCode::kFailed;
  if (!*there && !AnyHasBytes(*files, context)) return ExitCode::kFailed;
  if (const Status made = MakeArchive(directory, arguments, context); !made) {
    return Fail(context, made.error());
  }
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveWriter> archive =
      OpenArchiveToWrite(directory, "import", context, code);
  if (archive == nullptr) return code;
  ScratchDigests digests;
  std::unique_ptr<dedup::ArchiveOriginals> originals;
  if (arguments.Has("--dedup")) {
    threads = 1;  // each file is to know those before it
    originals = std::make_unique<dedup::ArchiveOriginals>([&] { return archive->View(); });
    if (const Status loaded = digests.LoadInto(*originals); !loaded) {
      return Fail(context, loaded.error());
    }
  }
  const std::uint32_t run =
      archive->PlanRun("import", fmt::format("{}", fmt::join(arguments.positionals, " ")));
  if (archive->View().holdings().runs().contains(run) && !arguments.Has("--quiet")) {
    Complain(context, fmt::format("goes on with run {}, which was interrupted", run));
  }
  ImportRun import{*archive,
                   run,
                   arguments.Has("--in-place"),
                   arguments.Has("--again"),
                   repack,
                   originals.get(),
                   arguments.Has("--json"),
                   arguments.Has("--quiet"),
                   {arguments.positionals.begin(), arguments.positionals.end()},
                   context};
  // A WACZ file before the WARC files that it was made of, which are known then.
  const auto others = std::stable_partition(files->begin(), files->end(), IsWaczName);
  for (const std::vector<std::string>& part :
       {std::vector(files->begin(), others), std::vector(others, files->end())}) {
    if (part.empty()) continue;
    code =
        std::max(code, RunOverFiles(part, threads, context.out, ShowsProgress(arguments, context),
                                    context, [&](FileJob& job) { return import.Import(job); }));
  }
  if (const Status ended = archive->EndRun(run); !ended) return Fail(context, ended.error());
  ComplainOfDelivery(*archive, context);
  import.TellOfWaiting();
  if (const Status told = import.TellUnresolved(); !told) return Fail(context, told.error());
  if (!arguments.Has("--quiet")) static_cast<void>(context.err.Write(import.Summary()));
  return code == ExitCode::kDone && import.damaged ? ExitCode::kDefects : code;
}

}  // namespace

Command ImportCommand() {
  Command command;
  command.name = "import";
  command.summary = "Bring web archive files into the archive, and make it where there is none";
  command.details =
      "WARC, ARC, Tianwang and WACZ files, compressed or not, directories of them, where other "
      "files are "
      "passed over, patterns such as 'crawl-*.warc.gz', and - for the standard input. The bytes of "
      "a file stay as they are, under its "
      "own name: it is copied into "
      "the archive, or with --in-place stays where it is, and may then not be changed or moved. A "
      "file that is here already changes nothing, so an import that was interrupted is simply "
      "started again. One that was here and lost captures to rm --purge is refused unless --again "
      "is given.\n\n--repack writes each file anew before it comes in: as WARC 1.1, each "
      "record compressed "
      "alone, with new record ids and a note of the file that it was made from. --dedup does that, "
      "too, and writes responses whose payload is in the archive, or further up in the file, as "
      "revisits, one file after another.\n\nDamaged places are reported and passed; what can be "
      "read is listed, and "
      "the exit code is then 1. Revisits whose originals are neither in the files nor in the "
      "archive are counted at the end: bring the files that have them, and they are found.";
  command.arguments = "FILE...";
  command.options = WithArchiveOption(WithFileOptions(
      {{"--in-place", "", "Leave the files where they are"},
       {"--repack", "", "Write them anew, with new record ids"},
       {"--dedup", "", "Repack, with revisits in place of payloads that are known"},
       {"--again", "", "Also bring files that were here and were purged"},
       {"--title", "TEXT", "The title of an archive that is made", "the directory's name"},
       {"--json", "", "One JSON object for each file"}}));
  command.examples = {{"stele import --archive my-archive crawls/", "All files below a directory"},
                      {"stele import --in-place /mnt/warcs/*.warc.gz", "Without copying"},
                      {"stele import --dedup crawl-*.warc.gz", "Keep each payload once"},
                      {"curl -s URL | stele import -", "From a pipe"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
