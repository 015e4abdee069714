#include <fmt/format.h>

#include "cli/store_commands.h"

namespace stele::cli {
namespace {

constexpr std::size_t kPage = 1000;

Status ListVolume(store::Volume& volume, const std::string& owner, bool json, io::Sink& out) {
  store::ListRequest request;
  request.limit = kPage;
  request.owner = owner;
  for (bool more = true; more;) {
    const Result<std::vector<store::ListedBlock>> page = volume.List(request);
    if (!page) return page.error();
    more = page->size() == kPage;
    std::string lines;
    for (const store::ListedBlock& listed : *page) {
      const store::ContentKey key{volume.name(), listed.block.signature, listed.block.overflow};
      lines += json ? fmt::format("{{\"key\": \"{}\", \"size\": {}, \"references\": {}}}\n",
                                  key.Text(), listed.size, listed.references)
                    : fmt::format("{}  {}  {}\n", key.Text(), listed.size, listed.references);
      request.after = listed.block;
    }
    const Status written = out.Write(lines);
    if (!written) return written;
  }
  return {};
}

ExitCode Run(const Arguments& arguments, Context& context) {
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  if (!store->failures.empty()) code = ExitCode::kFailed;
  for (const auto& volume : store->instance->volumes()) {
    const Status listed = ListVolume(*volume, arguments.Get("--owner").value_or(""),
                                     arguments.Has("--json"), context.out);
    if (listed) continue;
    Complain(context, listed.error().text);
    code = ExitCode::kFailed;
  }
  return code;
}

}  // namespace

Command StoreLsCommand() {
  Command command;
  command.name = "ls";
  command.summary = "List contents";
  command.details =
      "One line for each content, in the order of volume, signature and number: its key, its size "
      "in bytes and its references; with --owner, what that owner holds and its references.";
  command.options = WithConnectorOptions({{"--owner", "NAME", "What this application holds"},
                                          {"--json", "", "One JSON object for each content"}});
  command.examples = {{"stele store ls --store S --owner crawler", "What does it still hold?"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
