#include "archive/wacz_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "archive/capture_text.h"
#include "archive/index_line.h"
#include "codec/crc32.h"
#include "codec/gzip_codec.h"
#include "formats/cdx/cdx.h"
#include "formats/url/surt.h"
#include "formats/zip/zip_writer.h"
#include "util/digest.h"
#include "util/json.h"

namespace stele::archive {
namespace {

constexpr std::string_view kWarcName = "data.warc.gz";
constexpr std::string_view kPagesHead =
    "{\"format\": \"json-pages-1.0\", \"id\": \"pages\", \"title\": \"All Pages\"}\n";
// Lines of the index that are compressed together, as other writers do.
constexpr std::size_t kLinesInBlock = 3000;
constexpr int kIndexLevel = 6;
constexpr std::size_t kReadBytes = std::size_t{1} << 20;

std::string MomentOf(Timestamp time) {
  return time.milliseconds % 1000 == 0 ? FormatIso(time) : FormatIsoMillis(time);
}

// To the millisecond, or to the second where one of them says no more.
bool IsSameMoment(Timestamp a, Timestamp b) {
  const bool to_second = a.milliseconds % 1000 == 0 || b.milliseconds % 1000 == 0;
  return to_second ? FormatIso(a) == FormatIso(b) : a == b;
}

class FileRemover {
 public:
  FileRemover(io::FileSystem& fs, std::string path) : fs_(fs), path_(std::move(path)) {}
  ~FileRemover() { static_cast<void>(fs_.Remove(path_)); }
  FileRemover(const FileRemover&) = delete;
  FileRemover& operator=(const FileRemover&) = delete;

 private:
  io::FileSystem& fs_;
  const std::string path_;
};

void AppendPair(std::string& out, std::string_view name, std::string_view value) {
  if (out.back() != '{') out += ", ";
  AppendJsonString(out, name);
  out += ": ";
  AppendJsonString(out, value);
}

}  // namespace

// A file that knows what is in it.
class WaczExport::Spool final : public io::Sink {
 public:
  explicit Spool(std::unique_ptr<io::WritableFile> file) : file_(std::move(file)) {}

  Status Write(std::string_view bytes) override {
    hasher_.Update(bytes);
    content_.crc32 = codec::Crc32(content_.crc32, bytes);
    content_.bytes += bytes.size();
    return file_->Append(bytes);
  }
  // Afterwards the file can be read.
  Status Close() {
    digest_ = hasher_.Finish().Labelled();
    return file_->Close();
  }
  const zip::ZipWriter::Content& content() const { return content_; }
  const std::string& digest() const { return digest_; }

 private:
  std::unique_ptr<io::WritableFile> file_;
  Hasher hasher_{DigestAlgorithm::kSha256};
  zip::ZipWriter::Content content_;
  std::string digest_;
};

// The ZIP file, and the list of what is in it.
class WaczExport::Package {
 public:
  Package(io::Sink& sink, Timestamp time) : zip_(sink, {.time = time}) {}

  Status Add(std::string_view folder, std::string_view name, std::string_view bytes) {
    List(folder, name, DigestOf(DigestAlgorithm::kSha256, bytes).Labelled(), bytes.size());
    return zip_.Add(fmt::format("{}/{}", folder, name), bytes);
  }
  void List(std::string_view folder, std::string_view name, std::string_view digest,
            std::uint64_t bytes) {
    if (!resources_.empty()) resources_ += ", ";
    resources_ +=
        fmt::format("{{\"name\": \"{}\", \"path\": \"{}/{}\", \"hash\": \"{}\", \"bytes\": {}}}",
                    name, folder, name, digest, bytes);
  }
  zip::ZipWriter& zip() { return zip_; }

  // `about` is a JSON object without its end.
  Status Finish(std::string about) {
    about += fmt::format(", \"resources\": [{}]}}\n", resources_);
    std::string seal = "{";
    AppendPair(seal, "path", "datapackage.json");
    AppendPair(seal, "hash", DigestOf(DigestAlgorithm::kSha256, about).Labelled());
    seal += "}\n";
    if (const Status added = zip_.Add("datapackage.json", about); !added) return added;
    if (const Status added = zip_.Add("datapackage-digest.json", seal); !added) return added;
    return zip_.Finish();
  }

 private:
  zip::ZipWriter zip_;
  std::string resources_;
};

WaczExport::WaczExport(const ArchiveView& view, const io::Clock& clock, std::string spool_path,
                       std::string software)
    : view_(view),
      clock_(clock),
      spool_path_(std::move(spool_path)),
      software_(std::move(software)),
      resolver_(view) {}

WaczExport::~WaczExport() {
  if (spool_ != nullptr) static_cast<void>(view_.fs().Remove(spool_path_));
}

Result<std::unique_ptr<WaczExport>> WaczExport::Begin(const ArchiveView& view,
                                                      const io::Clock& clock, io::Random& random,
                                                      const std::string& spool,
                                                      const WaczOptions& options) {
  std::unique_ptr<WaczExport> wacz(new WaczExport(view, clock, spool, options.software));
  Result<std::unique_ptr<io::WritableFile>> file = view.fs().Create(spool);
  if (!file) return file.error();
  wacz->spool_ = std::make_unique<Spool>(*std::move(file));
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
  if ((row.flags & catalog::kPage) != 0) {
    if (const Status added = AddPage(capture); !added) return added.error();
  }
  return exported;
}

Status WaczExport::AddPage(const catalog::HeldCapture& capture) {
  // Where the title cannot be had, the page is listed without one.
  std::string title;
  const bool is_revisit = (capture.row.flags & catalog::kRevisit) != 0;
  const Result<catalog::HeldCapture> original =
      is_revisit ? resolver_.Resolve(capture) : Result<catalog::HeldCapture>(capture);
  if (!original && original.error().code == ErrorCode::kIo) return original.error();
  if (original) {
    Result<std::string> found = TitleOfCapture(view_, original->row);
    if (!found && found.error().code == ErrorCode::kIo) return found.error();
    if (found) title = *std::move(found);
  }
  const catalog::Capture& row = capture.row;
  std::string page = "{";
  AppendPair(page, "id", fmt::format("{}-{}", row.id.batch, row.id.serial));
  AppendPair(page, "url", row.url);
  AppendPair(page, "ts", MomentOf(row.time));
  if (!title.empty()) AppendPair(page, "title", title);
  pages_[row.place.container].push_back({std::string(row.url), row.time, std::move(page)});
  return {};
}

Status WaczExport::WritePagesOf(const WaczFile& wacz, std::vector<Page>& pages,
                                Spool& spool) const {
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
      AppendPair(page.line, "text", listed.text);
      if (const Status put = spool.Write(page.line + "}\n"); !put) return put;
      page.line.clear();
    }
    return {};
  });
  if (!read) return read;
  std::erase_if(pages, [](const Page& page) { return page.line.empty(); });
  return {};
}

Status WaczExport::AddPages(Package& package) {
  const std::string path = spool_path_ + ".pages.part";
  Result<std::unique_ptr<io::WritableFile>> file = view_.fs().Create(path);
  if (!file) return file.error();
  const FileRemover remover(view_.fs(), path);
  Spool spool(*std::move(file));
  if (const Status put = spool.Write(kPagesHead); !put) return put;
  for (auto& [container, pages] : pages_) {
    const Result<std::string> at = view_.PathOf(container);
    if (!at) return at.error();
    const Result<std::unique_ptr<WaczFile>> wacz = OpenWacz(view_.fs(), *at);
    if (!wacz && wacz.error().code == ErrorCode::kIo) return wacz.error();
    if (wacz && *wacz != nullptr) {
      if (const Status put = WritePagesOf(**wacz, pages, spool); !put) return put;
    }
    for (const Page& page : pages) {
      if (const Status put = spool.Write(page.line + "}\n"); !put) return put;
    }
  }
  if (const Status closed = spool.Close(); !closed) return closed;
  return AddSpool(package, "pages", "pages.jsonl", spool, path);
}

Status WaczExport::Finish(io::Sink& sink) {
  if (const Status closed = spool_->Close(); !closed) return closed;
  const Timestamp now = clock_.Now();
  Package package(sink, now);
  const Status added = AddSpool(package, "archive", kWarcName, *spool_, spool_path_);
  if (!added) return added;
  if (const Status indexed = AddIndex(package); !indexed) return indexed;
  if (const Status listed = AddPages(package); !listed) return listed;
  std::string about = "{";
  AppendPair(about, "profile", "data-package");
  AppendPair(about, "wacz_version", "1.1.1");
  AppendPair(about, "software", software_);
  AppendPair(about, "created", FormatIso(now));
  AppendPair(about, "modified", FormatIso(now));
  const ArchiveConfig& config = view_.layout().config();
  for (const auto& [name, value] :
       {std::pair("title", config.title), std::pair("description", config.description),
        std::pair("creator", config.creator), std::pair("rights", config.rights),
        std::pair("contact", config.contact), std::pair("language", config.language)}) {
    if (!value.empty()) AppendPair(about, name, value);
  }
  return package.Finish(std::move(about));
}

Status WaczExport::AddSpool(Package& package, std::string_view folder, std::string_view name,
                            const Spool& spool, const std::string& path) const {
  package.List(folder, name, spool.digest(), spool.content().bytes);
  const Status begun = package.zip().Begin(fmt::format("{}/{}", folder, name), spool.content());
  if (!begun) return begun;
  Result<std::unique_ptr<io::ReadableFile>> file = view_.fs().OpenForReading(path);
  if (!file) return file.error();
  io::FileSource source(*std::move(file));
  std::string buffer(kReadBytes, '\0');
  for (;;) {
    const Result<std::size_t> read = source.Read(buffer);
    if (!read) return read.error();
    if (*read == 0) return {};
    const Status written = package.zip().Append(std::string_view(buffer).substr(0, *read));
    if (!written) return written;
  }
}

// Blocks of lines, each compressed alone, and a list of their first lines: a reader on the other
// end of a network gets the blocks that it needs.
Status WaczExport::AddIndex(Package& package) {
  std::sort(index_lines_.begin(), index_lines_.end());
  const codec::GzipCodec gzip;
  std::string blocks;
  std::string list = "!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"index.cdx.gz\"}\n";
  for (std::size_t at = 0; at < index_lines_.size(); at += kLinesInBlock) {
    std::string lines;
    for (std::size_t i = at; i < std::min(at + kLinesInBlock, index_lines_.size()); ++i) {
      lines += index_lines_[i];
    }
    Result<std::string> packed = gzip.Compress(lines, kIndexLevel);
    if (!packed) return packed.error();
    list += fmt::format("{}{{\"offset\": {}, \"length\": {}, \"digest\": \"{}\"}}\n",
                        lines.substr(0, lines.find('{')), blocks.size(), packed->size(),
                        DigestOf(DigestAlgorithm::kSha256, *packed).Labelled());
    blocks += *packed;
  }
  if (const Status added = package.Add("indexes", "index.cdx.gz", blocks); !added) return added;
  return package.Add("indexes", "index.idx", list);
}

}  // namespace stele::archive
