#include <fmt/format.h>

#include "archive/purge.h"
#include "archive/removal.h"
#include "cli/amount.h"
#include "cli/archive_commands.h"
#include "cli/capture_line.h"

namespace stele::cli {
namespace {

ExitCode Run(const Arguments& arguments, Context& context) {
  const std::string reason = arguments.Get("--reason").value_or("");
  const bool dry_run = arguments.Has("--dry-run");
  const bool purge = arguments.Has("--purge");
  if (reason.empty() && !dry_run) {
    Complain(context, "say why, with --reason TEXT; it is kept in the ledger");
    return ExitCode::kUsage;
  }
  const std::string sha256 = arguments.Get("--digest").value_or("");
  if (arguments.positionals.empty() && sha256.empty() && !arguments.Has("--prefix") &&
      !arguments.Has("--host") && !arguments.Has("--domain") && !arguments.Has("--run") &&
      !arguments.Has("--batch")) {
    Complain(context, "say what: a URL, --prefix, --host, --domain, --run, --batch or --digest");
    return ExitCode::kUsage;
  }
  Result<archive::CaptureQuery> query = CaptureQueryOf(arguments, arguments.positionals);
  if (!query) return Fail(context, query.error());
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveWriter> archive =
      OpenArchiveToWrite(ArchiveDirectory(arguments), "rm", context, code);
  if (archive == nullptr) return code;
  Result<archive::RemovalPlan> plan = archive::PlanRemoval(archive->View(), *query, sha256);
  if (!plan) return Fail(context, plan.error());
  for (const catalog::HeldCapture& capture : plan->captures) {
    const Status written = context.out.Write(CaptureText(capture.row) + '\n');
    if (!written) return Fail(context, written.error());
  }
  std::string text = fmt::format("{} captures", plan->captures.size());
  if (!plan->heirs.empty()) {
    text += fmt::format("; {} payloads stay, because other captures need them", plan->heirs.size());
  }
  if (dry_run) {
    Complain(context, text + "; nothing was done");
    return ExitCode::kDone;
  }
  const Result<std::uint32_t> removal = archive::CarryOut(
      *archive, *plan, {reason, NoteOf(arguments)}, context.clock, context.random);
  if (!removal) return Fail(context, removal.error());
  Complain(context, fmt::format("took down {}, removal {}", text, *removal));
  if (!purge) return ExitCode::kDone;
  const Result<archive::PurgeOutcome> purged = archive::PurgeRemoved(*archive);
  if (!purged) return Fail(context, purged.error());
  Complain(context,
           fmt::format("deleted {} of {}, from {}", ByteCount(purged->bytes),
                       Count(purged->captures, "capture"), Count(purged->containers, "file")));
  return ExitCode::kDone;
}

}  // namespace

Command RmCommand() {
  Command command;
  command.name = "rm";
  command.summary = "Take captures down";
  command.details =
      "What is taken down is neither listed nor printed, replayed or exported any more; the ledger "
      "keeps what it was, when and why, and `stele ls --removed` still lists it. Its bytes stay in "
      "their file, unless --purge has the file written again without them. Captures that stay and "
      "repeat the payload of one that goes get it as their own "
      "first. What is under a hold cannot be taken down.";
  command.arguments = "[URL]...";
  command.options = WithArchiveOption(WithCaptureOptions(
      {{"--reason", "TEXT", "Why; it is kept"},
       {"--digest", "SHA256", "Only captures with this payload"},
       {"--purge", "", "Delete the bytes, too, now, of this and of all that was taken down before"},
       {"--dry-run", "", "Only say what would be taken down"}}));
  command.examples = {
      {"stele rm --prefix https://example.org/private/ --reason 'request of the owner'",
       "A part of a site"},
      {"stele rm --run 3 --dry-run", "What would withdrawing a run take down?"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
