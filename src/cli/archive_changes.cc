#include <fmt/format.h>

#include "archive/changes.h"
#include "cli/archive_commands.h"
#include "cli/capture_line.h"
#include "cli/change_counts.h"
#include "cli/two_sides.h"
#include "cli/url_selection.h"
#include "cli/visible_text.h"
#include "util/json.h"

namespace stele::cli {
namespace {

using archive::Change;
using archive::ChangeState;

std::string SummaryJson(const ChangeCounts& counts) {
  std::string out = "{\"summary\": {";
  for (const ChangeState state :
       {ChangeState::kIdentical, ChangeState::kSameText, ChangeState::kTextChanged,
        ChangeState::kNew, ChangeState::kGone}) {
    out += fmt::format("\"{}\": {}, ", NameOf(state), counts.Of(state));
  }
  out.resize(out.size() - 2);
  return out + "}}\n";
}

// In words that hold for what has no text, too.
std::string_view WordFor(const Change& change) {
  if (change.has_text) return NameOf(change.state);
  if (change.state == ChangeState::kTextChanged) return "changed";
  return change.state == ChangeState::kSameText ? "same-content" : NameOf(change.state);
}

std::string ChangeText(const Change& change) {
  return fmt::format("{:<9} {}\n", WordFor(change), VisibleText(change.url()));
}

std::string SummaryText(const ChangeCounts& counts) {
  return fmt::format("{}, {} gone\n", counts.Text(), counts.Of(ChangeState::kGone));
}

std::string ChangeJson(const Change& change) {
  std::string out = fmt::format("{{\"state\": \"{}\", \"url\": ", NameOf(change.state));
  AppendJsonString(out, change.url());
  out += fmt::format(", \"page\": {}", change.is_page);
  for (const auto& [name, capture] :
       {std::pair("before", &change.before), std::pair("after", &change.after)}) {
    out += fmt::format(", \"{}\": {}", name,
                       *capture ? CaptureJson((*capture)->row, change.key) : "null");
  }
  return out + "}\n";
}

Result<TwoSides> Choose(const Arguments& arguments, const archive::ArchiveView& view,
                        const catalog::Selection& what) {
  Result<std::optional<TwoSides>> sides = SidesOf(arguments, view.holdings(), what);
  if (!sides) return sides.error();
  if (*sides) return **std::move(sides);
  return LastTwoRuns(view.holdings(), what);
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const Result<Arguments> whole = WithWholeUrls(arguments, context);
  if (!whole) return Fail(context, whole.error());
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveReader> reader = OpenArchive(arguments, context, code);
  if (reader == nullptr) return code;
  const archive::ArchiveView view = reader->View();
  const Result<catalog::Selection> what = UrlsOf(*whole, whole->positionals);
  if (!what) return Fail(context, what.error());
  Result<TwoSides> sides = Choose(arguments, view, *what);
  if (!sides) return Fail(context, sides.error());
  const bool json = arguments.Has("--json");
  ChangeCounts counts;
  archive::Changes changes(view, sides->before, sides->after);
  for (;;) {
    Result<const Change*> change = changes.Next();
    if (!change) return Fail(context, change.error());
    if (*change == nullptr) break;
    if (arguments.Has("--pages") && !(*change)->is_page) continue;
    counts.Add(**change);
    if ((*change)->state == ChangeState::kIdentical && !arguments.Has("--all")) continue;
    const Status written = context.out.Write(json ? ChangeJson(**change) : ChangeText(**change));
    if (!written) return Fail(context, written.error());
  }
  const Status written = context.out.Write(json ? SummaryJson(counts) : SummaryText(counts));
  return written ? code : Fail(context, written.error());
}

}  // namespace

Command ChangesCommand() {
  Command command;
  command.name = "changes";
  command.summary = "List what changed between two runs, or two moments";
  command.details =
      "One line for each URL that is not identical, and then how many there are of each kind. "
      "Without --run and --from, the last two runs are compared that ended and were not taken "
      "down.\n\n"
      "new: it is only in the later one. gone: it is only in the earlier one, or the server "
      "answered later with an error (status 400 and above). text: what it says changed. changed: "
      "it has no text, a picture say, and the bytes changed. same-text: the bytes changed, but "
      "not what they say: markup, case and punctuation apart. same-content: it has no text, and "
      "only its compression changed. In JSON what has no text is text and same-text, too. "
      "identical (with --all): the same bytes. Of "
      "several captures of a URL in one run the last one counts.";
  command.arguments = "[URL]...";
  command.options = WithArchiveOption(WithSideOptions(WithUrlOptions(
      {{"--pages", "", "Only what people call pages, without pictures, scripts and the like"},
       {"--all", "", "List what is identical, too"},
       {"--json", "", "One JSON object for each URL, and one with the counts"}})));
  command.examples = {
      {"stele changes --pages", "Which pages changed since the run before?"},
      {"stele changes --from 2004 --to 2014 --host example.org", "What changed in ten years"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
