#include <fmt/format.h>

#include <mutex>

#include "cli/file_jobs.h"
#include "cli/file_tree.h"
#include "cli/store_commands.h"
#include "store/compression.h"
#include "store/copies.h"
#include "util/json.h"

namespace stele::cli {
namespace {

std::optional<store::StoreMode> ModeOf(const std::string& name) {
  if (name == "regular") return store::StoreMode::kRegular;
  if (name == "compare") return store::StoreMode::kCompare;
  if (name == "force-new") return store::StoreMode::kForceNew;
  return std::nullopt;
}

std::string Line(const std::string& file, const store::Stored& stored, bool json) {
  if (!json) return fmt::format("{}  {}\n", stored.key.Text(), file);
  std::string line = "{\"file\": ";
  AppendJsonString(line, file);
  line += ", \"key\": ";
  AppendJsonString(line, stored.key.Text());
  return line + fmt::format(", \"new\": {}}}\n", stored.is_new);
}

Result<store::Stored> PutFile(store::Instance& instance, FileJob& job,
                              const store::Instance::StoreOptions& options, Context& context) {
  if (job.path == "-") {
    io::DescriptorSource source(0);
    return instance.Store(source, options);
  }
  Result<std::unique_ptr<io::ReadableFile>> open = context.fs.OpenForReading(job.path);
  if (!open) return open.error();
  const Result<std::uint64_t> size = (*open)->Size();
  io::FileSource source(*std::move(open));
  Result<store::Stored> stored = instance.Store(source, options);
  if (size) job.done += *size;
  return stored;
}

// What all files of one command have in common; nothing after a complaint.
std::optional<store::Instance::StoreOptions> StoreOptionsOf(const Arguments& arguments,
                                                            Context& context) {
  const auto mode = ModeOf(arguments.Get("--mode").value_or("regular"));
  if (!mode || arguments.positionals.empty()) {
    Complain(context, mode ? "name the files to store; - is the standard input"
                           : "--mode is regular, compare or force-new");
    return std::nullopt;
  }
  store::Instance::StoreOptions options;
  options.mode = *mode;
  options.media_type = arguments.Get("--type").value_or("");
  options.codec = arguments.Get("--codec").value_or("");
  if (!options.codec.empty() && !store::ParseCompression(options.codec)) {
    Complain(context,
             "--codec is identity, gzip, deflate or zstd, or one with its level, such "
             "as zstd:9");
    return std::nullopt;
  }
  options.volume = arguments.Get("--volume");
  return options;
}

// Complains when the content is on fewer volumes than were asked for.
ExitCode MakeCopies(store::Copies& copies, const store::ContentKey& key, int wanted,
                    Context& context) {
  const Result<int> made = copies.Ensure(key, wanted);
  if (made && *made >= wanted) return ExitCode::kDone;
  Complain(context, made ? fmt::format("{} is on {} of {} volumes; repair makes the others when "
                                       "there are volumes that take them",
                                       key.Text(), *made, wanted)
                         : made.error().text);
  return ExitCode::kFailed;
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const auto common = StoreOptionsOf(arguments, context);
  const int threads = ThreadsOf(arguments, context);
  const int wanted = CopiesOf(arguments, context);
  if (!common || threads == 0 || wanted == 0) return ExitCode::kUsage;
  const Result<std::vector<std::string>> files = FilesOf(arguments.positionals);
  if (!files) {
    Complain(context, files.error().text);
    return ExitCode::kFailed;
  }
  if (arguments.Has("--operation") && files->size() > 1) {
    Complain(context, "--operation goes with one FILE");
    return ExitCode::kUsage;
  }
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  std::mutex random;
  store::Copies copies(*store->instance, context.random);
  return RunOverFiles(
      *files, threads, context.out, ShowsProgress(arguments, context), context,
      [&](FileJob& job) -> Result<ExitCode> {
        store::Instance::StoreOptions options = *common;
        if (options.media_type.empty()) options.media_type = MediaTypeOf(job.path);
        {
          const std::lock_guard lock(random);
          options.operation = OperationOf(arguments, context);
        }
        const Result<store::Stored> stored = PutFile(*store->instance, job, options, context);
        if (!stored) {
          return Error{stored.error().code, fmt::format("{}: {}", job.path, stored.error().text)};
        }
        const Status written = job.out.Write(Line(job.path, *stored, arguments.Has("--json")));
        if (!written) return written.error();
        if (wanted == 1) return ExitCode::kDone;
        return MakeCopies(copies, stored->key, wanted, context);
      });
}

}  // namespace

Command StorePutCommand() {
  Command command;
  command.name = "put";
  command.summary = "Store files and print their keys";
  command.details =
      "Prints a line for each FILE when it is stored for good: its key, two spaces, its name. A "
      "content that is there already gets one more reference and the same key. Of a directory, "
      "the files below it are stored.";
  command.arguments = "FILE...";
  command.options = WithFileOptions(WithOwnerOptions(WithConnectorOptions(
      {{"--mode", "MODE",
        "What makes a content of a known signature a duplicate: its size (regular), its bytes "
        "(compare) or nothing (force-new)",
        "regular"},
       {"--type", "TYPE",
        "The media type, which chooses the compression; without it, the end of the name says it"},
       {"--codec", "CODEC", "Compress with this codec whatever the type: zstd, zstd:9, identity"},
       {"--volume", "NAME", "Search and store in this volume alone"},
       {"--copies", "N", "See to it that the content is on N volumes", "1"},
       {"--json", "", "One JSON object for each file"}})));
  command.examples = {{"stele store put --store S *.html", "Store some pages"},
                      {"stele store put --store S site/ >keys", "Everything below a directory"},
                      {"curl -s example.org | stele store put --store S -", "From a pipe"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
