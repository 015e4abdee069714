#include <fmt/format.h>

#include <map>

#include "archive/removal.h"
#include "cli/amount.h"
#include "cli/archive_commands.h"

namespace stele::cli {
namespace {

struct BatchCounts {
  std::uint64_t captures = 0;
  std::uint64_t removed = 0;
  // Of what is there, or was before it was purged.
  Timestamp first = {};
  Timestamp last = {};
};

// How many captures of a container that grows are shown: their serials have no gaps.
Result<std::uint32_t> CountShown(const archive::ArchiveView& view,
                                 const archive::Container::Batch& batch) {
  std::uint32_t least = 0;
  std::uint32_t most = batch.count;
  while (least < most) {
    const std::uint32_t middle = least + (most - least) / 2;
    const Result<catalog::HeldCapture> held =
        view.catalog().Get({batch.batch, batch.base + middle});
    if (!held && held.error().code != ErrorCode::kNotFound) return held.error();
    (held ? least : most) = held ? middle + 1 : middle;
  }
  return least;
}

// By what ledger and indexes say of whole batches: no row is read.
Result<std::map<std::uint32_t, BatchCounts>> CountBatches(const archive::ArchiveView& view) {
  std::map<std::uint32_t, BatchCounts> batches;
  for (const auto& [batch, count] : view.holdings().CountByBatch()) {
    batches[batch] = {.captures = count.captures, .removed = count.removed};
  }
  for (const auto& [number, container] : view.holdings().open_containers()) {
    const Result<std::uint32_t> shown = CountShown(view, container.batches.front());
    if (!shown) return shown.error();
    if (*shown > 0) batches[container.batches.front().batch].captures += *shown;
  }
  for (const catalog::BatchSummary& summary : view.catalog().BatchSummaries()) {
    const auto found = batches.find(summary.batch);
    if (found == batches.end()) continue;
    found->second.first = summary.times.first;
    found->second.last = summary.times.last;
  }
  return batches;
}

ExitCode RunLs(const Arguments& arguments, Context& context) {
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveReader> reader = OpenArchive(arguments, context, code);
  if (reader == nullptr) return code;
  Result<std::map<std::uint32_t, BatchCounts>> batches = CountBatches(reader->View());
  if (!batches) return Fail(context, batches.error());
  for (const auto& [batch, counts] : *batches) {
    const std::string line =
        arguments.Has("--json")
            ? fmt::format(
                  "{{\"batch\": {}, \"captures\": {}, \"removed\": {}, \"first\": \"{}\", "
                  "\"last\": \"{}\"}}\n",
                  batch, counts.captures, counts.removed, FormatIsoMillis(counts.first),
                  FormatIsoMillis(counts.last))
            : fmt::format("{}  {:>10} {} {} to {}{}\n", batch, counts.captures,
                          counts.captures == 1 ? "capture  " : "captures ", FormatIso(counts.first),
                          FormatIso(counts.last),
                          counts.removed > 0 ? fmt::format("  {} taken down", counts.removed) : "");
    const Status written = context.out.Write(line);
    if (!written) return Fail(context, written.error());
  }
  return code;
}

// The one that is named; nothing where that is none.
std::optional<std::uint32_t> BatchOf(const Arguments& arguments) {
  return arguments.positionals.size() == 1 ? BatchIn(arguments.positionals[0]) : std::nullopt;
}

// The containers with captures of a batch.
std::vector<archive::Container> ContainersOf(const archive::Holdings& holdings,
                                             std::uint32_t batch) {
  std::vector<archive::Container> containers;
  for (const auto& [number, container] : holdings.containers()) {
    if (container.Has(batch)) containers.push_back(container);
  }
  return containers;
}

ExitCode RunMove(const Arguments& arguments, Context& context) {
  const std::optional<std::uint32_t> batch = BatchOf(arguments);
  const std::string volume = arguments.Get("--to").value_or("");
  if (!batch || volume.empty()) {
    Complain(context, "say which batch, a month like 200405, and where to, with --to VOLUME");
    return ExitCode::kUsage;
  }
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveWriter> archive =
      OpenArchiveToWrite(ArchiveDirectory(arguments), "batch move", context, code);
  if (archive == nullptr) return code;
  const std::vector<archive::Container> containers =
      ContainersOf(archive->View().holdings(), *batch);
  if (containers.empty()) {
    Complain(context, fmt::format("there are no captures of batch {}; nothing was moved", *batch));
    return ExitCode::kFailed;
  }
  std::uint64_t bytes = 0;
  std::uint64_t mixed = 0;
  for (const archive::Container& container : containers) {
    const Status moved = archive->Move(container.number, volume);
    if (!moved) return Fail(context, moved.error());
    bytes += container.bytes;
    if (container.batches.size() > 1) ++mixed;
  }
  Complain(context, fmt::format("batch {} is in volume {}: {}, {}", *batch, volume,
                                Count(containers.size(), "file"), ByteCount(bytes)));
  ComplainOfDelivery(*archive, context);
  if (mixed > 0) {
    Complain(context, fmt::format("{} of them also hold captures of other months", mixed));
  }
  return ExitCode::kDone;
}

ExitCode RunDrop(const Arguments& arguments, Context& context) {
  const std::string reason = arguments.Get("--reason").value_or("");
  const std::optional<std::uint32_t> batch = BatchOf(arguments);
  if (!batch || reason.empty()) {
    Complain(context, "say which batch, a month like 200405, and why, with --reason TEXT");
    return ExitCode::kUsage;
  }
  archive::CaptureQuery query;
  query.where.what = catalog::SelectAll();
  query.batches = {*batch};
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveWriter> archive =
      OpenArchiveToWrite(ArchiveDirectory(arguments), "batch drop", context, code);
  if (archive == nullptr) return code;
  Result<archive::RemovalPlan> plan = archive::PlanRemoval(archive->View(), query);
  if (!plan) return Fail(context, plan.error());
  ComplainOfDamage(*plan, context);
  if (!arguments.Has("--promote")) {
    if (plan->unreadable > 0) {
      Complain(context, "mend them first, or say --promote. Nothing was dropped");
      return ExitCode::kFailed;
    }
    for (const auto* others : {&plan->heirs, &plan->lost}) {
      if (others->empty()) continue;
      const catalog::Capture& first = others->front().revisit.row;
      Complain(context, fmt::format("{} of {} and others repeat payloads of this batch; --promote "
                                    "writes those to them first. Nothing was dropped",
                                    first.url, FormatIso(first.time)));
      return ExitCode::kFailed;
    }
  }
  if (!plan->captures.empty()) {
    const Result<std::uint32_t> removal = archive::CarryOut(
        *archive, *plan, {reason, fmt::format("batch {}", *batch)}, context.clock, context.random);
    if (!removal) return Fail(context, removal.error());
  }
  Complain(context, fmt::format("took down {}", Count(plan->captures.size(), "capture")));
  return PurgeAll(*archive, context);
}

ExitCode RunExport(const Arguments& arguments, Context& context) {
  if (arguments.positionals.size() != 2) {
    Complain(context, "say which batch, a month like 200405, and name one file to write it to");
    return ExitCode::kUsage;
  }
  Arguments words = arguments;
  words.values["--batch"] = {arguments.positionals[0]};
  words.positionals.erase(words.positionals.begin());
  return ExportCommand().run(words, context);
}

Command LsOfBatches() {
  Command command;
  command.name = "ls";
  command.summary = "List batches";
  command.details = "How many captures each has, and from when to when.";
  command.options = WithArchiveOption({{"--json", "", "One JSON object for each batch"}});
  command.examples = {{"stele batch ls", "Which months are there?"}};
  command.run = RunLs;
  return command;
}

Command ExportOfBatch() {
  Command command;
  command.name = "export";
  command.summary = "Write the captures of a month to a file";
  command.details =
      "As stele export --batch MONTH FILE, which has more options: to a WARC, WACZ, Tianwang or "
      "CDXJ file, by its name. It replays alone: payloads of captures of other months that are "
      "repeated in this one are written, too.";
  command.arguments = "MONTH FILE";
  command.options = WithArchiveOption({{"--keep-revisits", "", "Write revisits as they are"},
                                       {"--force", "", "Replace FILE if it exists"},
                                       {"--quiet", "", "No progress and no summary"}});
  command.examples = {{"stele batch export 200405 may.warc.gz", "Put a month aside"}};
  command.run = RunExport;
  return command;
}

Command MoveOfBatch() {
  Command command;
  command.name = "move";
  command.summary = "Bring the captures of a month to another volume";
  command.details =
      "Files that hold captures of the month move whole, with what else is in them. Each is "
      "copied, read back and compared with the ledger before it is deleted where it was. VOLUME is "
      "one of archive.toml, in a directory or behind a connector. What is interrupted is finished "
      "or undone by the next command that writes; repeat it then.";
  command.arguments = "MONTH";
  command.options = WithArchiveOption({{"--to", "VOLUME", "Where to"}});
  command.examples = {{"stele batch move 200405 --to tape", "Put a month elsewhere"}};
  command.run = RunMove;
  return command;
}

Command DropOfBatch() {
  Command command;
  command.name = "drop";
  command.summary = "Delete all captures of a month";
  command.details =
      "With their bytes, and those of all that was taken down before, as rm --purge. Refused when "
      "captures of other months repeat payloads of this one, unless --promote writes those to them "
      "first, and when a hold covers any.";
  command.arguments = "MONTH";
  command.options = WithArchiveOption({{"--reason", "TEXT", "Why; it is kept in the ledger"},
                                       {"--promote", "", "Keep payloads that others repeat"}});
  command.examples = {{"stele batch drop 200405 --reason 'moved to tape'", "Delete a month"}};
  command.run = RunDrop;
  return command;
}

}  // namespace

Command BatchCommand() {
  Command command;
  command.name = "batch";
  command.summary = "List, export, move and drop captures by month";
  command.details = "A batch is the captures of one month, 200405 for May 2004.";
  command.examples = {{"stele batch ls", "Which months are there?"}};
  command.commands = {LsOfBatches(), ExportOfBatch(), MoveOfBatch(), DropOfBatch()};
  return command;
}

}  // namespace stele::cli
