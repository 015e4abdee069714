#include <fmt/format.h>

#include "cli/store_commands.h"
#include "store/copies.h"

namespace stele::cli {
namespace {

ExitCode Run(const Arguments& arguments, Context& context) {
  std::vector<store::ContentKey> keys;
  for (const std::string& text : arguments.positionals) {
    std::optional<store::ContentKey> key = KeyOf(text, context);
    if (!key) return ExitCode::kUsage;
    keys.push_back(*std::move(key));
  }
  if (keys.empty() || (arguments.Has("--operation") && keys.size() > 1)) {
    Complain(context, keys.empty() ? "name the keys" : "--operation goes with one KEY");
    return ExitCode::kUsage;
  }
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  store::Copies copies(*store->instance, context.random);
  for (const store::ContentKey& key : keys) {
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
      "the content goes, and its copies with it.";
  command.arguments = "KEY...";
  command.options = WithOwnerOptions(WithConnectorOptions({}));
  command.examples = {{"stele store rm --store S KEY", "Take back one reference"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
