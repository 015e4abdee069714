#include "access/downloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "access/capture_content.h"
#include "access/wayback_path.h"
#include "archive/moment.h"
#include "archive/wacz_export.h"
#include "archive/warc_export.h"
#include "formats/cdx/capture_rules.h"
#include "io/random.h"
#include "util/ascii.h"

namespace stele::access {
namespace {

using catalog::HeldCapture;

constexpr std::uint64_t kCapturesMax = 1'000'000;
constexpr std::uint64_t kNumberMax = std::numeric_limits<std::uint32_t>::max();

Result<catalog::Selection> UrlsOf(const Parameters& parameters) {
  if (const auto url = parameters.Get("url")) return catalog::SelectUrl(AbsoluteUrl(*url));
  if (const auto prefix = parameters.Get("prefix")) {
    return catalog::SelectPrefix(archive::PrefixKey(AbsoluteUrl(*prefix)));
  }
  if (const auto host = parameters.Get("host")) return catalog::SelectHost(*host);
  if (const auto domain = parameters.Get("domain")) return catalog::SelectDomain(*domain);
  return catalog::SelectAll();
}

// What the client may take away. `kept` tells whether there was more that it may only look at.
Result<std::vector<HeldCapture>> Choose(const Call& call, bool& kept) {
  Result<archive::CaptureQuery> query = SelectionOf(call.parameters);
  if (!query) return query.error();
  SeenCaptures captures(call.sight, *std::move(query));
  std::vector<HeldCapture> chosen;
  for (;;) {
    Result<const HeldCapture*> held = captures.Next();
    if (!held) return held.error();
    if (*held == nullptr) break;
    if (!call.sight.GivesWhole(captures.key(), **held)) {
      kept = true;
      continue;
    }
    if (chosen.size() >= kCapturesMax) {
      return Error{ErrorCode::kFull,
                   fmt::format("these are more than {} captures; choose fewer, or "
                               "use stele export",
                               kCapturesMax)};
    }
    chosen.push_back(**held);
  }
  if (chosen.empty()) return Error{ErrorCode::kNotFound, "There is no such capture."};
  // As files are read best.
  std::sort(chosen.begin(), chosen.end(), [](const HeldCapture& a, const HeldCapture& b) {
    return std::pair(a.row.place.container, a.row.place.offset) <
           std::pair(b.row.place.container, b.row.place.offset);
  });
  return chosen;
}

// Nothing after an answer.
std::optional<std::vector<HeldCapture>> Chosen(const Call& call) {
  bool kept = false;
  Result<std::vector<HeldCapture>> chosen = Choose(call, kept);
  if (chosen) return *std::move(chosen);
  if (kept && chosen.error().code == ErrorCode::kNotFound) {
    SendKept(call);
  } else {
    SendError(call, chosen.error());
  }
  return std::nullopt;
}

net::ResponseStart DownloadStart(std::string_view type, std::string_view name) {
  net::ResponseStart start = StartOf(200, type);
  start.fields.push_back({"Content-Disposition", fmt::format("attachment; filename=\"{}\"", name)});
  return start;
}

// Adds all; what is damaged is left out. False: the client has gone, or nothing more can be
// written.
template <typename Export>
bool AddAll(Export& out, const std::vector<HeldCapture>& chosen) {
  for (const HeldCapture& capture : chosen) {
    const auto added = out.Add(capture);
    if (added) continue;
    const ErrorCode code = added.error().code;
    if (code != ErrorCode::kCorrupt && code != ErrorCode::kNotFound) return false;
  }
  return true;
}

// Whether the bytes of a record hold nothing of others, which may be hidden.
bool IsAlone(const Sight& sight, const catalog::Capture& row) {
  if (!sight.has_rules() && sight.view().holdings().removals().empty()) return true;
  const auto record = sight.view().Open(row);
  if (!record) return false;
  const Result<bool> alone = (*record)->IsAlone();
  return alone && *alone;
}

}  // namespace

Result<archive::CaptureQuery> SelectionOf(const Parameters& parameters) {
  archive::CaptureQuery query;
  Result<catalog::Selection> what = UrlsOf(parameters);
  if (!what) return what.error();
  query.where.what = *std::move(what);
  for (const std::string_view name : {"from", "to"}) {
    const std::string_view text = parameters.Get(name).value_or("");
    if (text.empty()) continue;
    const std::optional<archive::Moments> moments = archive::MomentsOf(text);
    if (!moments) {
      return Error{ErrorCode::kInvalid, fmt::format("{} is no time like 20140126", name)};
    }
    if (name == "from") query.where.from = moments->first;
    if (name == "to") query.where.to = moments->last;
  }
  for (const auto& [name, numbers] :
       {std::pair("run", &query.runs), std::pair("batch", &query.batches)}) {
    if (!parameters.Get(name)) continue;
    const Result<std::uint64_t> value = parameters.Number(name, 0, kNumberMax);
    if (!value) return value.error();
    *numbers = {static_cast<std::uint32_t>(*value)};
  }
  for (const std::string_view type : parameters.GetAll("mime")) {
    query.types.push_back(AsciiLower(type));
  }
  for (const std::string_view status : parameters.GetAll("status")) {
    if (!cdx::IsStatusPattern(status)) {
      return Error{ErrorCode::kInvalid, "status is not like 404 or 4xx"};
    }
    query.statuses.emplace_back(status);
  }
  query.pages_only = parameters.IsOn("pages");
  return query;
}

void SendRecord(const Call& call, std::string_view rest) {
  const std::optional<catalog::CaptureId> id = archive::ParseCaptureId(rest);
  if (!id) return SendNotFound(call, "This record");
  Result<HeldCapture> held = call.sight.view().catalog().Get(*id);
  const bool seen = held && call.sight.Shows(KeyOfCapture(held->row), held->row);
  if (!seen) return SendNotFound(call, "This record");
  if (!call.sight.Gives(KeyOfCapture(held->row), held->row)) return SendKept(call);
  if (!IsAlone(call.sight, held->row)) {
    return SendError(call, 403, "Not to be downloaded",
                     "The file has other records in the same bytes, which may be hidden. Ask for "
                     "export.warc.gz instead.");
  }
  const archive::ArchiveView& view = call.sight.view();
  const Result<std::string> path = view.PathOf(held->row.place.container);
  const auto open = [&](std::uint64_t length) {
    return path ? archive::OpenBytes(view.fs(), *path, held->row.place.offset, length)
                : Result<std::unique_ptr<io::Source>>(path.error());
  };
  auto magic = open(1);
  char first = 0;
  const Result<std::size_t> begin =
      magic ? (*magic)->Read({&first, 1}) : Result<std::size_t>(magic.error());
  auto source =
      begin ? open(held->row.place.length) : Result<std::unique_ptr<io::Source>>(begin.error());
  if (!source) return SendError(call, Unreadable(*call.sight.snapshot(), *held, source.error()));
  const bool gzip = first == '\x1F';
  net::ResponseStart start = DownloadStart(
      "application/warc", fmt::format("{}-{}.warc{}", id->batch, id->serial, gzip ? ".gz" : ""));
  start.length = held->row.place.length;
  static_cast<void>(call.response.SendFrom(start, *std::move(source)));
}

void SendWarc(const Call& call, const io::Clock& clock) {
  const std::optional<std::vector<HeldCapture>> chosen = Chosen(call);
  if (!chosen) return;
  const net::ResponseStart start = DownloadStart("application/warc", "selection.warc.gz");
  if (!call.response.Start(start) || call.is_head()) return;
  io::SystemRandom random;
  archive::ExportOptions options;
  options.filename = "selection.warc.gz";
  auto warc = archive::WarcExport::Begin(call.sight.view(), clock, random, call.response, options);
  if (!warc || !AddAll(**warc, *chosen)) call.response.Abandon();
}

void SendWacz(const Call& call, const io::Clock& clock, const std::string& spool_directory) {
  const std::optional<std::vector<HeldCapture>> chosen = Chosen(call);
  if (!chosen) return;
  const net::ResponseStart start = DownloadStart("application/wacz", "selection.wacz");
  if (call.is_head()) {
    static_cast<void>(call.response.Start(start));
    return;
  }
  io::SystemRandom random;
  const std::string spool =
      fmt::format("{}/stele-{}.warc.gz.part", spool_directory, io::NewUuid(random));
  auto wacz = archive::WaczExport::Begin(call.sight.view(), clock, random, spool,
                                         {.keep_revisits = false, .software = "Stele"});
  if (!wacz) return SendError(call, wacz.error());
  if (!AddAll(**wacz, *chosen)) {
    return SendError(call, 502, "The archive is damaged here", "The file could not be made.");
  }
  if (!call.response.Start(start)) return;
  if (!(*wacz)->Finish(call.response)) call.response.Abandon();
}

}  // namespace stele::access
