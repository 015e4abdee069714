#include <fmt/format.h>

#include "cli/archive_commands.h"

namespace stele::cli {
namespace {

ExitCode Run(const Arguments& arguments, Context& context) {
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveWriter> archive = OpenArchiveToWrite(
      ArchiveDirectory(arguments), "reindex", context, code,
      arguments.Has("--from-files") ? archive::ArchiveWriter::Rebuild::kCatalogAndRows
                                    : archive::ArchiveWriter::Rebuild::kCatalog);
  if (archive == nullptr) return code;
  std::uint64_t captures = 0;
  for (const auto& [number, container] : archive->View().holdings().containers()) {
    captures += container.captures;
  }
  const Status written = context.out.Write(fmt::format(
      "{} captures in {} containers\n", captures, archive->View().holdings().containers().size()));
  return written ? code : Fail(context, written.error());
}

}  // namespace

Command ReindexCommand() {
  Command command;
  command.name = "reindex";
  command.summary = "Make the catalog of an archive anew";
  command.details =
      "From the ledger and the rows that lie beside each container; rows that are missing or "
      "damaged are made anew from the container itself. Captures keep their ids, and every query "
      "gets the same answer as before.";
  command.options = WithArchiveOption(
      {{"--from-files", "", "Make the rows anew, too: reads all files from begin to end"}});
  command.examples = {{"stele reindex", "After the catalog was lost or damaged"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
