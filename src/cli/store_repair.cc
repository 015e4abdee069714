#include <fmt/format.h>

#include "cli/counter.h"
#include "cli/file_jobs.h"
#include "cli/store_commands.h"
#include "store/copies.h"

namespace stele::cli {
namespace {

ExitCode Run(const Arguments& arguments, Context& context) {
  const int wanted = CopiesOf(arguments, context);
  if (wanted == 0) return ExitCode::kUsage;
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  Status written;
  store::Copies::RepairOptions options;
  options.copies = wanted;
  options.read_everything = !arguments.Has("--no-reading");
  options.report = [&](const store::Finding& finding) {
    if (written) written = context.out.Write(FindingLine(finding, arguments.Has("--json")));
  };
  store::Copies copies(*store->instance, context.random);
  const Result<store::Copies::Repaired> repaired = [&] {
    Counter counter(context, ShowsProgress(arguments, context), "contents");
    options.progress = [&](const auto& so_far) { counter.Show(so_far.contents); };
    return copies.Repair(options);
  }();
  if (!repaired || !written) {
    Complain(context, repaired ? written.error().text : repaired.error().text);
    return ExitCode::kFailed;
  }
  if (!arguments.Has("--quiet")) {
    Complain(context, fmt::format("{} contents: made {} copies, restored {} originals, released "
                                  "{} copies without an original, {} failed",
                                  repaired->contents, repaired->made, repaired->restored,
                                  repaired->released, repaired->failed));
  }
  return repaired->failed == 0 && store->failures.empty() ? ExitCode::kDone : ExitCode::kDefects;
}

}  // namespace

Command StoreRepairCommand() {
  Command command;
  command.name = "repair";
  command.summary = "Restore damaged contents and missing copies";
  command.details =
      "Reads every content and every copy. Damaged originals are restored from a copy, damaged "
      "copies are made anew, missing copies are made, copies whose original is gone are released. "
      "Each defect is one line. The exit code is 1 when something could not be repaired.";
  command.options =
      WithConnectorOptions({{"--copies", "N", "See to it that every content is on N volumes", "1"},
                            {"--no-reading", "", "Believe that bytes are what they were"},
                            {"--json", "", "One JSON object for each defect"},
                            {"--quiet", "", "No progress and no summary"}});
  command.examples = {
      {"stele store repair --store S --copies 2", "After a disk was lost and replaced"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
