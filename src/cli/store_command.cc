#include <fmt/format.h>

#include "cli/store_commands.h"
#include "store/remote/connect.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::cli {
namespace {

Result<OpenedStore> OpenByConnector(const std::string& file, const Arguments& arguments,
                                    Context& context) {
  Result<std::string> token = TokenOf(arguments, context);
  if (!token) return token.error();
  store::ConnectOptions options;
  options.token = *std::move(token);
  options.ca_file = arguments.Get("--ca-file").value_or("");
  Result<std::unique_ptr<TemporaryFolder>> folder = TemporaryFolder::Make();
  if (!folder) return folder.error();
  options.fs = &context.fs;
  options.temporary_directory = (*folder)->path();
  Result<store::RemoteStore> remote = store::ConnectFile(context.fs, file, options);
  if (!remote) return remote.error();
  return OpenedStore{
      *std::move(folder), std::move(remote->client), std::move(remote->instance), {}};
}

Result<OpenedStore> OpenDirectory(const std::string& directory, Context& context) {
  Result<store::LocalStore> local =
      store::OpenLocalStore({context.fs, context.clock, context.random}, directory, {});
  if (!local) return local.error();
  return OpenedStore{nullptr, nullptr, std::move(local->instance), std::move(local->failures)};
}

Result<std::string> ReadStandardInput() {
  io::DescriptorSource source(0);
  std::string text;
  std::string piece(64 << 10, '\0');
  for (;;) {
    const Result<std::size_t> read = source.Read(piece);
    if (!read) return read.error();
    if (*read == 0) return text;
    text.append(piece, 0, *read);
  }
}

}  // namespace

std::vector<Option> WithStoreOptions(std::vector<Option> options) {
  options.insert(options.begin(), {"--store", "DIR", "The store's directory"});
  return options;
}

std::vector<Option> WithConnectorOptions(std::vector<Option> options) {
  options = WithStoreOptions(std::move(options));
  options.push_back({"--connector", "FILE", "The connector of a store that is served elsewhere"});
  options.push_back({"--token-file", "FILE", "With --connector: the servers' token"});
  options.push_back(
      {"--ca-file", "FILE", "With --connector: trust these authorities, in PEM, and no others"});
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

std::optional<OpenedStore> OpenStore(const Arguments& arguments, Context& context, ExitCode& code) {
  const std::optional<std::string> directory = arguments.Get("--store");
  const std::optional<std::string> connector = arguments.Get("--connector");
  if (directory.has_value() == connector.has_value()) {
    Complain(context, connector ? "say --store or --connector, not both"
                                : "say which store: --store DIR, or --connector FILE where the "
                                  "command has it");
    code = ExitCode::kUsage;
    return std::nullopt;
  }
  Result<OpenedStore> opened = connector ? OpenByConnector(*connector, arguments, context)
                                         : OpenDirectory(*directory, context);
  const auto tell = [&](const Error& failure) {
    const bool is_open = directory && failure.code == ErrorCode::kBusy;
    Complain(context, failure.text + (is_open ? "; where it is served, use --connector" : ""));
  };
  if (!opened) {
    tell(opened.error());
    code = ExitCode::kFailed;
    return std::nullopt;
  }
  for (const Error& failure : opened->failures) tell(failure);
  return *std::move(opened);
}

Result<std::string> TokenOf(const Arguments& arguments, Context& context) {
  const std::optional<std::string> file = arguments.Get("--token-file");
  if (!file) return std::string();
  const Result<std::string> content = io::ReadFile(context.fs, *file);
  if (!content) return content.error();
  std::string token(TrimSpace(*content));
  if (token.empty()) return Error{ErrorCode::kInvalid, fmt::format("{} has no token", *file)};
  return token;
}

store::Operation OperationOf(const Arguments& arguments, Context& context) {
  const std::optional<std::string> id = arguments.Get("--operation");
  return {arguments.Get("--owner").value_or("cli"), id ? *id : io::NewUuid(context.random)};
}

std::string FindingLine(const store::Finding& finding, bool json) {
  if (!json) return fmt::format("{}: {}\n", finding.where, finding.text);
  std::string line = "{\"where\": ";
  AppendJsonString(line, finding.where);
  line += ", \"text\": ";
  AppendJsonString(line, finding.text);
  return line + "}\n";
}

int CopiesOf(const Arguments& arguments, Context& context) {
  const auto copies = ParseDecimal(arguments.Get("--copies").value_or("1"));
  if (copies && *copies >= 1 && *copies <= 100) return static_cast<int>(*copies);
  Complain(context, "--copies takes a number from 1 to 100");
  return 0;
}

std::optional<std::vector<store::ContentKey>> KeysOf(const Arguments& arguments, Context& context) {
  std::vector<std::string> words;
  for (const std::string& word : arguments.positionals) {
    if (word != "-") {
      words.push_back(word);
      continue;
    }
    const Result<std::string> text = ReadStandardInput();
    if (!text) {
      Complain(context, text.error().text);
      return std::nullopt;
    }
    for (const std::string_view line : Split(*text, '\n')) {
      const std::string_view first = TrimSpace(line.substr(0, line.find("  ")));
      if (!first.empty()) words.emplace_back(first);
    }
  }
  // Naming none can mean all.
  if (words.empty() && !arguments.positionals.empty()) {
    Complain(context, "the standard input has no keys");
    return std::nullopt;
  }
  std::vector<store::ContentKey> keys;
  for (const std::string& word : words) {
    std::optional<store::ContentKey> key = store::ContentKey::Parse(word);
    if (!key) {
      Complain(context, fmt::format("{} is no content key", word));
      return std::nullopt;
    }
    keys.push_back(*std::move(key));
  }
  return keys;
}

Command StoreCommand() {
  Command command;
  command.name = "store";
  command.summary = "Keep contents, each distinct one once";
  command.details =
      "A store is a directory of volumes. A content is known by its key, VOLUME:SIGNATURE, which "
      "put prints. Every put adds a reference and every rm takes one back; with the last one the "
      "content goes. One process at a time has a volume open; serve lets others use it, by "
      "--connector. docs/store.md has more.";
  command.examples = {{"stele store add-volume --store S v1", "Make a store with one volume"},
                      {"stele store put --store S page.html", "Store a file, print its key"},
                      {"stele store get --store S KEY", "Print the content"}};
  command.commands = {StoreAddVolumeCommand(), StorePutCommand(),
                      StoreGetCommand(),       StoreRmCommand(),
                      StoreLsCommand(),        StoreStatCommand(),
                      StoreStatsCommand(),     StoreCheckCommand(),
                      StoreRepairCommand(),    StoreMigrateCommand(),
                      StoreCompactCommand(),   StoreReindexCommand(),
                      StoreRehomeCommand(),    StoreSweepCommand(),
                      StoreSetStateCommand(),  StoreSetDurabilityCommand(),
                      StoreServeCommand()};
  return command;
}

}  // namespace stele::cli
