#include <fmt/format.h>

#include "cli/store_commands.h"
#include "util/json.h"

namespace stele::cli {
namespace {

std::string KeyLine(const store::ContentKey& key, const store::BlockInfo& info, bool json) {
  if (!json) {
    return fmt::format("{}  size {}  stored {}  references {}  compression {}\n", key.Text(),
                       info.size, info.stored_size, info.references, info.compression);
  }
  std::string line = "{\"key\": ";
  AppendJsonString(line, key.Text());
  line += fmt::format(", \"size\": {}, \"stored_size\": {}, \"references\": {}, \"compression\": ",
                      info.size, info.stored_size, info.references);
  AppendJsonString(line, info.compression);
  return line + "}\n";
}

ExitCode Run(const Arguments& arguments, Context& context) {
  if (arguments.positionals.empty()) {
    Complain(context, "name the contents' keys; stats is about volumes");
    return ExitCode::kUsage;
  }
  const std::optional<std::vector<store::ContentKey>> keys = KeysOf(arguments, context);
  if (!keys) return ExitCode::kUsage;
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  const bool json = arguments.Has("--json");
  for (const store::ContentKey& key : *keys) {
    const Result<store::BlockInfo> info = store->instance->Stat(key);
    const Status told = info ? context.out.Write(KeyLine(key, *info, json)) : Status(info.error());
    if (told) continue;
    Complain(context, told.error().text);
    code = ExitCode::kFailed;
  }
  return code;
}

}  // namespace

Command StoreStatCommand() {
  Command command;
  command.name = "stat";
  command.summary = "Say what is known about contents";
  command.details =
      "One line for each KEY. Sizes are in bytes. For -, the keys are those that begin the lines "
      "of the standard input, as put and ls print them.";
  command.arguments = "KEY...";
  command.options = WithConnectorOptions({{"--json", "", "One JSON object for each line"}});
  command.examples = {{"stele store stat --store S KEY", "How many references are there?"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
