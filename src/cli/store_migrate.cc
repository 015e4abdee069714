#include <fmt/format.h>

#include "cli/counter.h"
#include "cli/file_jobs.h"
#include "cli/store_commands.h"
#include "store/migrate.h"

namespace stele::cli {
namespace {

constexpr int kThreads = 8;  // they wait for disks

struct Wanted {
  std::optional<std::string> from;
  std::optional<std::string> to;
  std::vector<store::ContentKey> keys;
};

// Nothing, and a complaint, for wrong usage.
std::optional<Wanted> WantedBy(const Arguments& arguments, Context& context) {
  Wanted wanted{arguments.Get("--from"), arguments.Get("--to"), {}};
  const bool finishes = arguments.Has("--finish");
  const bool is_whole = finishes ? !wanted.from && !wanted.to && arguments.positionals.empty()
                                 : wanted.from && wanted.to;
  if (!is_whole) {
    Complain(context, "say --from VOLUME and --to VOLUME, or --finish alone");
    return std::nullopt;
  }
  std::optional<std::vector<store::ContentKey>> keys = KeysOf(arguments, context);
  if (!keys) return std::nullopt;
  wanted.keys = *std::move(keys);
  return wanted;
}

std::string Summary(const store::Migrated& migrated, bool json) {
  if (json) {
    return fmt::format("{{\"moved\": {}, \"content_bytes\": {}, \"failed\": {}}}\n",
                       migrated.blocks, migrated.content_bytes, migrated.failed);
  }
  return fmt::format("moved {} contents of {} bytes, {} failed", migrated.blocks,
                     migrated.content_bytes, migrated.failed);
}

ExitCode Run(const Arguments& arguments, Context& context) {
  std::optional<Wanted> wanted = WantedBy(arguments, context);
  if (!wanted) return ExitCode::kUsage;
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  const bool json = arguments.Has("--json");
  Status written;
  store::MigrateOptions options;
  options.keys = std::move(wanted->keys);
  options.threads = kThreads;
  options.report = [&](const store::Finding& finding) {
    if (written) written = context.out.Write(FindingLine(finding, json));
  };
  const Result<store::Migrated> migrated = [&] {
    Counter counter(context, ShowsProgress(arguments, context), "contents");
    options.progress = [&](const store::Migrated& so_far) { counter.Show(so_far.blocks); };
    store::Mover mover(*store->instance, context.random);
    return wanted->from ? mover.Migrate(*wanted->from, *wanted->to, options)
                        : mover.FinishMoves(options);
  }();
  if (migrated && written && json) written = context.out.Write(Summary(*migrated, true));
  if (!migrated || !written) {
    Complain(context, migrated ? written.error().text : migrated.error().text);
    return ExitCode::kFailed;
  }
  if (!json && !arguments.Has("--quiet")) Complain(context, Summary(*migrated, false));
  return migrated->failed == 0 ? ExitCode::kDone : ExitCode::kDefects;
}

}  // namespace

Command StoreMigrateCommand() {
  Command command;
  command.name = "migrate";
  command.summary = "Move contents to another volume";
  command.details =
      "Moves the contents of a volume, or those of the KEYs, while clients read and write. Old "
      "keys stay good, also when the old volume is taken away afterwards. Set the old volume "
      "read-only before, so that it gets no new contents. A content that cannot be moved is one "
      "line, and the exit code is then 1. What was interrupted is finished by the next migrate; "
      "until then clients notice nothing, but a content on its way keeps its space when it is "
      "deleted.";
  command.arguments = "[KEY...]";
  command.options = WithConnectorOptions(
      {{"--from", "VOLUME", "Where the contents are"},
       {"--to", "VOLUME", "Where they go"},
       {"--finish", "", "Only finish moves that were interrupted, between any volumes"},
       {"--json", "", "One JSON object for each failure, and one with the figures"},
       {"--quiet", "", "No progress and no summary"}});
  command.examples = {
      {"stele store set-state --store S v1 read-only", "v1 takes no new contents"},
      {"stele store migrate --store S --from v1 --to v2", "All of v1"},
      {"stele store migrate --connector c.xml --from v1 --to v2 KEY", "One content"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
