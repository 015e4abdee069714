#include "cli/archive_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "archive/moment.h"
#include "cli/url_selection.h"
#include "formats/cdx/capture_rules.h"
#include "formats/url/surt.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

// Where captures of a URL may be filed whose requests had a body, or another method than GET: among
// the keys of its path, with arguments of which none is greater than the first of these.
catalog::KeyRange OtherMethodsOf(const std::string& url) {
  constexpr char kAfterAll = '\x7F';
  const std::string key = url::SurtKey(url);
  const std::size_t query = std::min(key.find('?'), key.size());
  const std::string path = key.substr(0, query) + '?';
  std::string first = "__wb_method=";
  if (query < key.size()) first = std::min(first, key.substr(query + 1, key.find('&') - query - 1));
  return {path.substr(0, catalog::kLocationKeyKept),
          (path + first).substr(0, catalog::kLocationKeyKept) + kAfterAll};
}

// Also finds captures of these URLs by requests that had a body, whose keys are others.
void AddOtherMethods(const std::vector<std::string>& urls, archive::CaptureQuery& query) {
  if (urls.empty()) return;
  const catalog::Selection asked = query.where.what;
  std::vector<catalog::KeyRange> ranges = asked.ranges;
  for (const std::string& url : urls) ranges.push_back(OtherMethodsOf(url));
  query.where.what = Union(std::move(ranges));
  query.shows = [asked](std::string_view key, const catalog::Capture& row) {
    return asked.Has(key) ||
           (!row.key.empty() && asked.Has(catalog::LocationKey(url::SurtKey(row.url))));
  };
}

Result<archive::Moments> MomentsOption(std::string_view option, const std::string& text) {
  const std::optional<archive::Moments> moments = archive::MomentsOf(text);
  if (moments) return *moments;
  return Error{ErrorCode::kInvalid,
               fmt::format("{} {} is no time like 20140126 or 2014-01-26T20:06:24Z", option, text)};
}

Status FillTimes(const Arguments& arguments, catalog::LocationQuery& query) {
  if (const auto text = arguments.Get("--from")) {
    Result<archive::Moments> moments = MomentsOption("--from", *text);
    if (!moments) return moments.error();
    query.from = moments->first;
  }
  if (const auto text = arguments.Get("--to")) {
    Result<archive::Moments> moments = MomentsOption("--to", *text);
    if (!moments) return moments.error();
    query.to = moments->last;
  }
  if (query.from > query.to) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("--from {} is later than --to {}", *arguments.Get("--from"),
                             *arguments.Get("--to"))};
  }
  if (const auto text = arguments.Get("--at")) {
    if (arguments.Has("--from") || arguments.Has("--to")) {
      return Error{ErrorCode::kInvalid, "--at is one moment; leave out --from and --to"};
    }
    Result<archive::Moments> moments = MomentsOption("--at", *text);
    if (!moments) return moments.error();
    query.from = moments->last;
    query.pick = catalog::LocationQuery::Pick::kBefore;
  }
  return {};
}

}  // namespace

Result<std::vector<std::uint32_t>> RunsOption(const Arguments& arguments) {
  std::vector<std::uint32_t> runs;
  for (const std::string& text : arguments.GetAll("--run")) {
    const std::optional<std::uint64_t> number = ParseDecimal(text);
    if (!number || *number > std::numeric_limits<std::uint32_t>::max()) {
      return Error{ErrorCode::kInvalid, fmt::format("--run {} is no number", text)};
    }
    runs.push_back(static_cast<std::uint32_t>(*number));
  }
  return runs;
}

std::optional<std::uint32_t> BatchIn(std::string_view text) {
  constexpr std::uint64_t kBatchMax = 999912;
  const std::optional<std::uint64_t> number = ParseDecimal(text);
  if (!number || *number > kBatchMax || *number % 100 < 1 || *number % 100 > 12) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(*number);
}

Result<std::vector<std::uint32_t>> BatchesOption(const Arguments& arguments) {
  std::vector<std::uint32_t> batches;
  for (const std::string& text : arguments.GetAll("--batch")) {
    const std::optional<std::uint32_t> batch = BatchIn(text);
    if (!batch) {
      return Error{ErrorCode::kInvalid, fmt::format("--batch {} is no month like 200405", text)};
    }
    batches.push_back(*batch);
  }
  return batches;
}

Status CheckNamed(const archive::CaptureQuery& query, const archive::ArchiveView& view) {
  for (const std::uint32_t run : query.runs) {
    if (view.holdings().runs().contains(run)) continue;
    return Error{ErrorCode::kInvalid,
                 fmt::format("there is no run {}; stele info lists the runs", run)};
  }
  for (const catalog::CaptureId& id : query.ids) {
    const Result<catalog::HeldCapture> held = view.catalog().Get(id);
    if (held) continue;
    if (held.error().code != ErrorCode::kNotFound) return held.error();
    return Error{ErrorCode::kNotFound,
                 fmt::format("there is no capture {}", archive::FormatCaptureId(id))};
  }
  return {};
}

std::string NoteOf(const Arguments& arguments) {
  std::string note = fmt::format("{}", fmt::join(arguments.positionals, " "));
  for (const auto& [name, values] : arguments.values) {
    if (name == "--archive" || name == "--reason" || name == "--quiet" || name == "--json")
      continue;
    if (values.empty()) note += fmt::format("{}{}", note.empty() ? "" : " ", name);
    for (const std::string& value : values) {
      note += fmt::format("{}{} {}", note.empty() ? "" : " ", name, value);
    }
  }
  return note;
}

ExitCode Fail(Context& context, const Error& error) {
  Complain(context, error.text);
  return error.code == ErrorCode::kInvalid ? ExitCode::kUsage : ExitCode::kFailed;
}

std::string ArchiveDirectory(const Arguments& arguments) {
  if (const auto directory = arguments.Get("--archive")) return *directory;
  const char* directory = std::getenv("STELE_ARCHIVE");
  return directory != nullptr && *directory != '\0' ? directory : ".";
}

std::vector<Option> WithArchiveOption(std::vector<Option> options) {
  options.push_back({"--archive", "DIR", "The archive; else $STELE_ARCHIVE is taken", "."});
  return options;
}

namespace {

// What is not listed, because it could not be read when the catalog was made.
void ComplainOfLacks(archive::ArchiveReader& reader, Context& context) {
  const archive::ArchiveView view = reader.View();
  for (const std::uint32_t number : reader.applied().lacks) {
    const archive::Container* container = view.holdings().Find(number);
    if (container == nullptr) continue;
    Complain(context, fmt::format("the captures of container {} ({}) are not listed: it could not "
                                  "be read; bring it back, then run stele reindex",
                                  number, container->name));
  }
}

}  // namespace

std::unique_ptr<archive::ArchiveReader> OpenArchive(const Arguments& arguments, Context& context,
                                                    ExitCode& code) {
  auto reader = archive::ArchiveReader::Open(context.fs, ArchiveDirectory(arguments));
  if (reader) {
    ComplainOfLacks(**reader, context);
    return std::move(*reader);
  }
  code = Fail(context, reader.error());
  return nullptr;
}

void ComplainOfDelivery(archive::ArchiveWriter& writer, Context& context) {
  if (const std::optional<Error> failure = writer.delivery_failure()) {
    Complain(context,
             fmt::format("files wait for their volume, or to be deleted there: {}", failure->text));
  }
}

std::unique_ptr<archive::ArchiveWriter> OpenArchiveToWrite(const std::string& directory,
                                                           std::string_view command,
                                                           Context& context, ExitCode& code,
                                                           archive::ArchiveWriter::Rebuild rebuild,
                                                           std::optional<std::uint32_t> batch) {
  char host[256] = "";
  static_cast<void>(::gethostname(host, sizeof host - 1));
  auto writer = archive::ArchiveWriter::Open(
      {context.fs, context.clock, context.random,
       fmt::format("stele {}, process {} on {}", command, ::getpid(), host)},
      directory, rebuild, batch);
  if (writer) {
    for (const Error& failure : (*writer)->ledger_failures()) Complain(context, failure.text);
    for (const auto& [number, failure] : (*writer)->index_failures()) {
      Complain(context, failure.text);
    }
    ComplainOfDelivery(**writer, context);
    return std::move(*writer);
  }
  code = Fail(context, writer.error());
  return nullptr;
}

std::vector<Option> WithCaptureOptions(std::vector<Option> options) {
  options = WithUrlOptions(std::move(options));
  const std::vector<Option> selection = {
      {"--from", "TIME", "Not before: 2014, 20140126200624, 2014-01-26T20:06:24Z"},
      {"--to", "TIME", "Not after; 2014 includes the whole year"},
      {"--at", "TIME", "Each URL as it was then: its last capture at or before that time"},
      {"--alive", "", "With --from and --to: also what was captured before and still shown then"},
      Repeatable({"--run", "N", "Captured by this crawl or import"}),
      Repeatable({"--batch", "MONTH", "Captured in this month: 200405"}),
      Repeatable({"--id", "ID", "This capture, as stele ls --json names it: 200405/17"}),
      Repeatable({"--mime", "TYPE", "Only this media type: text/html, image/*"}),
      Repeatable({"--status", "CODE", "Only this HTTP status: 200, 4xx"}),
      {"--pages", "", "Only what people call pages, without pictures, scripts and the like"}};
  options.insert(options.end(), selection.begin(), selection.end());
  return options;
}

Result<archive::CaptureQuery> CaptureQueryOf(const Arguments& arguments,
                                             const std::vector<std::string>& urls) {
  archive::CaptureQuery query;
  Result<catalog::Selection> what = UrlsOf(arguments, urls);
  if (!what) return what.error();
  query.where.what = *std::move(what);
  AddOtherMethods(urls, query);
  if (const Status filled = FillTimes(arguments, query.where); !filled) return filled.error();
  Result<std::vector<std::uint32_t>> runs = RunsOption(arguments);
  if (!runs) return runs.error();
  query.runs = *std::move(runs);
  Result<std::vector<std::uint32_t>> batches = BatchesOption(arguments);
  if (!batches) return batches.error();
  query.batches = *std::move(batches);
  for (const std::string& text : arguments.GetAll("--id")) {
    const std::optional<catalog::CaptureId> id = archive::ParseCaptureId(text);
    if (!id) return WrongValue("--id", text, "a batch and a number such as 200405/17");
    query.ids.push_back(*id);
  }
  for (const std::string& type : arguments.GetAll("--mime")) {
    query.types.push_back(AsciiLower(type));
  }
  query.statuses = arguments.GetAll("--status");
  for (const std::string& status : query.statuses) {
    if (!cdx::IsStatusPattern(status)) {
      return Error{ErrorCode::kInvalid, fmt::format("--status {} is not like 404 or 4xx", status)};
    }
  }
  query.pages_only = arguments.Has("--pages");
  query.alive = arguments.Has("--alive");
  return query;
}

}  // namespace stele::cli
