#include "archive/wacz_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "archive/capture_text.h"
#include "archive/index_line.h"
#include "formats/cdx/cdx.h"
#include "formats/url/surt.h"

namespace stele::archive {
namespace {

constexpr std::string_view kWarcName = "data.warc.gz";

std::string MomentOf(Timestamp time) {
  return time.milliseconds % 1000 == 0 ? FormatIso(time) : FormatIsoMillis(time);
}

// To the millisecond, or to the second where one of them says no more.
bool IsSameMoment(Timestamp a, Timestamp b) {
  const bool to_second = a.milliseconds % 1000 == 0 || b.milliseconds % 1000 == 0;
  return to_second ? FormatIso(a) == FormatIso(b) : a == b;
}

}  // namespace

WaczExport::WaczExport(const ArchiveView& view, const io::Clock& clock, std::string software)
    : view_(view), clock_(clock), software_(std::move(software)), resolver_(view) {}

Result<std::unique_ptr<WaczExport>> WaczExport::Begin(const ArchiveView& view,
                                                      const io::Clock& clock, io::Random& random,
                                                      const std::string& spool,
                                                      const WaczOptions& options) {
  std::unique_ptr<WaczExport> wacz(new WaczExport(view, clock, options.software));
  Result<std::unique_ptr<WaczSpool>> records = WaczSpool::Create(view.fs(), spool);
  if (!records) return records.error();
  wacz->spool_ = *std::move(records);
  ExportOptions writing;
  writing.keep_revisits = options.keep_revisits;
  writing.filename = kWarcName;
  Result<std::unique_ptr<WarcExport>> warc =
      WarcExport::Begin(view, clock, random, *wacz->spool_, writing);
  if (!warc) return warc.error();
  wacz->warc_ = *std::move(warc);
  return wacz;
}

Result<ExportedCapture> WaczExport::Add(const catalog::HeldCapture& capture) {
  Result<ExportedCapture> exported = warc_->Add(capture);
  if (!exported) return exported;
  catalog::Capture row = capture.row;
  if (!exported->is_revisit) row.flags &= ~static_cast<std::uint32_t>(catalog::kRevisit);
  const record::Extent& extent = exported->extent;
  const std::string key = row.key.empty() ? url::SurtKey(row.url) : std::string(row.key);
  const cdx::Capture line =
      IndexLineOf(row, key, {0, extent.offset, extent.length - extent.separator}, kWarcName);
  index_lines_.push_back(cdx::FormatCdxjLine(line) + '\n');
  if ((row.flags & catalog::kPage) != 0) AddPage(capture);
  return exported;
}

void WaczExport::AddPage(const catalog::HeldCapture& capture) {
  // Where the title cannot be had, the page is listed without one.
  std::string title;
  const bool is_revisit = (capture.row.flags & catalog::kRevisit) != 0;
  const Result<catalog::HeldCapture> original =
      is_revisit ? resolver_.Resolve(capture) : Result<catalog::HeldCapture>(capture);
  if (original) {
    Result<std::string> found = TitleOfCapture(view_, original->row);
    if (found) title = *std::move(found);
  }
  const catalog::Capture& row = capture.row;
  std::string page = "{";
  AppendJsonPair(page, "id", fmt::format("{}-{}", row.id.batch, row.id.serial));
  AppendJsonPair(page, "url", row.url);
  AppendJsonPair(page, "ts", MomentOf(row.time));
  if (!title.empty()) AppendJsonPair(page, "title", title);
  pages_[row.place.container].push_back({std::string(row.url), row.time, std::move(page)});
}

Status WaczExport::WritePagesOf(const WaczFile& wacz, std::vector<Page>& pages,
                                WaczSpool& spool) const {
  std::multimap<std::string, std::size_t> by_url;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const std::string& url = pages[i].url;
    by_url.emplace(url.substr(0, url.find('#')), i);
  }
  std::set<std::size_t> written;
  const Status read = wacz.ForEachPage([&](const WaczPage& listed) -> Status {
    if (listed.text.empty()) return {};
    const auto [begin, end] = by_url.equal_range(listed.url);
    for (auto at = begin; at != end; ++at) {
      Page& page = pages[at->second];
      if (!IsSameMoment(page.time, listed.time) || !written.insert(at->second).second) continue;
      AppendJsonPair(page.line, "text", listed.text);
      if (const Status put = spool.Write(page.line + "}\n"); !put) return put;
      page.line.clear();
    }
    return {};
  });
  if (!read) return read;
  std::erase_if(pages, [](const Page& page) { return page.line.empty(); });
  return {};
}

Status WaczExport::AddPages(WaczPackage& package) {
  Result<std::unique_ptr<WaczSpool>> spool =
      WaczSpool::Create(view_.fs(), spool_->path() + ".pages.part");
  if (!spool) return spool.error();
  if (const Status put = (*spool)->Write(kWaczPagesHead); !put) return put;
  for (auto& [container, pages] : pages_) {
    const Result<std::string> at = view_.PathOf(container);
    if (!at) return at.error();
    const Result<std::unique_ptr<WaczFile>> wacz = OpenWacz(view_.fs(), *at);
    if (wacz && *wacz != nullptr) {
      if (const Status put = WritePagesOf(**wacz, pages, **spool); !put) return put;
    }
    for (const Page& page : pages) {
      if (const Status put = (*spool)->Write(page.line + "}\n"); !put) return put;
    }
  }
  if (const Status closed = (*spool)->Close(); !closed) return closed;
  return package.Add("pages", "pages.jsonl", view_.fs(), **spool);
}

Status WaczExport::Finish(io::Sink& sink) {
  if (const Status closed = spool_->Close(); !closed) return closed;
  WaczPackage package(sink, clock_.Now());
  const Status added = package.Add("archive", kWarcName, view_.fs(), *spool_);
  if (!added) return added;
  if (const Status indexed = package.AddIndex(std::move(index_lines_)); !indexed) return indexed;
  if (const Status listed = AddPages(package); !listed) return listed;
  return package.Finish(view_.layout().config(), software_);
}

}  // namespace stele::archive
