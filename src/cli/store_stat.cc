#include <fmt/format.h>

#include "cli/store_commands.h"
#include "util/json.h"

namespace stele::cli {
namespace {

std::string KeyLine(const store::ContentKey& key, const store::BlockInfo& info, bool json) {
  if (!json) {
    return fmt::format("{}  size {}  stored {}  references {}  compression {}\n", key.Text(),
                       info.size, info.stored_size, info.references, info.compression);
  }
  std::string line = "{\"key\": ";
  AppendJsonString(line, key.Text());
  line += fmt::format(", \"size\": {}, \"stored_size\": {}, \"references\": {}, \"compression\": ",
                      info.size, info.stored_size, info.references);
  AppendJsonString(line, info.compression);
  return line + "}\n";
}

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
  std::vector<store::ContentKey> keys;
  for (const std::string& text : arguments.positionals) {
    std::optional<store::ContentKey> key = KeyOf(text, context);
    if (!key) return ExitCode::kUsage;
    keys.push_back(*std::move(key));
  }
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  const bool json = arguments.Has("--json");
  const auto finish = [&](const Status& status) {
    if (status) return;
    Complain(context, status.error().text);
    code = ExitCode::kFailed;
  };
  for (const store::ContentKey& key : keys) {
    const Result<store::BlockInfo> info = store->instance->Stat(key);
    finish(info ? context.out.Write(KeyLine(key, *info, json)) : Status(info.error()));
  }
  if (!keys.empty()) return code;
  for (const auto& volume : store->instance->volumes()) {
    const Result<store::VolumeStats> stats = volume->Stats();
    finish(stats ? context.out.Write(VolumeLine(*volume, *stats, json)) : Status(stats.error()));
  }
  return code;
}

}  // namespace

Command StoreStatCommand() {
  Command command;
  command.name = "stat";
  command.summary = "Say what is known about contents, or about the volumes";
  command.details = "Without a KEY, one line for each volume. Sizes are in bytes.";
  command.arguments = "[KEY]...";
  command.options = WithConnectorOptions({{"--json", "", "One JSON object for each line"}});
  command.examples = {{"stele store stat --store S", "How full are the volumes?"},
                      {"stele store stat --store S KEY", "How many references are there?"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
