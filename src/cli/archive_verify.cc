#include <fmt/format.h>

#include "archive/unresolved.h"
#include "archive/verify.h"
#include "cli/amount.h"
#include "cli/archive_commands.h"
#include "cli/counter.h"
#include "cli/dependency_text.h"
#include "cli/file_jobs.h"
#include "util/json.h"

namespace stele::cli {
namespace {

// Revisits whose originals may never have come.
Status TellUnresolved(const archive::ArchiveView& view, bool json, io::Sink& out) {
  for (const auto& [number, run] : view.holdings().runs()) {
    const Result<archive::UnresolvedRevisits> found = archive::FindUnresolved(view, number);
    if (!found) return found.error();
    const std::uint64_t missing = found->missing.captures;
    if (missing == 0) continue;
    const std::string line =
        json ? fmt::format("{{\"run\": {}, \"unresolved\": {}}}\n", number, missing)
             : fmt::format("run {}: originals are missing for {}: see stele report --run {}\n",
                           number, Count(missing, "revisit"), number);
    if (const Status told = out.Write(line); !told) return told;
  }
  return {};
}

ExitCode Run(const Arguments& arguments, Context& context) {
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveReader> reader = OpenArchive(arguments, context, code);
  if (reader == nullptr) return code;
  const archive::ArchiveView view = reader->View();
  const bool json = arguments.Has("--json");
  std::uint64_t total = 0;
  for (const auto& [number, container] : view.holdings().containers()) total += container.bytes;
  Counter counter(context, ShowsProgress(arguments, context), "MB", total / 1'000'000);
  std::uint64_t done = 0;
  archive::VerifyOptions options;
  options.read_files = !arguments.Has("--quick");
  options.applied = reader->applied().ledger_end;
  options.progress = [&](std::uint64_t bytes) { counter.Show((done += bytes) / 1'000'000); };
  const Result<archive::VerifyOutcome> outcome =
      archive::Verify(view, options, [&](const std::string& defect) {
        std::string line = defect;
        if (json) {
          line = "{\"defect\": ";
          AppendJsonString(line, defect);
          line += '}';
        }
        static_cast<void>(context.out.Write(line + '\n'));
      });
  if (!outcome) return Fail(context, outcome.error());
  const std::size_t growing = view.holdings().open_containers().size();
  const std::string summary =
      json
          ? fmt::format(
                "{{\"containers\": {}, \"captures\": {}, \"bytes\": {}, \"unfinished\": {}, "
                "\"growing\": {}, \"defects\": {}}}\n",
                outcome->containers, outcome->captures, outcome->bytes, outcome->unfinished,
                growing, outcome->defects)
          : fmt::format("{}, {}, {} read: {}\n", Count(outcome->containers, "container"),
                        Count(outcome->captures, "capture"), ByteCount(outcome->bytes),
                        outcome->defects == 0 ? "all is right" : Count(outcome->defects, "defect"));
  // No defects, but something that this archive needs beside itself.
  for (const archive::Dependency& dependency : view.holdings().dependencies()) {
    const std::string line = json
                                 ? fmt::format("{{\"dependency\": {}}}", DependencyJson(dependency))
                                 : DependencyText(dependency);
    if (const Status told = context.out.Write(line + '\n'); !told) {
      return Fail(context, told.error());
    }
  }
  if (options.read_files) {
    const Status told = TellUnresolved(view, json, context.out);
    if (!told) return Fail(context, told.error());
  }
  if (outcome->unfinished > 0 && !json) {
    const Status told = context.out.Write(fmt::format(
        "{} wait to be listed: a command that writes goes on, or was interrupted; the next one "
        "finishes it\n",
        Count(outcome->unfinished, "capture")));
    if (!told) return Fail(context, told.error());
  }
  if (growing > 0 && !json) {
    const Status told = context.out.Write(fmt::format(
        "{} not read: a crawl writes, or was interrupted; the next one finishes what is there\n",
        growing == 1 ? "1 container that grows was"
                     : fmt::format("{} containers that grow were", growing)));
    if (!told) return Fail(context, told.error());
  }
  const Status written = context.out.Write(summary);
  if (!written) return Fail(context, written.error());
  return outcome->defects == 0 ? ExitCode::kDone : ExitCode::kDefects;
}

}  // namespace

Command VerifyCommand() {
  Command command;
  command.name = "verify";
  command.summary = "Check that an archive is as it should be";
  command.details =
      "Reads every file and compares its SHA-256 with the one that it had when it came, checks the "
      "ledger, also whether it knows all files that are stored, and compares all indexes with what "
      "they were made from. Each defect is one line that says what to do. The exit code is 1 when "
      "there are any. Runs that may repeat originals which are kept elsewhere are named, too, and "
      "so are revisits whose originals are not here, unless with --quick.";
  command.options =
      WithArchiveOption({{"--quick", "", "Look only at the sizes of files, not at their bytes"},
                         {"--json", "", "One JSON object for each defect, and one in the end"},
                         {"--quiet", "", "No progress"}});
  command.examples = {{"stele verify", "Is all of it still there, and as it was?"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
