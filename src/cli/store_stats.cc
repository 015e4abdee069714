#include <fmt/format.h>

#include "cli/store_commands.h"
#include "util/json.h"

namespace stele::cli {
namespace {

std::string VolumeLine(const store::Volume& volume, const store::VolumeStats& stats, bool json) {
  const std::string_view state = store::VolumeStateName(volume.state());
  if (!json) {
    return fmt::format("{}  {}  blocks {}  references {}  content {}  stored {}  capacity {}\n",
                       volume.name(), state, stats.blocks, stats.references, stats.content_bytes,
                       stats.stored_bytes, stats.capacity_bytes);
  }
  return fmt::format(
      "{{\"volume\": \"{}\", \"state\": \"{}\", \"blocks\": {}, \"references\": {}, "
      "\"content_bytes\": {}, \"stored_bytes\": {}, \"capacity_bytes\": {}}}\n",
      volume.name(), state, stats.blocks, stats.references, stats.content_bytes, stats.stored_bytes,
      stats.capacity_bytes);
}

std::string OwnerLine(const store::Volume& volume, const store::OwnerUsage& usage, bool json) {
  if (!json) {
    return fmt::format("{}  owner {}  references {}  content {}\n", volume.name(), usage.owner,
                       usage.references, usage.content_bytes);
  }
  std::string line = fmt::format("{{\"volume\": \"{}\", \"owner\": ", volume.name());
  AppendJsonString(line, usage.owner);
  return line + fmt::format(", \"references\": {}, \"content_bytes\": {}}}\n", usage.references,
                            usage.content_bytes);
}

Result<std::string> LinesOf(store::Volume& volume, const Arguments& arguments) {
  const bool json = arguments.Has("--json");
  if (!arguments.Has("--owners")) {
    const Result<store::VolumeStats> stats = volume.Stats();
    if (!stats) return stats.error();
    return VolumeLine(volume, *stats, json);
  }
  const Result<std::vector<store::OwnerUsage>> owners = volume.Owners();
  if (!owners) return owners.error();
  std::string lines;
  for (const store::OwnerUsage& usage : *owners) lines += OwnerLine(volume, usage, json);
  return lines;
}

ExitCode Run(const Arguments& arguments, Context& context) {
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  if (!store->failures.empty()) code = ExitCode::kFailed;
  for (const auto& volume : store->instance->volumes()) {
    const Result<std::string> lines = LinesOf(*volume, arguments);
    const Status told = lines ? context.out.Write(*lines) : Status(lines.error());
    if (told) continue;
    Complain(context, told.error().text);
    code = ExitCode::kFailed;
  }
  return code;
}

}  // namespace

Command StoreStatsCommand() {
  Command command;
  command.name = "stats";
  command.summary = "Say what the volumes hold";
  command.details =
      "One line for each volume: its state, blocks, references, bytes of all distinct contents, "
      "bytes on the disk, capacity. Sizes are in bytes; a capacity of 0 is no limit. With "
      "--owners, "
      "one line for each volume and owner: its references, and the bytes of the contents that each "
      "of them refers to.";
  command.options = WithConnectorOptions(
      {{"--owners", "", "Who holds how much?"}, {"--json", "", "One JSON object for each line"}});
  command.examples = {{"stele store stats --store S", "How full are the volumes?"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
