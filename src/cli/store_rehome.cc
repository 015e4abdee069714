#include <fmt/format.h>

#include "cli/counter.h"
#include "cli/file_jobs.h"
#include "cli/store_commands.h"
#include "store/migrate.h"
#include "store/rehome.h"

namespace stele::cli {
namespace {

ExitCode Run(const Arguments& arguments, Context& context) {
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  const Result<store::Rehomed> rehomed = [&] {
    Counter counter(context, ShowsProgress(arguments, context), "blocks of a volume");
    store::RehomeOptions options;
    options.progress = [&](const std::string&, std::uint64_t blocks) { counter.Show(blocks); };
    store::Mover mover(*store->instance, context.random);
    options.merge = [&](const auto& signature, auto& stand_in, auto& home) {
      return mover.Merge(signature, stand_in, home);
    };
    return store::Rehome(*store->instance, options);
  }();
  if (!rehomed) {
    Complain(context, rehomed.error().text);
    return ExitCode::kFailed;
  }
  for (const Error& failure : rehomed->failures) Complain(context, failure.text);
  if (!arguments.Has("--quiet")) {
    Complain(context, fmt::format("told homes of {} contents that lie elsewhere; volumes settled: "
                                  "{}",
                                  rehomed->stubs, rehomed->settled));
  }
  return rehomed->failures.empty() ? ExitCode::kDone : ExitCode::kFailed;
}

}  // namespace

Command StoreRehomeCommand() {
  Command command;
  command.name = "rehome";
  command.summary = "Begin a new epoch of a store that is served elsewhere";
  command.details =
      "When volumes are added to a connector or taken from it, contents get other homes. Raise the "
      "epoch in the connector and run this: it hands the connector to all servers and tells the "
      "homes what lies elsewhere. Contents that were stored twice while a volume did not answer "
      "become one block again. Clients go on meanwhile and learn the new connector from the "
      "servers. Run it again when a server did not answer. A store in a directory does this by "
      "itself when it is opened.";
  command.options = WithConnectorOptions({{"--quiet", "", "No progress and no summary"}});
  command.examples = {{"stele store rehome --connector new.xml", "After a volume was added to it"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
