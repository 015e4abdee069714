#include <fmt/format.h>

#include "cli/output.h"
#include "cli/store_commands.h"
#include "store/copies.h"

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
    Complain(context, "name the content's key, and others that it has if there are any");
    return ExitCode::kUsage;
  }
  const std::optional<std::vector<store::ContentKey>> keys = KeysOf(arguments, context);
  if (!keys) return ExitCode::kUsage;
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  store::Copies copies(*store->instance, context.random);
  Result<std::unique_ptr<io::Source>> content = copies.Retrieve(keys->front());
  for (std::size_t i = 1; i < keys->size() && !content; ++i) content = copies.Retrieve((*keys)[i]);
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
      "it, and a file given by --output is then not made. From a volume "
      "that is dead or damaged it comes by a copy, if there is one. With several keys, the first "
      "that can be opened is taken.";
  command.arguments = "KEY...";
  command.options = WithConnectorOptions({{"--output", "FILE", "Where to write it", "-"},
                                          {"--force", "", "Replace FILE when it exists"}});
  command.examples = {{"stele store get --store S KEY >page.html", "Get a page back"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
