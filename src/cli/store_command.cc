#include <fmt/format.h>

#include "cli/store_commands.h"

namespace stele::cli {

std::vector<Option> WithStoreOptions(std::vector<Option> options) {
  options.insert(options.begin(), {"--store", "DIR", "The store's directory"});
  return options;
}

std::vector<Option> WithOwnerOptions(std::vector<Option> options) {
  options.push_back({"--owner", "NAME", "The application that holds the reference", "cli"});
  options.push_back(
      {"--operation", "ID",
       "Give the same one when you repeat a command whose outcome you do not know: it "
       "counts once. For one FILE or KEY"});
  return options;
}

std::optional<store::LocalStore> OpenStore(const Arguments& arguments, Context& context,
                                           ExitCode& code) {
  const std::optional<std::string> directory = arguments.Get("--store");
  if (!directory) {
    Complain(context, "say which store: --store DIR");
    code = ExitCode::kUsage;
    return std::nullopt;
  }
  Result<store::LocalStore> opened =
      store::OpenLocalStore(context.fs, *directory, store::Placement::kModulo, {});
  if (!opened) {
    Complain(context, opened.error().text);
    code = ExitCode::kFailed;
    return std::nullopt;
  }
  for (const Error& failure : opened->failures) Complain(context, failure.text);
  return *std::move(opened);
}

store::Operation OperationOf(const Arguments& arguments, Context& context) {
  const std::optional<std::string> id = arguments.Get("--operation");
  return {arguments.Get("--owner").value_or("cli"), id ? *id : io::NewUuid(context.random)};
}

std::optional<store::ContentKey> KeyOf(const std::string& text, Context& context) {
  std::optional<store::ContentKey> key = store::ContentKey::Parse(text);
  if (!key) Complain(context, fmt::format("{} is no content key", text));
  return key;
}

Command StoreCommand() {
  Command command;
  command.name = "store";
  command.summary = "Keep contents, each distinct one once";
  command.details =
      "A store is a directory of volumes. A content is known by its key, VOLUME:SIGNATURE, which "
      "put prints. Every put adds a reference and every rm takes one back; with the last one the "
      "content goes. One process at a time has a volume open. docs/store.md has more.";
  command.examples = {{"stele store add-volume --store S v1", "Make a store with one volume"},
                      {"stele store put --store S page.html", "Store a file, print its key"},
                      {"stele store get --store S KEY", "Print the content"}};
  command.commands = {StoreAddVolumeCommand(), StorePutCommand(),  StoreGetCommand(),
                      StoreRmCommand(),        StoreStatCommand(), StoreCheckCommand()};
  return command;
}

}  // namespace stele::cli
