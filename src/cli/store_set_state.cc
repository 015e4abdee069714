#include <fmt/format.h>

#include "cli/store_commands.h"

namespace stele::cli {
namespace {

ExitCode Run(const Arguments& arguments, Context& context) {
  if (arguments.positionals.size() != 2) {
    Complain(context, "name a volume and its new state");
    return ExitCode::kUsage;
  }
  const auto state = store::VolumeStateByName(arguments.positionals[1]);
  if (!state || *state == store::VolumeState::kFull) {
    Complain(context, "a state is writable, read-only or frozen");
    return ExitCode::kUsage;
  }
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  store::Volume* volume = store->instance->Find(arguments.positionals[0]);
  const Status set =
      volume != nullptr
          ? volume->SetState(*state)
          : Status(Error{ErrorCode::kNotFound,
                         fmt::format("there is no volume {} here", arguments.positionals[0])});
  if (set) return ExitCode::kDone;
  Complain(context, set.error().text);
  return ExitCode::kFailed;
}

}  // namespace

Command StoreSetStateCommand() {
  Command command;
  command.name = "set-state";
  command.summary = "Say what a volume takes";
  command.details =
      "writable takes everything; read-only takes references and releases but no new contents; "
      "frozen takes nothing. Contents can always be read.";
  command.arguments = "VOLUME STATE";
  command.options = WithConnectorOptions({});
  command.examples = {
      {"stele store set-state --store S v1 read-only", "Before its disk is replaced"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
