#include <fmt/format.h>

#include "cli/output.h"
#include "cli/store_commands.h"

namespace stele::cli {
namespace {

Status Copy(io::Source& content, OutputFile& out) {
  std::string piece(64 << 10, '\0');
  for (;;) {
    const Result<std::size_t> read = content.Read(piece);
    if (!read) return read.error();
    if (*read == 0) return out.Commit();
    const Status written = out.Write(std::string_view(piece).substr(0, *read));
    if (!written) return written;
  }
}

ExitCode Run(const Arguments& arguments, Context& context) {
  if (arguments.positionals.empty()) {
    Complain(context, "name the content's key, and those of its replicas if there are any");
    return ExitCode::kUsage;
  }
  std::vector<store::ContentKey> replicas;
  for (const std::string& text : arguments.positionals) {
    std::optional<store::ContentKey> key = KeyOf(text, context);
    if (!key) return ExitCode::kUsage;
    replicas.push_back(*std::move(key));
  }
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  Result<std::unique_ptr<io::Source>> content = store->instance->RetrieveAny(replicas);
  Status status;
  if (!content) status = content.error();
  if (content) {
    Result<std::unique_ptr<OutputFile>> out = OutputFile::Create(
        context, arguments.Get("--output").value_or("-"), arguments.Has("--force"));
    status = out ? Copy(**content, **out) : Status(out.error());
  }
  if (status) return ExitCode::kDone;
  Complain(context, status.error().text);
  return ExitCode::kFailed;
}

}  // namespace

Command StoreGetCommand() {
  Command command;
  command.name = "get";
  command.summary = "Print a content";
  command.details =
      "What is printed is verified against its signature; the exit code is 3 when it does not have "
      "it, and a file given by --output is then not made. With several keys, the first that can be "
      "opened is taken.";
  command.arguments = "KEY...";
  command.options = WithConnectorOptions({{"--output", "FILE", "Where to write it", "-"},
                                          {"--force", "", "Replace FILE when it exists"}});
  command.examples = {{"stele store get --store S KEY >page.html", "Get a page back"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
