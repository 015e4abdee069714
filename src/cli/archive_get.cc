#include <fmt/format.h>

#include <algorithm>

#include "archive/capture_block.h"
#include "archive/http_head.h"
#include "archive/revisit_resolver.h"
#include "cli/archive_commands.h"
#include "cli/output.h"
#include "cli/record_part.h"
#include "cli/url_selection.h"
#include "formats/http/content_decoder.h"
#include "formats/http/message.h"

namespace stele::cli {
namespace {

Result<ExitCode> Print(const archive::ArchiveView& view, const catalog::HeldCapture& capture,
                       RecordPart part, const std::vector<std::string>* codings, io::Sink& out,
                       Context& context) {
  using archive::CaptureBlock;
  const bool as_stored = part == RecordPart::kRecord;
  const Result<std::unique_ptr<CaptureBlock>> block = CaptureBlock::Open(
      view, capture.row,
      as_stored ? CaptureBlock::Segments::kFirst : CaptureBlock::Segments::kAsFarAsHere);
  if (!block) return block.error();
  bool ended = false;
  const auto read = [&]() -> Result<std::string_view> {
    Result<std::string_view> piece = (*block)->Read();
    if (piece && piece->empty()) ended = true;
    return piece;
  };
  Result<std::optional<std::string>> wrong =
      PrintRecord((*block)->record(), part, read, out, codings);
  if (!wrong) return wrong.error();
  if (!*wrong && ended && !as_stored && !(*block)->flaw().empty()) {
    *wrong = fmt::format("what was printed is cut off: {}", (*block)->flaw());
  }
  if (!*wrong) return ExitCode::kDone;
  Complain(context, fmt::format("{}: {}", capture.row.url, **wrong));
  return ExitCode::kDefects;
}

// What a revisit's own head says that its payload is packed with; nothing where it has none of its
// own.
std::optional<std::vector<std::string>> OwnCodings(const archive::ArchiveView& view,
                                                   const catalog::Capture& row) {
  const std::optional<std::string> raw = archive::ReadOwnHead(view, row);
  if (!raw) return std::nullopt;
  const Result<http::ResponseHead> head = http::ParseResponseHead(*raw);
  const std::vector<std::string_view> codings = http::ContentCodings(head->headers);
  return std::vector<std::string>(codings.begin(), codings.end());
}

// Nothing when several were asked for.
std::optional<RecordPart> PartOf(const Arguments& arguments) {
  std::optional<RecordPart> chosen;
  for (const auto& [name, part] :
       {std::pair("--record", RecordPart::kRecord), std::pair("--http", RecordPart::kHttp),
        std::pair("--payload", RecordPart::kPayload)}) {
    if (!arguments.Has(name)) continue;
    if (chosen) return std::nullopt;
    chosen = part;
  }
  return chosen.value_or(RecordPart::kDecoded);
}

// The one capture that is meant: an answer to GET, or where there is none, to another request.
Result<catalog::HeldCapture> Choose(const archive::ArchiveView& view, const Arguments& arguments) {
  Result<archive::CaptureQuery> query = CaptureQueryOf(arguments, arguments.positionals);
  if (!query) return query.error();
  if (const Status checked = CheckNamed(*query, view); !checked) return checked.error();
  if (query->ids.empty()) {
    query->where.pick = catalog::LocationQuery::Pick::kNearest;
    if (!arguments.Has("--at")) query->where.from = catalog::kTimeEnd;
  }
  const auto distance = [&](const catalog::HeldCapture& capture) {
    const std::int64_t time = capture.row.time.milliseconds;
    const std::int64_t moment = query->where.from.milliseconds;
    return static_cast<std::uint64_t>(std::max(time, moment)) -
           static_cast<std::uint64_t>(std::min(time, moment));
  };
  archive::CaptureResults results(view, *query);
  std::optional<catalog::HeldCapture> best;
  for (;;) {
    Result<const catalog::HeldCapture*> found = results.Next();
    if (!found) return found.error();
    if (*found == nullptr) break;
    if ((*found)->row.key.empty()) return **found;
    if (!best || distance(**found) < distance(*best)) best = **found;
  }
  if (best) return *best;
  if (!query->ids.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("there is no capture {}", *arguments.Get("--id"))};
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("there is no such capture of {}", arguments.positionals[0])};
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const std::size_t ids = arguments.GetAll("--id").size();
  if (arguments.positionals.size() + ids != 1) {
    Complain(context, "Which capture? Name one URL, or one with --id.");
    return ExitCode::kUsage;
  }
  const std::optional<RecordPart> part = PartOf(arguments);
  if (!part) {
    Complain(context, "give one of --record, --http, --payload");
    return ExitCode::kUsage;
  }
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveReader> reader = OpenArchive(arguments, context, code);
  if (reader == nullptr) return code;
  const archive::ArchiveView view = reader->View();
  const Result<Arguments> whole = WithWholeUrls(arguments, context);
  if (!whole) return Fail(context, whole.error());
  Result<catalog::HeldCapture> capture = Choose(view, *whole);
  if (!capture) return Fail(context, capture.error());
  const bool wants_payload = *part == RecordPart::kPayload || *part == RecordPart::kDecoded;
  std::optional<std::vector<std::string>> codings;
  if (wants_payload && catalog::IsRevisit(capture->row)) {
    codings = OwnCodings(view, capture->row);
    capture = archive::RevisitResolver(view).Resolve(*capture);
    if (!capture) return Fail(context, capture.error());
  }
  auto output = OutputFile::Create(context, arguments.Get("--output").value_or("-"),
                                   arguments.Has("--force"));
  if (!output) return Fail(context, output.error());
  Result<ExitCode> printed =
      Print(view, *capture, *part, codings ? &*codings : nullptr, **output, context);
  if (!printed) return Fail(context, printed.error());
  if (const Status committed = (*output)->Commit(); !committed) {
    return Fail(context, committed.error());
  }
  return *printed;
}

}  // namespace

Command GetCommand() {
  Command command;
  command.name = "get";
  command.summary = "Print a capture";
  command.details =
      "The capture nearest to --at, or the latest; one of a request with a body only where there "
      "is no other. Of one that repeats an earlier capture, the "
      "payload is that one's. Of one that was cut into segments, all that are in this archive are "
      "put together. The payload's digest is verified on the way.";
  command.arguments = "[URL]";
  command.options = WithArchiveOption(
      {{"--at", "TIME", "As near as possible to this time", "the latest"},
       {"--run", "N", "Captured by this crawl or import"},
       {"--id", "ID", "This one, as stele ls --json names it, in place of a URL: 200405/17"},
       {"--record", "", "The whole record, as it is stored"},
       {"--http", "", "The head of the HTTP message"},
       {"--payload", "", "The payload as the server sent it, without decompressing it"},
       {"--output", "FILE", "Write to FILE instead of the standard output"},
       {"--force", "", "Replace FILE if it exists"}});
  command.examples = {
      {"stele get https://example.org/ >page.html", "The page as it was captured last"},
      {"stele get --at 2004 --http https://example.org/", "Its HTTP headers, long ago"},
      {"stele get --id 200405/17", "One of two that were captured in one second"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
