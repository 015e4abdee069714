#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "archive/purge.h"
#include "archive/removal.h"
#include "cli/amount.h"
#include "cli/archive_commands.h"
#include "cli/capture_line.h"
#include "cli/url_selection.h"
#include "util/digest.h"
#include "util/json.h"

namespace stele::cli {
namespace {

std::string RemovalLine(const archive::Removal& removal, bool json) {
  if (!json) {
    return fmt::format("{:>4}  {}  {}  {}: {}\n", removal.number, FormatIso(removal.time),
                       Count(removal.captures.size(), "capture"), removal.note, removal.reason);
  }
  std::string line = fmt::format(
      "{{\"removal\": {}, \"time\": \"{}\", \"reason\": ", removal.number, FormatIso(removal.time));
  AppendJsonString(line, removal.reason);
  line += ", \"what\": ";
  AppendJsonString(line, removal.note);
  line += ", \"captures\": [";
  for (const catalog::CaptureId& id : removal.captures) {
    line += fmt::format("{}\"{}\"", line.ends_with('[') ? "" : ", ", archive::FormatCaptureId(id));
  }
  return line + "]}\n";
}

ExitCode List(const Arguments& arguments, Context& context) {
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveReader> reader = OpenArchive(arguments, context, code);
  if (reader == nullptr) return code;
  const archive::ArchiveView view = reader->View();
  for (const auto& [number, removal] : view.holdings().removals()) {
    const Status written = context.out.Write(RemovalLine(removal, arguments.Has("--json")));
    if (!written) return Fail(context, written.error());
  }
  return code;
}

// Whether the command line says what is to go: not just everything of a type, say.
bool SaysWhat(const Arguments& arguments) {
  if (!arguments.positionals.empty()) return true;
  const auto is_given = [&](const char* name) { return arguments.Has(name); };
  constexpr std::array kOptions = {"--prefix", "--host", "--domain", "--run",   "--batch",
                                   "--id",     "--from", "--to",     "--digest"};
  return std::any_of(kOptions.begin(), kOptions.end(), is_given);
}

// Whether it says nothing but --purge, which then means all that was taken down before.
bool SaysOnlyPurge(const Arguments& arguments) {
  const auto is_neutral = [](const auto& option) {
    return option.first == "--archive" || option.first == "--purge" || option.first == "--json";
  };
  return arguments.Has("--purge") && arguments.positionals.empty() &&
         std::all_of(arguments.values.begin(), arguments.values.end(), is_neutral);
}

// Nothing after a complaint: the payload's digest cannot be read.
std::optional<Digest> PayloadOf(const std::string& text, Context& context) {
  // SHA-256 as stele ls --json says it, SHA-1 as index files do.
  for (const std::string& labelled : {text, "sha256:" + text, "sha1:" + text}) {
    if (const std::optional<Digest> digest = Digest::Parse(labelled)) return digest;
  }
  Complain(context, fmt::format("--digest {} is no SHA-256 and no SHA-1", text));
  return std::nullopt;
}

void ComplainOfNothing(const archive::RemovalPlan& plan, bool bytes_stay, Context& context) {
  Complain(context, fmt::format("nothing more to take down: {} went before{}",
                                Count(plan.removed_before, "capture"),
                                bytes_stay ? "; --purge deletes the bytes" : ""));
}

std::string PlanText(const archive::RemovalPlan& plan) {
  std::string text = Count(plan.captures.size(), "capture");
  if (!plan.heirs.empty()) {
    text += fmt::format(
        "; {} {} because other captures need {}", Count(plan.heirs.size(), "payload"),
        plan.heirs.size() == 1 ? "stays," : "stay,", plan.heirs.size() == 1 ? "it" : "them");
  }
  return text;
}

Status PrintCaptures(const archive::RemovalPlan& plan, Context& context) {
  for (const catalog::HeldCapture& capture : plan.captures) {
    const Status written = context.out.Write(CaptureText(capture.row) + '\n');
    if (!written) return written;
  }
  return {};
}

Result<archive::RemovalPlan> Plan(const archive::ArchiveView& view,
                                  const archive::CaptureQuery& query,
                                  const std::optional<Digest>& payload) {
  if (const Status checked = CheckNamed(query, view); !checked) return checked.error();
  return archive::PlanRemoval(view, query, payload);
}

// Says what would be done, and only reads.
ExitCode DryRun(const Arguments& arguments, Context& context, const archive::CaptureQuery& query,
                const std::optional<Digest>& payload) {
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveReader> reader = OpenArchive(arguments, context, code);
  if (reader == nullptr) return code;
  const Result<archive::RemovalPlan> plan = Plan(reader->View(), query, payload);
  if (!plan) return Fail(context, plan.error());
  if (plan->captures.empty()) {
    ComplainOfNothing(*plan, true, context);
    return code;
  }
  const Status printed = PrintCaptures(*plan, context);
  if (!printed) return Fail(context, printed.error());
  ComplainOfDamage(*plan, context);
  Complain(context, PlanText(*plan) + "; nothing was done");
  return code;
}

// What crashes left may have bytes of any capture.
void ComplainOfTornFiles(const archive::ArchiveLayout& layout, Context& context) {
  for (const archive::ArchiveConfig::Volume& volume : layout.config().volumes) {
    const std::string directory = layout.VolumeDirectory(volume);
    const Result<std::vector<std::string>> names = context.fs.List(directory);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (!name.ends_with(".torn")) continue;
      Complain(context, fmt::format("{}/{} is what a crash left of a file, and may hold some of "
                                    "what was taken down; delete it where that must go",
                                    directory, name));
    }
  }
}

ExitCode TakeDown(const Arguments& arguments, Context& context, archive::ArchiveWriter& archive,
                  const archive::RemovalPlan& plan) {
  const Status printed = PrintCaptures(plan, context);
  if (!printed) return Fail(context, printed.error());
  ComplainOfDamage(plan, context);
  const Result<std::uint32_t> removal =
      archive::CarryOut(archive, plan, {*arguments.Get("--reason"), NoteOf(arguments)},
                        context.clock, context.random);
  if (!removal) return Fail(context, removal.error());
  Complain(context, fmt::format("took down {}, removal {}", PlanText(plan), *removal));
  return arguments.Has("--purge") ? PurgeAll(archive, context) : ExitCode::kDone;
}

ExitCode Run(const Arguments& arguments, Context& context) {
  if (arguments.Has("--list")) return List(arguments, context);
  const bool dry_run = arguments.Has("--dry-run");
  const bool purge = arguments.Has("--purge");
  const bool only_purge = SaysOnlyPurge(arguments);
  if (!only_purge && !dry_run && arguments.Get("--reason").value_or("").empty()) {
    Complain(context, "say why, with --reason TEXT; it is kept in the ledger");
    return ExitCode::kUsage;
  }
  if (!only_purge && !SaysWhat(arguments)) {
    Complain(context,
             "say what: a URL, --prefix, --host, --domain, --from, --to, --run, --batch, --id "
             "or --digest");
    return ExitCode::kUsage;
  }
  std::optional<Digest> payload;
  if (const std::optional<std::string> text = arguments.Get("--digest")) {
    payload = PayloadOf(*text, context);
    if (!payload) return ExitCode::kUsage;
  }
  const Result<Arguments> whole = WithWholeUrls(arguments, context);
  if (!whole) return Fail(context, whole.error());
  Result<archive::CaptureQuery> query = CaptureQueryOf(*whole, whole->positionals);
  if (!query) return Fail(context, query.error());
  if (dry_run) return DryRun(arguments, context, *query, payload);
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveWriter> archive =
      OpenArchiveToWrite(ArchiveDirectory(arguments), "rm", context, code);
  if (archive == nullptr) return code;
  if (only_purge) return PurgeAll(*archive, context);
  const Result<archive::RemovalPlan> plan = Plan(archive->View(), *query, payload);
  if (!plan) return Fail(context, plan.error());
  if (!plan->captures.empty()) return TakeDown(*whole, context, *archive, *plan);
  ComplainOfNothing(*plan, !purge, context);
  return purge ? PurgeAll(*archive, context) : ExitCode::kDone;
}

}  // namespace

void ComplainOfDamage(const archive::RemovalPlan& plan, Context& context) {
  for (const archive::Dependent& lost : plan.lost) {
    Complain(
        context,
        fmt::format("{} of {} repeats {} of {}, whose payload is damaged: it stays without one",
                    lost.revisit.row.url, FormatIso(lost.revisit.row.time), lost.original.row.url,
                    FormatIso(lost.original.row.time)));
  }
  if (plan.unreadable == 0) return;
  Complain(context, fmt::format("{} that cannot be read, because of damage, may repeat some of it; "
                                "run stele verify",
                                Count(plan.unreadable, "revisit")));
}

ExitCode PurgeAll(archive::ArchiveWriter& writer, Context& context) {
  const Result<archive::PurgeOutcome> purged = archive::PurgeRemoved(writer);
  if (!purged) return Fail(context, purged.error());
  Complain(context,
           fmt::format("deleted {} of {}, from {}", ByteCount(purged->bytes),
                       Count(purged->captures, "capture"), Count(purged->containers, "file")));
  if (purged->held > 0) {
    Complain(context,
             fmt::format("the bytes of {} stay, because of holds", Count(purged->held, "capture")));
  }
  ComplainOfTornFiles(writer.layout(), context);
  for (const std::string& path : purged->not_ours) {
    Complain(context, fmt::format("{} was imported in place and is not ours to change; it still "
                                  "holds some of what was taken down",
                                  path));
  }
  for (const archive::PurgeOutcome::Failure& failure : purged->failures) {
    Complain(context,
             fmt::format("{} still holds some of what was taken down: {}; when it is whole "
                         "again, run: stele rm --purge",
                         failure.name, failure.error.text));
  }
  const bool is_all_gone = purged->not_ours.empty() && purged->failures.empty();
  return is_all_gone ? ExitCode::kDone : ExitCode::kFailed;
}

Command RmCommand() {
  Command command;
  command.name = "rm";
  command.summary = "Take captures down";
  command.details =
      "What is taken down is neither listed nor printed, replayed or exported any more; the ledger "
      "keeps its ids, when and why, and `stele ls --removed` still lists it. Its bytes stay in "
      "their file, unless --purge has the file written again without them, and index files without "
      "what they say of it. Captures that stay and "
      "repeat the payload of one that goes get it as their own first. What is under a hold is "
      "neither taken down nor purged.\n\nFiles that were imported in place are not ours to change: "
      "--purge names those that hold some of what was taken down, and the exit code is 3. It does "
      "the same of files that are damaged or away, and goes on with the others.";
  command.arguments = "[URL]...";
  command.options = WithArchiveOption(WithCaptureOptions(
      {{"--reason", "TEXT", "Why; it is kept"},
       {"--digest", "DIGEST", "Only captures with this payload, by its SHA-256 or SHA-1"},
       {"--purge", "", "Delete the bytes, too, now, of this and of all that was taken down before"},
       {"--dry-run", "", "Only say what would be taken down"},
       {"--list", "", "List what was taken down so far, when and why"},
       {"--json", "", "With --list: one JSON object for each"}}));
  command.examples = {
      {"stele rm --prefix https://example.org/private/ --reason 'request of the owner'",
       "A part of a site"},
      {"stele rm --run 3 --dry-run", "What would withdrawing a run take down?"},
      {"stele rm --purge", "Delete the bytes of what was taken down"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
