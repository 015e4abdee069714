#include <fmt/format.h>

#include "cli/store_commands.h"

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

ExitCode Run(const Arguments& arguments, Context& context) {
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  if (!store->failures.empty()) code = ExitCode::kFailed;
  for (const auto& volume : store->instance->volumes()) {
    const Result<store::VolumeStats> stats = volume->Stats();
    const Status told =
        stats ? context.out.Write(VolumeLine(*volume, *stats, arguments.Has("--json")))
              : Status(stats.error());
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
      "bytes on the disk, capacity. Sizes are in bytes; a capacity of 0 is no limit.";
  command.options = WithConnectorOptions({{"--json", "", "One JSON object for each volume"}});
  command.examples = {{"stele store stats --store S", "How full are the volumes?"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
