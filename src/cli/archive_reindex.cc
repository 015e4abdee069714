#include <fmt/format.h>

#include <set>

#include "archive/applied_mark.h"
#include "cli/amount.h"
#include "cli/archive_commands.h"

namespace stele::cli {
namespace {

// What the ledger says of all that was made anew, without containers that could not be read.
std::string Summary(const archive::Holdings& holdings, const std::set<std::uint32_t>& lacks,
                    std::optional<std::uint32_t> batch) {
  std::uint64_t captures = 0;
  std::uint64_t containers = 0;
  for (const auto& [number, container] : holdings.containers()) {
    if (lacks.contains(number) || (batch && !container.Has(*batch))) continue;
    captures += container.captures;
    ++containers;
  }
  if (batch) {
    const archive::Holdings::BatchCount count = holdings.CountByBatch()[*batch];
    captures = count.captures + count.removed;
  }
  return fmt::format("{} in {}\n", Count(captures, "capture"), Count(containers, "container"));
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const Result<std::vector<std::uint32_t>> batches = BatchesOption(arguments);
  if (!batches) return Fail(context, batches.error());
  const std::optional<std::uint32_t> batch =
      batches->empty() ? std::nullopt : std::optional(batches->front());
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveWriter> archive = OpenArchiveToWrite(
      ArchiveDirectory(arguments), "reindex", context, code,
      arguments.Has("--from-files") ? archive::ArchiveWriter::Rebuild::kCatalogAndRows
                                    : archive::ArchiveWriter::Rebuild::kCatalog,
      batch);
  if (archive == nullptr) return code;
  const Result<archive::AppliedMark> mark =
      archive::ReadAppliedMark(context.fs, archive->layout().AppliedPath());
  if (!mark) return Fail(context, mark.error());
  const Status written = context.out.Write(Summary(archive->View().holdings(), mark->lacks, batch));
  if (!written) return Fail(context, written.error());
  const bool has_all = archive->index_failures().empty() && archive->ledger_failures().empty();
  return has_all ? code : ExitCode::kDefects;
}

}  // namespace

Command ReindexCommand() {
  Command command;
  command.name = "reindex";
  command.summary = "Make the catalog of an archive anew";
  command.details =
      "From the ledger and the rows that lie beside each container; rows that are missing or "
      "damaged are made anew from the container itself. Captures keep their ids, and every query "
      "gets the same answer as before. The catalog that is there is used until the new one is "
      "whole. "
      "Containers that cannot be read are named, with what to do, and the exit code is 1; all "
      "others are taken. Files of containers that the ledger does not know are named, too: it is "
      "an old one then, and the newer one is to be restored. With --batch only the rows of one "
      "month are made anew, and of others whose files cannot be opened: it takes as long as the "
      "month is large, reads only containers that have captures of it, and leaves the index by URL "
      "as it is. When that is interrupted, all is as it was before.";
  command.options = WithArchiveOption(
      {{"--batch", "MONTH", "Make only the rows of this month anew: 200405"},
       {"--from-files", "", "Make the rows anew, too: reads all files from begin to end"}});
  command.examples = {{"stele reindex", "After the catalog was lost or damaged"},
                      {"stele reindex --batch 200405", "After the rows of a month were"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
