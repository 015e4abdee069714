#include "cli/store_commands.h"
#include "store/local_store.h"

namespace stele::cli {
namespace {

ExitCode Run(const Arguments& arguments, Context& context) {
  const std::optional<std::string> directory = arguments.Get("--store");
  if (!directory || arguments.positionals.size() != 2) {
    Complain(context, "say which store, --store DIR, then a volume and synced or buffered");
    return ExitCode::kUsage;
  }
  const auto durability = store::DurabilityByName(arguments.positionals[1]);
  if (!durability) {
    Complain(context, "a volume is synced or buffered");
    return ExitCode::kUsage;
  }
  const Status set =
      store::SetLocalDurability({context.fs, context.clock, context.random}, *directory,
                                arguments.positionals[0], *durability, {});
  if (set) return ExitCode::kDone;
  Complain(context, set.error().text);
  return ExitCode::kFailed;
}

}  // namespace

Command StoreSetDurabilityCommand() {
  Command command;
  command.name = "set-durability";
  command.summary = "Say what an acknowledgement of a volume promises";
  command.details =
      "What a synced volume acknowledges is on the disk. A buffered volume acknowledges what the "
      "operating system has taken and syncs about a second later, and when it is closed: killing "
      "the program loses nothing, a power failure may lose the last second, never more, and leaves "
      "the volume sound. Nobody else may have the volume open.";
  command.arguments = "VOLUME synced|buffered";
  command.options = WithStoreOptions({});
  command.examples = {{"stele store set-durability --store S v1 buffered", "Before a large import"},
                      {"stele store set-durability --store S v1 synced", "After it"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
