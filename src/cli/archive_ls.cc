#include <fmt/format.h>

#include "cli/archive_commands.h"
#include "cli/capture_line.h"
#include "cli/url_selection.h"
#include "util/ascii.h"
#include "util/base_encoding.h"

namespace stele::cli {
namespace {

ExitCode Run(const Arguments& arguments, Context& context) {
  const Result<Arguments> whole = WithWholeUrls(arguments, context);
  if (!whole) return Fail(context, whole.error());
  Result<archive::CaptureQuery> query = CaptureQueryOf(*whole, whole->positionals);
  if (!query) return Fail(context, query.error());
  query->with_removed = arguments.Has("--removed");
  const std::optional<std::string> resume = HexDecode(arguments.Get("--resume").value_or(""));
  if (!resume) {
    Complain(context, "--resume takes what an earlier listing said");
    return ExitCode::kUsage;
  }
  query->where.resume = *resume;
  const auto limit = ParseDecimal(arguments.Get("--limit").value_or("0"));
  if (!limit) {
    Complain(context, "--limit takes a number");
    return ExitCode::kUsage;
  }
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveReader> reader = OpenArchive(arguments, context, code);
  if (reader == nullptr) return code;
  const archive::ArchiveView view = reader->View();
  if (const Status checked = CheckNamed(*query, view); !checked) {
    return Fail(context, checked.error());
  }
  archive::CaptureResults results(view, *query);
  const bool json = arguments.Has("--json");
  std::uint64_t count = 0;
  for (;;) {
    const bool is_full = *limit > 0 && count == *limit;
    const std::string rest = is_full ? results.Resume() : "";
    Result<const catalog::HeldCapture*> held = results.Next();
    if (!held) return Fail(context, held.error());
    if (*held == nullptr) break;
    // What was purged is to be forgotten, and that was interrupted.
    if (view.holdings().IsPurged((*held)->row.place.container)) continue;
    if (is_full) {
      Complain(context, fmt::format("there is more: --resume {}", HexEncode(rest)));
      break;
    }
    ++count;
    const Status written = context.out.Write(json ? CaptureJson((*held)->row, results.key()) + '\n'
                                                  : CaptureText((*held)->row) + '\n');
    if (!written) return Fail(context, written.error());
  }
  if (count == 0 && !json) Complain(context, "nothing matches");
  return code;
}

}  // namespace

Command LsCommand() {
  Command command;
  command.name = "ls";
  command.summary = "List captures";
  command.details =
      "One line for each capture, by URL and time: when it was captured, its HTTP status, media "
      "type, size of the payload, and URL. What repeats an earlier capture is marked with =, what "
      "was cut off with <, what was taken down (--removed) with x.\n\nIn place of a URL, here and "
      "in other commands, a path such as /news/ does where the archive has one site: the host "
      "where its crawls begin, or without crawls the only one with pages.";
  command.arguments = "[URL]...";
  command.options = WithArchiveOption(
      WithCaptureOptions({{"--removed", "", "Also what was taken down"},
                          {"--limit", "N", "At most so many"},
                          {"--resume", "KEY", "Go on where an earlier listing ended"},
                          {"--json", "", "One JSON object for each capture"}}));
  command.examples = {{"stele ls https://example.org/", "All captures of a page"},
                      {"stele ls --domain example.org --pages --at 2014",
                       "The pages of a site as they were at the end of 2014"},
                      {"stele ls --run 2 --status 4xx", "What was missing in the second run"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
