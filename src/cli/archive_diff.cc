#include <fmt/format.h>

#include "archive/capture_text.h"
#include "archive/changes.h"
#include "archive/redirect_target.h"
#include "archive/revisit_resolver.h"
#include "archive/text_diff.h"
#include "cli/archive_commands.h"
#include "cli/capture_line.h"
#include "cli/two_sides.h"
#include "cli/url_selection.h"
#include "cli/visible_text.h"
#include "util/digest.h"
#include "util/json.h"

namespace stele::cli {
namespace {

using archive::CapturePair;
using archive::ChangeState;
using archive::LineEdit;
using archive::TextLines;

// Common lines around what changed.
constexpr std::size_t kContextLines = 3;

// The last capture that a query finds. Errors: kNotFound.
Result<catalog::HeldCapture> LastOf(const archive::ArchiveView& view,
                                    const archive::CaptureQuery& query) {
  archive::CaptureResults results(view, query);
  std::optional<catalog::HeldCapture> last;
  for (;;) {
    Result<const catalog::HeldCapture*> held = results.Next();
    if (!held) return held.error();
    if (*held == nullptr) break;
    last = **held;
  }
  if (last) return *std::move(last);
  return Error{ErrorCode::kNotFound, !query.runs.empty()
                                         ? fmt::format("run {} has no capture of it", query.runs[0])
                                         : fmt::format("there is no capture of it of {} or before",
                                                       FormatIso(query.where.from))};
}

Result<CapturePair> Choose(const Arguments& arguments, const archive::ArchiveView& view,
                           const catalog::Selection& what) {
  Result<std::optional<TwoSides>> sides = SidesOf(arguments, view.holdings(), what);
  if (!sides) return sides.error();
  if (!*sides) return archive::FindLastChange(view, what);
  Result<catalog::HeldCapture> before = LastOf(view, (*sides)->before);
  if (!before) return before.error();
  Result<catalog::HeldCapture> after = LastOf(view, (*sides)->after);
  if (!after) return after.error();
  Result<ChangeState> state = archive::CompareCaptures(view, *before, *after);
  if (!state) return state.error();
  return CapturePair{*std::move(before), *std::move(after), *state};
}

// Nothing where it has no text, or is a revisit whose original is not here.
Result<std::optional<std::string>> TextOf(const archive::ArchiveView& view,
                                          const catalog::HeldCapture& capture) {
  if (!catalog::IsRevisit(capture.row)) return archive::TextOfCapture(view, capture.row);
  Result<catalog::HeldCapture> original = archive::RevisitResolver(view).Resolve(capture);
  if (original) return archive::TextOfCapture(view, original->row);
  if (original.error().code == ErrorCode::kNotFound) return std::optional<std::string>();
  return original.error();
}

// Two captures and what is to be said about them.
struct Comparison {
  CapturePair pair;
  bool has_text = false;      // both
  std::string before_target;  // where a redirect leads to
  std::string after_target;
  std::string before;
  std::string after;
  TextLines before_lines;
  TextLines after_lines;
  std::vector<LineEdit> edits;
};

// Fills in all but the pair.
Status Compare(const archive::ArchiveView& view, Comparison& comparison) {
  comparison.before_target = archive::RedirectTargetOf(view, comparison.pair.before.row);
  comparison.after_target = archive::RedirectTargetOf(view, comparison.pair.after.row);
  Result<std::optional<std::string>> before = TextOf(view, comparison.pair.before);
  if (!before) return before.error();
  Result<std::optional<std::string>> after = TextOf(view, comparison.pair.after);
  if (!after) return after.error();
  if (!*before || !*after) return {};
  comparison.has_text = true;
  comparison.before = **std::move(before);
  comparison.after = **std::move(after);
  comparison.before_lines = archive::LinesOf(comparison.before);
  comparison.after_lines = archive::LinesOf(comparison.after);
  comparison.edits = archive::DiffLines(comparison.before_lines, comparison.after_lines);
  return {};
}

// Whether the server sent the same with another status. "Not modified" has none of its own.
bool SaysOtherwise(const CapturePair& pair) {
  constexpr std::uint32_t kNotModified = 304;
  const auto has_own = [](const catalog::Capture& row) {
    return row.status != 0 && row.status != kNotModified;
  };
  return has_own(pair.before.row) && has_own(pair.after.row) &&
         pair.before.row.status != pair.after.row.status;
}

class DiffText {
 public:
  explicit DiffText(bool coloured) : coloured_(coloured) {}

  std::string Of(const Comparison& comparison) {
    const CapturePair& pair = comparison.pair;
    Line(kBold, fmt::format("--- {} {}", FormatIso(pair.before.row.time), pair.before.row.url));
    Line(kBold, fmt::format("+++ {} {}", FormatIso(pair.after.row.time), pair.after.row.url));
    for (const archive::DiffHunk& hunk :
         archive::HunksOf(comparison.edits, comparison.before_lines.size(), kContextLines)) {
      Hunk(hunk, comparison);
    }
    if (pair.state == ChangeState::kIdentical) {
      const bool never_changed = pair.before.row.id == pair.after.row.id;
      Line("", never_changed ? "identical in all captures" : "identical");
      if (SaysOtherwise(pair)) {
        Line(kRed, fmt::format("-status {}", pair.before.row.status));
        Line(kGreen, fmt::format("+status {}", pair.after.row.status));
      }
    } else if (comparison.edits.empty()) {
      const bool bytes_differ = !archive::HaveSamePayload(pair.before.row, pair.after.row);
      if (comparison.has_text && bytes_differ) Line("", "the text is the same, the bytes differ");
      Line(kRed, "-" + Facts(pair.before.row));
      Line(kGreen, "+" + Facts(pair.after.row));
    }
    if (comparison.before_target != comparison.after_target) {
      Target(kRed, '-', comparison.before_target);
      Target(kGreen, '+', comparison.after_target);
    }
    return std::move(out_);
  }

 private:
  static constexpr std::string_view kBold = "\033[1m";
  static constexpr std::string_view kRed = "\033[31m";
  static constexpr std::string_view kGreen = "\033[32m";
  static constexpr std::string_view kCyan = "\033[36m";

  void Line(std::string_view colour, std::string_view text) {
    const bool colours = coloured_ && !colour.empty();
    if (colours) out_ += colour;
    out_ += VisibleText(text);
    if (colours) out_ += "\033[0m";
    out_ += '\n';
  }

  void Lines(std::string_view colour, char mark, const TextLines& lines, std::size_t begin,
             std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) Line(colour, fmt::format("{}{}", mark, lines[i]));
  }

  void Hunk(const archive::DiffHunk& hunk, const Comparison& comparison) {
    const LineEdit& range = hunk.range;
    Line(kCyan, fmt::format("@@ -{} +{} @@", Range(range.before_begin, range.before_end),
                            Range(range.after_begin, range.after_end)));
    std::size_t at = range.before_begin;
    for (const LineEdit& edit : hunk.edits) {
      Lines("", ' ', comparison.before_lines, at, edit.before_begin);
      Lines(kRed, '-', comparison.before_lines, edit.before_begin, edit.before_end);
      Lines(kGreen, '+', comparison.after_lines, edit.after_begin, edit.after_end);
      at = edit.before_end;
    }
    Lines("", ' ', comparison.before_lines, at, range.before_end);
  }

  void Target(std::string_view colour, char mark, std::string_view target) {
    if (!target.empty()) Line(colour, fmt::format("{}leads to {}", mark, target));
  }

  // As patches have it: counted from 1, and an empty range is named by the line before it.
  static std::string Range(std::size_t begin, std::size_t end) {
    return fmt::format("{},{}", begin == end ? begin : begin + 1, end - begin);
  }

  static std::string Facts(const catalog::Capture& row) {
    std::string facts = fmt::format("status {}, {}", row.status, row.type);
    if ((row.flags & catalog::kRevisit) != 0) {
      facts += ", repeats an earlier capture";
    } else {
      facts += fmt::format(", {} bytes", row.length);
    }
    if (row.sha256) {
      const std::string_view bytes(row.sha256->data(), row.sha256->size());
      facts += ", " + Digest(DigestAlgorithm::kSha256, bytes).Labelled();
    } else if (row.sha1) {
      const std::string_view bytes(row.sha1->data(), row.sha1->size());
      facts += ", " + Digest(DigestAlgorithm::kSha1, bytes).Labelled();
    }
    return facts;
  }

  const bool coloured_;
  std::string out_;
};

void AppendLines(std::string& out, const TextLines& lines, std::size_t begin, std::size_t end) {
  out += '[';
  for (std::size_t i = begin; i < end; ++i) {
    if (i > begin) out += ", ";
    AppendJsonString(out, lines[i]);
  }
  out += ']';
}

std::string DiffJson(const Comparison& comparison, const catalog::Selection& what) {
  const CapturePair& pair = comparison.pair;
  const std::string& key = what.ranges.front().begin;
  std::string out = fmt::format("{{\"state\": \"{}\", \"url\": ", NameOf(pair.state));
  AppendJsonString(out, pair.after.row.url);
  out += fmt::format(", \"before\": {}, \"after\": {}, \"has_text\": {}",
                     CaptureJson(pair.before.row, key), CaptureJson(pair.after.row, key),
                     comparison.has_text);
  for (const auto& [name, target] : {std::pair("before_leads_to", &comparison.before_target),
                                     std::pair("after_leads_to", &comparison.after_target)}) {
    if (target->empty()) continue;
    out += fmt::format(", \"{}\": ", name);
    AppendJsonString(out, *target);
  }
  out += ", \"hunks\": [";
  for (const LineEdit& edit : comparison.edits) {
    if (out.back() != '[') out += ", ";
    out += fmt::format("{{\"before_line\": {}, \"removed\": ", edit.before_begin + 1);
    AppendLines(out, comparison.before_lines, edit.before_begin, edit.before_end);
    out += fmt::format(", \"after_line\": {}, \"added\": ", edit.after_begin + 1);
    AppendLines(out, comparison.after_lines, edit.after_begin, edit.after_end);
    out += '}';
  }
  return out + "]}\n";
}

ExitCode Run(const Arguments& arguments, Context& context) {
  if (arguments.positionals.size() != 1) {
    Complain(context, "Which URL? Name one, or a path such as /news/.");
    return ExitCode::kUsage;
  }
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveReader> reader = OpenArchive(arguments, context, code);
  if (reader == nullptr) return code;
  const archive::ArchiveView view = reader->View();
  const Result<Arguments> whole = WithWholeUrls(arguments, context);
  if (!whole) return Fail(context, whole.error());
  const Result<catalog::Selection> what = UrlsOf(*whole, whole->positionals);
  if (!what) return Fail(context, what.error());
  Result<CapturePair> pair = Choose(arguments, view, *what);
  if (!pair) {
    return Fail(context, {pair.error().code,
                          fmt::format("{}: {}", whole->positionals[0], pair.error().text)});
  }
  Comparison comparison;
  comparison.pair = *std::move(pair);
  if (const Status compared = Compare(view, comparison); !compared) {
    return Fail(context, compared.error());
  }
  const Status written =
      context.out.Write(arguments.Has("--json") ? DiffJson(comparison, *what)
                                                : DiffText(context.out_is_terminal).Of(comparison));
  return written ? code : Fail(context, written.error());
}

}  // namespace

Command DiffCommand() {
  Command command;
  command.name = "diff";
  command.summary = "Show how the text of a page changed";
  command.details =
      "Line by line: what was removed is marked with -, what was added with +, with some lines "
      "around it. Without --run and --from, the captures between which the text changed last, or "
      "else the bytes. Of what has no text, sizes, types and digests are shown, and where "
      "redirects lead.";
  command.arguments = "URL";
  command.options =
      WithArchiveOption(WithSideOptions({{"--json", "", "As a JSON object with all hunks"}}));
  command.examples = {{"stele diff https://example.org/", "How did it change the last time?"},
                      {"stele diff /news/ --from 2004 --to 2014", "And in ten years?"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
