#include <fmt/format.h>

#include "cli/counter.h"
#include "cli/file_jobs.h"
#include "cli/store_commands.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

// Complains and says nothing when it is no share.
std::optional<double> ShareOf(const Arguments& arguments, Context& context) {
  const auto percent = ParseDecimal(arguments.Get("--below").value_or("50"));
  if (percent && *percent <= 100) return static_cast<double>(*percent) / 100;
  Complain(context, "--below takes a number of percent, from 0 to 100");
  return std::nullopt;
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const std::optional<double> share = ShareOf(arguments, context);
  if (!share) return ExitCode::kUsage;
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  if (!store->failures.empty()) code = ExitCode::kFailed;
  for (const auto& volume : store->instance->volumes()) {
    Counter counter(context, ShowsProgress(arguments, context), "bytes of " + volume->name());
    store::CompactOptions options;
    options.used_share_max = *share;
    options.progress = [&](std::uint64_t done, std::uint64_t) { counter.Show(done); };
    Status written;
    options.report = [&](const store::Finding& finding) {
      code = std::max(code, ExitCode::kDefects);
      if (written) written = context.out.Write(FindingLine(finding, arguments.Has("--json")));
    };
    const Result<std::uint64_t> freed = volume->Compact(options);
    if (!freed || !written) {
      Complain(context, freed ? written.error().text : freed.error().text);
      code = ExitCode::kFailed;
    } else if (!arguments.Has("--quiet")) {
      Complain(context, *freed == 0
                            ? fmt::format("{}: there is nothing to give back", volume->name())
                            : fmt::format("{}: {} bytes are free again", volume->name(), *freed));
    }
  }
  return code;
}

}  // namespace

Command StoreCompactCommand() {
  Command command;
  command.name = "compact";
  command.summary = "Give back the space of deleted contents";
  command.details =
      "In a container volume a deleted content keeps its space until its container is compacted: "
      "what is still referenced is copied to the end and the container goes. In a tree volume, "
      "blocks that a crash left behind are removed. What is damaged stays as it is and is told, "
      "one line each; the exit code is then 1. With --connector the servers do it, one after "
      "another, while their clients go on.";
  command.options = WithConnectorOptions(
      {{"--below", "PERCENT", "Compact containers of which no more than this is in use", "50"},
       {"--json", "", "One JSON object for each defect"},
       {"--quiet", "", "No progress and no summary"}});
  command.examples = {
      {"stele store compact --store S", "After much was deleted"},
      {"stele store compact --connector c.xml", "The same, while the servers go on"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
