#include <fmt/format.h>

#include "cli/amount.h"
#include "cli/archive_commands.h"
#include "cli/url_selection.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::cli {
namespace {

std::string HoldLine(const archive::Hold& hold, bool json) {
  if (!json) {
    return fmt::format("{:>4}  {}  {}  {}: {}\n", hold.number, FormatIso(hold.time),
                       hold.end ? "ended " + FormatIso(*hold.end) : "goes on", hold.note,
                       hold.reason);
  }
  std::string line = fmt::format("{{\"hold\": {}, \"begin\": \"{}\", \"end\": ", hold.number,
                                 FormatIso(hold.time));
  line += hold.end ? fmt::format("\"{}\"", FormatIso(*hold.end)) : "null";
  line += ", \"reason\": ";
  AppendJsonString(line, hold.reason);
  line += ", \"what\": ";
  AppendJsonString(line, hold.note);
  return line + "}\n";
}

ExitCode List(const Arguments& arguments, Context& context) {
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveReader> reader = OpenArchive(arguments, context, code);
  if (reader == nullptr) return code;
  const archive::ArchiveView view = reader->View();
  for (const auto& [number, hold] : view.holdings().holds()) {
    const Status written = context.out.Write(HoldLine(hold, arguments.Has("--json")));
    if (!written) return Fail(context, written.error());
  }
  return code;
}

// How many are here, also taken down with their bytes not purged yet.
Result<std::uint64_t> CountCovered(const archive::ArchiveView& view, archive::CaptureQuery query) {
  query.with_removed = true;
  archive::CaptureResults results(view, query);
  std::uint64_t count = 0;
  for (;;) {
    Result<const catalog::HeldCapture*> held = results.Next();
    if (!held) return held.error();
    if (*held == nullptr) return count;
    if (!view.holdings().IsPurged((*held)->row.place.container)) ++count;
  }
}

ExitCode Run(const Arguments& arguments, Context& context) {
  if (arguments.Has("--list")) return List(arguments, context);
  const std::optional<std::string> end = arguments.Get("--end");
  const std::string reason = arguments.Get("--reason").value_or("");
  const std::optional<std::uint64_t> number = end ? ParseDecimal(*end) : std::nullopt;
  if (end && !number) {
    Complain(context, fmt::format("--end {} is no number", *end));
    return ExitCode::kUsage;
  }
  if (!end && reason.empty()) {
    Complain(context, "say why, with --reason TEXT; or --list, or --end N");
    return ExitCode::kUsage;
  }
  const Result<Arguments> whole = WithWholeUrls(arguments, context);
  if (!whole) return Fail(context, whole.error());
  Result<archive::CaptureQuery> query = CaptureQueryOf(*whole, whole->positionals);
  if (!query) return Fail(context, query.error());
  Result<catalog::Selection> urls = UrlsOf(*whole, whole->positionals);
  if (!urls) return Fail(context, urls.error());
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveWriter> archive =
      OpenArchiveToWrite(ArchiveDirectory(arguments), "hold", context, code);
  if (archive == nullptr) return code;
  if (end) {
    const Status ended = archive->EndHold(static_cast<std::uint32_t>(*number));
    return ended ? ExitCode::kDone : Fail(context, ended.error());
  }
  archive::Hold hold;
  hold.reason = reason;
  hold.note = NoteOf(*whole);
  hold.what = *std::move(urls);
  hold.from = query->where.from;
  hold.to = query->where.to;
  const Result<std::uint32_t> added = archive->AddHold(hold);
  if (!added) return Fail(context, added.error());
  const Result<std::uint64_t> covered = CountCovered(archive->View(), *query);
  if (!covered) return Fail(context, covered.error());
  const Status written = context.out.Write(
      arguments.Has("--json")
          ? fmt::format("{{\"hold\": {}, \"captures\": {}}}\n", *added, *covered)
          : fmt::format("hold {} covers {}\n", *added, Count(*covered, "capture")));
  return written ? ExitCode::kDone : Fail(context, written.error());
}

}  // namespace

Command HoldCommand() {
  Command command;
  command.name = "hold";
  command.summary = "Protect captures from being taken down";
  command.details =
      "A hold covers URLs and times, what is in the archive and what will come. As long as it goes "
      "on, `stele rm` refuses to take down what it covers. Without a URL or other option it covers "
      "everything. How many captures of those that are here it covers is said.";
  command.arguments = "[URL]...";
  command.options = WithArchiveOption(
      WithUrlOptions({{"--reason", "TEXT", "Why; it is kept"},
                      {"--from", "TIME", "Captured not before"},
                      {"--to", "TIME", "Captured not after; 2014: the whole year"},
                      {"--list", "", "List all holds, also those that ended"},
                      {"--end", "N", "End a hold"},
                      {"--json", "", "A JSON object for each hold"}}));
  command.examples = {{"stele hold --domain example.org --reason 'case 12/345'", "Begin a hold"},
                      {"stele hold --list", "Which are there?"},
                      {"stele hold --end 1", "End it"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
