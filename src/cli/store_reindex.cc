#include <fmt/format.h>

#include "cli/counter.h"
#include "cli/file_jobs.h"
#include "cli/store_commands.h"
#include "store/container_volume.h"
#include "store/volume_file.h"

namespace stele::cli {
namespace {

// Opening it is all that is needed. Returns how much is damaged.
Result<std::size_t> Reindex(const std::string& directory, const Arguments& arguments,
                            Context& context) {
  Result<std::unique_ptr<store::BlockTable>> table =
      store::OpenRocksBlockTable(directory + "/table");
  if (!table) return table.error();
  Counter counter(context, ShowsProgress(arguments, context), "bytes of " + directory);
  store::ContainerVolume::Options options;
  options.reindex = true;
  options.progress = [&](std::uint64_t done, std::uint64_t) { counter.Show(done); };
  const Result<std::unique_ptr<store::ContainerVolume>> volume = store::ContainerVolume::Open(
      {context.fs, context.clock, context.random}, directory, *std::move(table), options);
  if (!volume) return volume.error();
  for (const store::LogDamage& damage : (*volume)->damaged()) {
    const store::Finding finding{
        fmt::format("{}: container {}", directory, damage.container), ErrorCode::kCorrupt,
        fmt::format("bytes {} to {}: {}", damage.begin, damage.end, damage.text)};
    const Status told = context.out.Write(FindingLine(finding, arguments.Has("--json")));
    if (!told) return told.error();
  }
  const Result<store::VolumeStats> stats = (*volume)->Stats();
  if (stats && !arguments.Has("--quiet")) {
    Complain(context, fmt::format("{}: {} blocks, {} references", (*volume)->name(), stats->blocks,
                                  stats->references));
  }
  return (*volume)->damaged().size();
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const std::optional<std::string> store = arguments.Get("--store");
  if (!store) {
    Complain(context, "say which store: --store DIR");
    return ExitCode::kUsage;
  }
  const Result<std::vector<std::string>> names = context.fs.List(*store);
  if (!names) {
    Complain(context, names.error().text);
    return ExitCode::kFailed;
  }
  ExitCode code = ExitCode::kDone;
  for (const std::string& name : *names) {
    const std::string directory = *store + '/' + name;
    const auto description = store::ReadVolumeFile(context.fs, directory);
    if (!description && description.error().code == ErrorCode::kCorrupt) {
      Complain(context, description.error().text);
      code = ExitCode::kFailed;
    }
    if (!description || description->kind != store::VolumeKind::kContainer) continue;
    const Result<std::size_t> damaged = Reindex(directory, arguments, context);
    if (!damaged) Complain(context, damaged.error().text);
    code = std::max(code, !damaged       ? ExitCode::kFailed
                          : *damaged > 0 ? ExitCode::kDefects
                                         : ExitCode::kDone);
  }
  return code;
}

}  // namespace

Command StoreReindexCommand() {
  Command command;
  command.name = "reindex";
  command.summary = "Make the tables of container volumes anew";
  command.details =
      "Reads all containers and writes the table of signatures again, which is only a cache of "
      "them. Needed when a table is suspected to be wrong; a table that was deleted is made again "
      "whenever the volume is opened. What cannot be read is told, one line each; the exit code is "
      "then 1.";
  command.options = WithStoreOptions({{"--json", "", "One JSON object for each defect"},
                                      {"--quiet", "", "No progress and no summary"}});
  command.examples = {{"stele store reindex --store S", "Trust the containers alone"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
