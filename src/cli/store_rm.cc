#include <fmt/format.h>

#include "cli/store_commands.h"
#include "store/copies.h"

namespace stele::cli {
namespace {

ExitCode Run(const Arguments& arguments, Context& context) {
  const std::optional<std::vector<store::ContentKey>> keys = KeysOf(arguments, context);
  if (!keys) return ExitCode::kUsage;
  if (keys->empty() || (arguments.Has("--operation") && keys->size() > 1)) {
    Complain(context, keys->empty() ? "name the keys" : "--operation goes with one KEY");
    return ExitCode::kUsage;
  }
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  store::Copies copies(*store->instance, context.random);
  for (const store::ContentKey& key : *keys) {
    const Status deleted = copies.Delete(key, OperationOf(arguments, context));
    if (deleted) continue;
    Complain(context, deleted.error().text);
    code = ExitCode::kFailed;
  }
  return code;
}

}  // namespace

Command StoreRmCommand() {
  Command command;
  command.name = "rm";
  command.summary = "Take back references to contents";
  command.details =
      "Takes back one reference for each KEY that is named. With the last reference of all owners "
      "the content goes, and its copies with it. For -, the keys are those that begin the lines of "
      "the standard input, as put prints them.";
  command.arguments = "KEY...";
  command.options = WithOwnerOptions(WithConnectorOptions({}));
  command.examples = {{"stele store rm --store S KEY", "Take back one reference"},
                      {"stele store rm --store S - <keys", "What put printed into a file"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
