// Answers about runs, what changed between them, and batches.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "access/api_parts.h"
#include "access/downloads.h"
#include "access/wayback_path.h"
#include "archive/capture_text.h"
#include "archive/moment.h"
#include "archive/revisit_resolver.h"
#include "archive/text_diff.h"
#include "util/ascii.h"

namespace stele::access {
namespace {

using archive::ChangeState;
using catalog::HeldCapture;

constexpr std::uint64_t kOffsetMax = 1'000'000'000;
constexpr std::uint64_t kContextMax = 100'000;

void WriteTrouble(JsonWriter& json, std::string_view name, const archive::CaptureTrouble& trouble) {
  json.Name(name).BeginObject().Member("captures", trouble.captures).Name("first").BeginArray();
  for (const HeldCapture& capture : trouble.first) WriteCaptureObject(json, capture.row);
  json.EndArray().EndObject();
}

void WriteReport(JsonWriter& json, const archive::RunReport& report) {
  WriteSum(json, "all", report.all);
  WriteSum(json, "pages", report.pages);
  WriteSum(json, "revisits", report.revisits);
  WriteSum(json, "duplicates", report.duplicates);
  for (const auto& [name, sums] :
       {std::pair("by_status", &report.by_status), std::pair("by_type", &report.by_type)}) {
    json.Name(name).BeginObject();
    for (const auto& [value, sum] : *sums) WriteSum(json, value, sum);
    json.EndObject();
  }
  json.Name("hosts").BeginArray();
  for (const archive::HostCount& host : report.hosts) {
    json.BeginObject()
        .Member("host", host.host)
        .Member("captures", host.captures)
        .Member("pages", host.pages)
        .Member("bytes", host.bytes)
        .EndObject();
  }
  json.EndArray().Member("host_count", report.host_count);
  const auto time = [](const std::optional<Timestamp>& moment) {
    return moment ? std::optional(FormatIsoMillis(*moment)) : std::nullopt;
  };
  json.Optional("first", time(report.first)).Optional("last", time(report.last));
  json.Member("truncated", report.truncated).Member("removed", report.removed);
  WriteTrouble(json, "errors", report.errors);
  WriteTrouble(json, "unresolved", report.unresolved);
  WriteTrouble(json, "undecided", report.undecided);
  json.Member("containers", report.containers)
      .Member("container_bytes", report.container_bytes)
      .Member("unlisted", report.unlisted)
      .Member("damaged", report.damaged)
      .Name("damaged_first")
      .BeginArray();
  for (const archive::RunReport::DamagedPlace& place : report.damaged_first) {
    json.BeginObject()
        .Member("file", place.file)
        .Member("begin", place.loss.begin)
        .Member("end", place.loss.end)
        .Member("reason", place.loss.reason)
        .EndObject();
  }
  json.EndArray();
}

// Which runs the client sees something of is said by the sums.
Status RunsAreKnown(const Call& call, const Overview* overview) {
  if (!call.sight.has_rules() || overview != nullptr) return {};
  return Error{ErrorCode::kBusy, "The sums are not ready yet; try again."};
}

// Both sides of a comparison.
struct Sides {
  archive::CaptureQuery before;
  archive::CaptureQuery after;
  std::optional<std::uint32_t> from_run;
  std::optional<std::uint32_t> to_run;
};

Result<Sides> SidesByTime(const Call& call) {
  Sides sides;
  for (const auto& [name, side] :
       {std::pair("from", &sides.before), std::pair("to", &sides.after)}) {
    const auto moments = archive::MomentsOf(call.parameters.Get(name).value_or(""));
    if (!moments) return Error{ErrorCode::kInvalid, "from and to must be times like 20140126"};
    side->where.pick = catalog::LocationQuery::Pick::kBefore;
    side->where.from = moments->last;
  }
  return sides;
}

// The last run before one of that number that can be compared, of those that the client sees; 0:
// there is none.
std::uint32_t ComparableBefore(const Call& call, const std::vector<const archive::Run*>& seen,
                               std::uint64_t number) {
  for (auto run = seen.rbegin(); run != seen.rend(); ++run) {
    const bool is_before = (*run)->number < number;
    if (is_before && call.sight.view().holdings().IsComparable(**run)) return (*run)->number;
  }
  return 0;
}

Result<Sides> SidesOf(const Call& call, const Overview* overview) {
  if (call.parameters.Get("from") || call.parameters.Get("to")) return SidesByTime(call);
  if (const Status known = RunsAreKnown(call, overview); !known) return known.error();
  const std::vector<const archive::Run*> seen = SeenRuns(call.sight, overview);
  const auto max = std::numeric_limits<std::uint32_t>::max();
  const Result<std::uint64_t> to =
      call.parameters.Number("to_run", ComparableBefore(call, seen, max), max);
  if (!to) return to.error();
  if (*to == 0) {
    return Error{ErrorCode::kNotFound, "There is no run yet that ended and was not taken down."};
  }
  const Result<std::uint64_t> from =
      call.parameters.Number("from_run", ComparableBefore(call, seen, *to), max);
  if (!from) return from.error();
  for (const std::uint64_t number : {*from, *to}) {
    if (number != 0 &&
        !call.sight.view().holdings().runs().contains(static_cast<std::uint32_t>(number))) {
      return Error{ErrorCode::kNotFound, fmt::format("There is no run {}.", number)};
    }
  }
  Sides sides;
  sides.from_run = static_cast<std::uint32_t>(*from);
  sides.to_run = static_cast<std::uint32_t>(*to);
  sides.before.runs = {*sides.from_run};
  sides.after.runs = {*sides.to_run};
  return sides;
}

void WriteChange(JsonWriter& json, const archive::Change& change) {
  json.BeginObject()
      .Member("state", archive::NameOf(change.state))
      .Member("url", change.url())
      .Member("key", change.key)
      .Member("page", change.is_page);
  for (const auto& [name, side] :
       {std::pair("before", &change.before), std::pair("after", &change.after)}) {
    json.Name(name);
    if (*side) {
      WriteCaptureObject(json, (*side)->row);
    } else {
      json.Null();
    }
  }
  json.EndObject();
}

// The capture that "before" or "after" names: a time, or an id.
Result<HeldCapture> Side(const Call& call, std::string_view text) {
  std::optional<HeldCapture> found;
  if (const std::optional<catalog::CaptureId> id = archive::ParseCaptureId(text)) {
    Result<HeldCapture> held = call.sight.view().catalog().Get(*id);
    if (held && call.sight.Shows(KeyOfCapture(held->row), held->row)) found = *std::move(held);
  } else {
    const auto moments = archive::MomentsOf(text);
    const std::string url = AbsoluteUrl(call.parameters.Get("url").value_or(""));
    if (!moments || url.empty()) {
      return Error{ErrorCode::kInvalid, "before and after are ids, or times of the address in url"};
    }
    Result<Nearest> nearest = FindNearest(call.sight, url, moments->first);
    if (!nearest) return nearest.error();
    found = std::move(nearest->capture);
  }
  if (!found) return Error{ErrorCode::kNotFound, "There is no such capture."};
  return *std::move(found);
}

Result<archive::CapturePair> PairOf(const Call& call) {
  const std::string_view before = call.parameters.Get("before").value_or("");
  const std::string_view after = call.parameters.Get("after").value_or("");
  archive::CapturePair pair;
  if (before.empty() && after.empty()) {
    const std::string url = AbsoluteUrl(call.parameters.Get("url").value_or(""));
    if (url.empty()) return Error{ErrorCode::kInvalid, "say which address: url="};
    return archive::FindLastChange(call.sight.view(), catalog::SelectUrl(url), call.sight.Filter());
  }
  Result<HeldCapture> old_one = Side(call, before);
  if (!old_one) return old_one.error();
  Result<HeldCapture> new_one = Side(call, after);
  if (!new_one) return new_one.error();
  pair.before = *std::move(old_one);
  pair.after = *std::move(new_one);
  Result<ChangeState> state = archive::CompareCaptures(call.sight.view(), pair.before, pair.after);
  if (!state) return state.error();
  pair.state = *state;
  return pair;
}

Result<std::string> TextOf(const Call& call, const HeldCapture& capture) {
  HeldCapture payload = capture;
  if ((capture.row.flags & catalog::kRevisit) != 0) {
    Result<HeldCapture> original = archive::RevisitResolver(call.sight.view()).Resolve(capture);
    if (!original) return original.error();
    payload = *std::move(original);
    if (!call.sight.Shows(KeyOfCapture(payload.row), payload.row)) {
      return Error{ErrorCode::kNotFound, "There is no such capture."};
    }
  }
  Result<std::optional<std::string>> text = archive::TextOfCapture(call.sight.view(), payload.row);
  if (!text) return text.error();
  return text->value_or("");
}

// The same of those that may be seen.
Result<catalog::BatchSummary> SumBatch(const Call& call, std::uint32_t batch) {
  catalog::CaptureScan::Query query;
  query.batch = batch;
  catalog::CaptureScan scan = call.sight.view().catalog().Scan(query);
  catalog::BatchSummary sum;
  sum.batch = batch;
  for (;;) {
    Result<const catalog::Capture*> row = scan.Next();
    if (!row) return row.error();
    if (*row == nullptr) return sum;
    if (!call.sight.Shows(KeyOfCapture(**row), **row)) continue;
    const Timestamp time = (*row)->time;
    sum.times.first = sum.rows == 0 ? time : std::min(sum.times.first, time);
    sum.times.last = sum.rows == 0 ? time : std::max(sum.times.last, time);
    ++sum.rows;
  }
}

void WriteHunks(JsonWriter& json, const archive::TextLines& before, const archive::TextLines& after,
                std::size_t context) {
  const std::vector<archive::LineEdit> edits = archive::DiffLines(before, after);
  std::uint64_t removed = 0;
  std::uint64_t added = 0;
  for (const archive::LineEdit& edit : edits) {
    removed += edit.before_end - edit.before_begin;
    added += edit.after_end - edit.after_begin;
  }
  json.Member("removed", removed).Member("added", added).Name("hunks").BeginArray();
  const auto lines = [&](std::string_view op, const archive::TextLines& text, std::size_t begin,
                         std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      json.BeginObject().Member("op", op).Member("text", text[i]).EndObject();
    }
  };
  for (const archive::DiffHunk& hunk : archive::HunksOf(edits, before.size(), context)) {
    json.BeginObject()
        .Member("before_line", hunk.range.before_begin + 1)
        .Member("after_line", hunk.range.after_begin + 1)
        .Name("lines")
        .BeginArray();
    std::size_t at = hunk.range.before_begin;
    for (const archive::LineEdit& edit : hunk.edits) {
      lines("same", before, at, edit.before_begin);
      lines("removed", before, edit.before_begin, edit.before_end);
      lines("added", after, edit.after_begin, edit.after_end);
      at = edit.before_end;
    }
    lines("same", before, at, hunk.range.before_end);
    json.EndArray().EndObject();
  }
  json.EndArray();
}

// Whether what was asked for, addresses most often, names nothing that is hidden.
bool ShowsNote(const Sight& sight, const archive::Run& run) {
  if (!sight.has_rules()) return true;
  catalog::Capture row;
  row.time = run.begin;
  const std::vector<std::string_view> words = Split(run.note, ' ');
  return std::all_of(words.begin(), words.end(), [&](std::string_view word) {
    return word.empty() || sight.Shows(KeyOfUrl(AbsoluteUrl(word)), row);
  });
}

// Never null. Errors: kNotFound where the client sees none of that number; kBusy.
Result<const archive::Run*> FindRun(const Call& call, std::string_view text,
                                    const Overview* overview) {
  if (const Status known = RunsAreKnown(call, overview); !known) return known.error();
  const std::optional<std::uint64_t> number = ParseDecimal(text);
  for (const archive::Run* run : SeenRuns(call.sight, overview)) {
    if (run->number == number) return run;
  }
  return Error{ErrorCode::kNotFound, "This run is not in this archive."};
}

}  // namespace

std::vector<const archive::Run*> SeenRuns(const Sight& sight, const Overview* overview) {
  std::vector<const archive::Run*> runs;
  for (const auto& [number, run] : sight.view().holdings().runs()) {
    const bool seen =
        !sight.has_rules() || (overview != nullptr && overview->runs.contains(number));
    if (seen) runs.push_back(&run);
  }
  return runs;
}

void WriteRun(JsonWriter& json, const Call& call, const archive::Run& run,
              const Overview* overview) {
  std::uint64_t captures = run.captures;
  if (call.sight.has_rules()) {
    const bool known = overview != nullptr && overview->runs.contains(run.number);
    captures = known ? overview->runs.at(run.number).captures : 0;
  }
  json.BeginObject()
      .Member("run", run.number)
      .Member("kind", run.kind)
      .Member("note", ShowsNote(call.sight, run) ? run.note : "")
      .Member("begin", FormatIsoMillis(run.begin))
      .Optional("end", run.end ? std::optional(FormatIsoMillis(*run.end)) : std::nullopt)
      .Member("containers", run.containers)
      .Member("captures", captures)
      .EndObject();
}

void WriteSum(JsonWriter& json, std::string_view name, const archive::CaptureSum& sum) {
  json.Name(name)
      .BeginObject()
      .Member("captures", sum.captures)
      .Member("bytes", sum.bytes)
      .EndObject();
}

void SendRuns(const Call& call, const Overview* overview) {
  const std::vector<const archive::Run*> runs = SeenRuns(call.sight, overview);
  JsonWriter json;
  json.BeginObject().Name("runs").BeginArray();
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) WriteRun(json, call, **run, overview);
  SendJson(call, json.EndArray().EndObject().Take());
}

void SendRun(const Call& call, std::string_view number, const Overview* overview) {
  const Result<const archive::Run*> run = FindRun(call, number, overview);
  if (!run) return SendError(call, run.error());
  JsonWriter json;
  WriteRun(json, call, **run, overview);
  SendJson(call, json.Take());
}

void SendRunReport(const Call& call, std::string_view number, const Overview* overview) {
  const Result<const archive::Run*> run = FindRun(call, number, overview);
  if (!run) return SendError(call, run.error());
  const Result<archive::RunReport> report =
      archive::ReportOn(call.sight.view(), (*run)->number, call.sight.Filter());
  if (!report) return SendError(call, report.error());
  JsonWriter json;
  json.BeginObject().Name("run");
  WriteRun(json, call, **run, overview);
  WriteReport(json, *report);
  WriteCrawlNotes(json, call, **run);
  SendJson(call, json.EndObject().Take());
}

void SendChanges(const Call& call, const Overview* overview) {
  Result<Sides> sides = SidesOf(call, overview);
  if (!sides) return SendError(call, sides.error());
  const bool pages = call.parameters.IsOn("pages");
  const std::vector<std::string_view> wanted =
      Split(call.parameters.Get("state").value_or("new,gone,text,same-text"), ',');
  const Result<std::uint64_t> limit = call.parameters.Number("limit", kApiLimit, kApiLimitMax);
  if (!limit) return SendError(call, limit.error());
  const Result<std::uint64_t> offset = call.parameters.Number("offset", 0, kOffsetMax);
  if (!offset) return SendError(call, offset.error());
  for (archive::CaptureQuery* side : {&sides->before, &sides->after}) {
    side->where.what = catalog::SelectAll();
    side->shows = call.sight.Filter();
  }
  archive::Changes changes(call.sight.view(), sides->before, sides->after);
  std::map<std::string_view, std::uint64_t> counts;
  JsonWriter list;
  list.BeginArray();
  std::uint64_t seen = 0;
  for (;;) {
    Result<const archive::Change*> change = changes.Next();
    if (!change) return SendError(call, change.error());
    if (*change == nullptr) break;
    if (pages && !(*change)->is_page) continue;
    const std::string_view state = archive::NameOf((*change)->state);
    ++counts[state];
    if (std::find(wanted.begin(), wanted.end(), state) == wanted.end()) continue;
    if (seen++ < *offset || seen > *offset + *limit) continue;
    WriteChange(list, **change);
  }
  JsonWriter json;
  json.BeginObject();
  for (const auto& [name, run] :
       {std::pair("from_run", sides->from_run), std::pair("to_run", sides->to_run)}) {
    json.Name(name);
    if (run) {
      json.Number(*run);
    } else {
      json.Null();
    }
  }
  json.Name("counts").BeginObject();
  for (std::size_t i = 0; i < archive::kChangeStates; ++i) {
    const std::string_view name = archive::NameOf(static_cast<ChangeState>(i));
    json.Member(name, counts[name]);
  }
  json.EndObject().Member("more", seen > *offset + *limit);
  json.Name("changes").Raw(list.EndArray().Take());
  SendJson(call, json.EndObject().Take());
}

void SendDiff(const Call& call) {
  Result<archive::CapturePair> pair = PairOf(call);
  if (!pair) return SendError(call, pair.error());
  const Result<std::uint64_t> context = call.parameters.Number("context", 3, kContextMax);
  if (!context) return SendError(call, context.error());
  const Result<std::string> before = TextOf(call, pair->before);
  if (!before) return SendError(call, before.error());
  const Result<std::string> after = TextOf(call, pair->after);
  if (!after) return SendError(call, after.error());
  JsonWriter json;
  json.BeginObject()
      .Member("url", pair->after.row.url)
      .Member("state", archive::NameOf(pair->state))
      .Name("before");
  WriteCaptureObject(json, pair->before.row);
  json.Name("after");
  WriteCaptureObject(json, pair->after.row);
  WriteHunks(json, archive::LinesOf(*before), archive::LinesOf(*after),
             static_cast<std::size_t>(*context));
  SendJson(call, json.EndObject().Take());
}

void SendBatches(const Call& call) {
  JsonWriter json;
  json.BeginObject().Name("batches").BeginArray();
  for (catalog::BatchSummary batch : call.sight.view().catalog().BatchSummaries()) {
    if (call.sight.has_rules()) {
      Result<catalog::BatchSummary> seen = SumBatch(call, batch.batch);
      if (!seen) return SendError(call, seen.error());
      if (seen->rows == 0) continue;
      batch = *seen;
    }
    json.BeginObject()
        .Member("batch", batch.batch)
        .Member("captures", batch.rows)
        .Member("first", FormatIsoMillis(batch.times.first))
        .Member("last", FormatIsoMillis(batch.times.last))
        .Member("bytes", batch.bytes)
        .EndObject();
  }
  SendJson(call, json.EndArray().EndObject().Take());
}

void SendBatchCaptures(const Call& call, std::string_view number) {
  const std::optional<std::uint64_t> batch = ParseDecimal(number);
  if (!batch || *batch > 999999) return SendNotFound(call, "This batch");
  const Result<std::uint64_t> limit = call.parameters.Number("limit", kApiLimit, kApiLimitMax);
  if (!limit) return SendError(call, limit.error());
  catalog::CaptureScan::Query query;
  query.batch = static_cast<std::uint32_t>(*batch);
  if (const auto resume = call.parameters.Get("resume")) {
    query.after = archive::ParseCaptureId(*resume);
    if (!query.after) return SendError(call, 400, "", "resume is none that an answer gave");
  }
  const bool pages = call.parameters.IsOn("pages");
  catalog::CaptureScan scan = call.sight.view().catalog().Scan(query);
  JsonWriter json;
  json.BeginObject().Name("captures").BeginArray();
  std::string resume;
  std::string last;
  for (std::uint64_t count = 0;;) {
    Result<const catalog::Capture*> row = scan.Next();
    if (!row) return SendError(call, row.error());
    if (*row == nullptr) break;
    if (pages && ((*row)->flags & catalog::kPage) == 0) continue;
    if (!call.sight.Shows(KeyOfCapture(**row), **row)) continue;
    if (count++ == *limit) {
      resume = last;
      break;
    }
    last = archive::FormatCaptureId((*row)->id);
    WriteCaptureObject(json, **row);
  }
  json.EndArray();
  if (!resume.empty()) json.Member("resume", resume);
  SendJson(call, json.EndObject().Take());
}

}  // namespace stele::access
