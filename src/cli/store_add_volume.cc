#include <fmt/format.h>

#include "cli/store_commands.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

ExitCode Run(const Arguments& arguments, Context& context) {
  const std::optional<std::string> directory = arguments.Get("--store");
  const auto depth = ParseDecimal(arguments.Get("--depth").value_or("3"));
  const auto capacity = ParseDecimal(arguments.Get("--capacity").value_or("0"));
  if (!directory || arguments.positionals.size() != 1) {
    Complain(context, "say which store, --store DIR, and one name for the volume");
    return ExitCode::kUsage;
  }
  if (!depth || *depth > store::Signature::kBytesMax || !capacity) {
    Complain(context, "--depth and --capacity take numbers");
    return ExitCode::kUsage;
  }
  const std::string kind = arguments.Get("--kind").value_or("tree");
  if (kind != "tree" && kind != "container") {
    Complain(context, "--kind is tree or container");
    return ExitCode::kUsage;
  }
  const auto durability = store::DurabilityByName(arguments.Get("--durability").value_or("synced"));
  if (!durability) {
    Complain(context, "--durability is synced or buffered");
    return ExitCode::kUsage;
  }
  store::VolumeDescription volume;
  volume.kind = kind == "tree" ? store::VolumeKind::kTree : store::VolumeKind::kContainer;
  volume.name = arguments.positionals[0];
  volume.signature = arguments.Get("--signature").value_or("sha256");
  volume.depth = static_cast<int>(*depth);
  volume.capacity_bytes = *capacity;
  volume.durability = *durability;
  if (store::SignatureFunctionByName(volume.signature) == nullptr) {
    Complain(context,
             fmt::format("there is no signature {}; use sha256 or rabin64", volume.signature));
    return ExitCode::kUsage;
  }
  const Status made = store::AddLocalVolume(context.fs, *directory, volume);
  if (made) return ExitCode::kDone;
  Complain(context, made.error().text);
  return made.error().code == ErrorCode::kInvalid ? ExitCode::kUsage : ExitCode::kFailed;
}

}  // namespace

Command StoreAddVolumeCommand() {
  Command command;
  command.name = "add-volume";
  command.summary = "Make a volume, and the store with the first one";
  command.details =
      "A tree volume is a tree of directories with a file for each content, which people can read. "
      "A container volume keeps contents as records of WARC files and is much faster. A volume's "
      "name is 1 to 64 of a-z, 0-9, - and _, stands in the keys of its contents and is never given "
      "to another volume.";
  command.arguments = "NAME";
  command.options = WithStoreOptions(
      {{"--kind", "KIND", "tree or container", "tree"},
       {"--signature", "NAME", "sha256 or rabin64; the same in all volumes of a store", "sha256"},
       {"--depth", "N", "Levels of a tree, blocks included", "3"},
       {"--capacity", "BYTES", "What it may take on the disk; 0 is no limit", "0"},
       {"--durability", "WHEN",
        "What is acknowledged is on the disk (synced), or will be a second later (buffered), so "
        "that a power failure may cost the last second; set-durability changes it",
        "synced"}});
  command.examples = {{"stele store add-volume --store S v1", "The first volume makes the store"},
                      {"stele store add-volume --store S --kind container c1",
                       "For many contents and many clients"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
