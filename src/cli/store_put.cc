#include <fmt/format.h>

#include "cli/store_commands.h"
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

Result<store::Stored> PutFile(store::Instance& instance, const std::string& file,
                              const store::Instance::StoreOptions& options, Context& context) {
  if (file == "-") {
    io::DescriptorSource source(0);
    return instance.Store(source, options);
  }
  Result<std::unique_ptr<io::ReadableFile>> open = context.fs.OpenForReading(file);
  if (!open) return open.error();
  io::FileSource source(*std::move(open));
  return instance.Store(source, options);
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const auto mode = ModeOf(arguments.Get("--mode").value_or("regular"));
  if (!mode || arguments.positionals.empty()) {
    Complain(context, mode ? "name the files to store; - is the standard input"
                           : "--mode is regular, compare or force-new");
    return ExitCode::kUsage;
  }
  if (arguments.Has("--operation") && arguments.positionals.size() > 1) {
    Complain(context, "--operation goes with one FILE");
    return ExitCode::kUsage;
  }
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  for (const std::string& file : arguments.positionals) {
    store::Instance::StoreOptions options;
    options.mode = *mode;
    options.media_type = arguments.Get("--type").value_or("");
    options.operation = OperationOf(arguments, context);
    options.volume = arguments.Get("--volume");
    const Result<store::Stored> stored = PutFile(*store->instance, file, options, context);
    if (!stored) {
      Complain(context, fmt::format("{}: {}", file, stored.error().text));
      code = ExitCode::kFailed;
      continue;
    }
    const Status written = context.out.Write(Line(file, *stored, arguments.Has("--json")));
    if (!written) {
      Complain(context, written.error().text);
      return ExitCode::kFailed;
    }
  }
  return code;
}

}  // namespace

Command StorePutCommand() {
  Command command;
  command.name = "put";
  command.summary = "Store files and print their keys";
  command.details =
      "Prints a line for each FILE when it is stored for good: its key, two spaces, its name. A "
      "content that is there already gets one more reference and the same key.";
  command.arguments = "FILE...";
  command.options = WithOwnerOptions(WithConnectorOptions(
      {{"--mode", "MODE",
        "What makes a content of a known signature a duplicate: its size (regular), its bytes "
        "(compare) or nothing (force-new)",
        "regular"},
       {"--type", "TYPE", "The media type, which chooses the compression"},
       {"--volume", "NAME", "Search and store in this volume alone"},
       {"--json", "", "One JSON object for each file"}}));
  command.examples = {{"stele store put --store S *.html", "Store some pages"},
                      {"curl -s example.org | stele store put --store S -", "From a pipe"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
