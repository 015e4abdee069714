#include <fmt/format.h>

#include "cli/counter.h"
#include "cli/file_jobs.h"
#include "cli/store_commands.h"

namespace stele::cli {
namespace {

ExitCode Run(const Arguments& arguments, Context& context) {
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  if (!store->failures.empty()) code = ExitCode::kFailed;
  std::uint64_t blocks = 0;
  std::uint64_t findings = 0;
  Status written;
  for (const auto& volume : store->instance->volumes()) {
    const Result<store::VolumeStats> stats = volume->Stats();
    Counter counter(context, ShowsProgress(arguments, context), "blocks of " + volume->name(),
                    stats ? stats->blocks : 0);
    store::VerifyOptions options;
    options.progress = [&](std::uint64_t so_far) { counter.Show(so_far); };
    options.report = [&](const store::Finding& finding) {
      ++findings;
      if (written) written = context.out.Write(FindingLine(finding, arguments.Has("--json")));
    };
    const Result<std::uint64_t> checked = volume->Verify(options);
    if (!checked) Complain(context, checked.error().text);
    if (!checked || !written) code = ExitCode::kFailed;
    blocks += checked ? *checked : 0;
  }
  if (!arguments.Has("--quiet")) {
    Complain(context, fmt::format("checked {} blocks: {} defects", blocks, findings));
  }
  if (code == ExitCode::kDone && findings > 0) code = ExitCode::kDefects;
  return code;
}

}  // namespace

Command StoreCheckCommand() {
  Command command;
  command.name = "check";
  command.summary = "Verify every block against its signature and its references";
  command.details =
      "Reads everything. Each defect is one line: the key or path, and what is wrong. The exit "
      "code is 1 when there are any. With --connector every content is read over the network and "
      "compared with its signature; references are checked where the volume lies.";
  command.options = WithConnectorOptions({{"--json", "", "One JSON object per defect"},
                                          {"--quiet", "", "No progress and no summary"}});
  command.examples = {{"stele store check --store S", "Is everything still there?"},
                      {"stele store check --connector c.xml", "The same, while the servers go on"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
