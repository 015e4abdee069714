#include "archive/wacz_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "archive/container_scan.h"
#include "archive/index_line.h"
#include "formats/cdx/cdx.h"
#include "formats/url/surt.h"
#include "util/checksum.h"

namespace stele::archive {
namespace {

constexpr std::string_view kArchiveFolder = "archive";
constexpr std::string_view kPagesFolder = "pages";
constexpr std::string_view kPages = "pages.jsonl";
constexpr std::size_t kReadBytes = std::size_t{1} << 20;

std::string_view NameIn(std::string_view folder, std::string_view path) {
  return path.substr(folder.size() + 1);
}

// The places of a plan that are in a part, as the part itself counts them.
CutPlan PlanOf(const CutPlan& plan, const WaczFile::Part& part) {
  CutPlan own;
  own.origins = plan.origins;
  const auto is_inside = [&](std::uint64_t offset) {
    return part.begin <= offset && offset < part.end;
  };
  for (CutCapture capture : plan.captures) {
    if (!is_inside(capture.offset)) continue;
    capture.offset -= part.begin;
    own.captures.push_back(capture);
  }
  for (const CutRange& place : plan.companions) {
    if (!is_inside(place.begin)) continue;
    own.companions.push_back({place.begin - part.begin, place.end - part.begin});
  }
  return own;
}

Status CopyAll(io::Source& source, io::Sink& to) {
  std::string buffer(kReadBytes, '\0');
  for (;;) {
    const Result<std::size_t> read = source.Read(buffer);
    if (!read) return read.error();
    if (*read == 0) return {};
    const Status written = to.Write(std::string_view(buffer).substr(0, *read));
    if (!written) return written;
  }
}

}  // namespace

class WaczCut::Rows final : public ContainerRowsSink {
 public:
  // From now on they are in this file.
  void BeginFile(const std::string& name) { name_ = name; }

  Status Add(const ContainerCapture& capture) override {
    const catalog::Capture& row = capture.row;
    const std::string key = row.key.empty() ? url::SurtKey(row.url) : std::string(row.key);
    lines_.push_back(cdx::FormatCdxjLine(IndexLineOf(row, key, row.place, name_)) + '\n');
    moments_.Add(row.url.substr(0, row.url.find('#')), row.time);
    return {};
  }
  Status Add(const Companion&) override { return {}; }

  bool Has(const WaczPage& page) const { return moments_.Has(page.url, page.time); }
  std::vector<std::string> TakeLines() { return std::move(lines_); }

 private:
  std::string name_;
  std::vector<std::string> lines_;
  WaczPages moments_;
};

WaczCut::WaczCut(io::FileSystem& fs, const WaczFile& wacz, const CutPlan& plan,
                 WaczCutOptions options)
    : fs_(fs), wacz_(wacz), plan_(plan), options_(std::move(options)) {}

Result<std::unique_ptr<WaczCut>> WaczCut::Open(io::FileSystem& fs, const WaczFile& wacz,
                                               const CutPlan& plan, WaczCutOptions options) {
  std::unique_ptr<WaczCut> cut(new WaczCut(fs, wacz, plan, std::move(options)));
  for (const WaczFile::Part& part : wacz.parts()) {
    if (cut->options_.left_out.contains(part.name)) continue;
    if (!part.is_readable) {
      if (cut->unreadable_.empty()) cut->unreadable_ = part.name;
      continue;
    }
    if (const Status added = cut->AddPart(part); !added) return added.error();
  }
  if (const Status decided = RecordCut::Decide(cut->cuts_); !decided) return decided.error();
  return cut;
}

Status WaczCut::AddPart(const WaczFile::Part& part) {
  RecordCut::File file;
  file.name = part.name;
  file.size = part.end - part.begin;
  Result<std::unique_ptr<io::Source>> source = wacz_.ReadPart(part);
  if (!source) return source.error();
  if (!part.is_packed) {
    Result<std::unique_ptr<io::ReadableFile>> bytes = wacz_.OpenPart(part);
    if (!bytes) return bytes.error();
    file.bytes = *std::move(bytes);
  } else if (!options_.spool.empty()) {
    Result<std::unique_ptr<io::ReadableFile>> unpacked = Unpack(part.name, **source);
    if (!unpacked) return unpacked.error();
    file.bytes = *std::move(unpacked);
    Result<std::unique_ptr<io::ReadableFile>> again = fs_.OpenForReading(files_.back()->path());
    if (!again) return again.error();
    source = std::unique_ptr<io::Source>(std::make_unique<io::FileSource>(*std::move(again)));
  }
  auto records = archive_file::ArchiveFile::Open(*std::move(source), part.name);
  if (!records && records.error().code != ErrorCode::kInvalid) return records.error();
  if (records) file.records = *std::move(records);
  names_.emplace_back(NameIn(kArchiveFolder, part.name));
  plans_.push_back(std::make_unique<CutPlan>(PlanOf(plan_, part)));
  cuts_.push_back(std::make_unique<RecordCut>(std::move(file), *plans_.back()));
  return cuts_.back()->Survey();
}

Result<std::unique_ptr<io::ReadableFile>> WaczCut::Unpack(const std::string& name,
                                                          io::Source& source) {
  Result<std::unique_ptr<WaczSpool>> spool =
      WaczSpool::Create(fs_, fmt::format("{}.{}.unpacked.part", options_.spool, files_.size() + 1));
  if (!spool) return spool.error();
  files_.push_back(*std::move(spool));
  if (const Status copied = CopyAll(source, *files_.back()); !copied) {
    return Error{copied.error().code, fmt::format("{}: {}", name, copied.error().text)};
  }
  if (const Status closed = files_.back()->Close(); !closed) return closed.error();
  return fs_.OpenForReading(files_.back()->path());
}

bool WaczCut::LeavesSomething() const {
  return std::any_of(cuts_.begin(), cuts_.end(),
                     [](const std::unique_ptr<RecordCut>& cut) { return cut->LeavesSomething(); });
}

Status WaczCut::Write(const ArchiveConfig& config, std::string_view software, Timestamp now,
                      io::Sink& sink) {
  if (!unreadable_.empty()) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} in it is encrypted, or packed in a way that we cannot read, and "
                             "would be lost: unpack the archive files and import them, then take "
                             "down what this file has, and purge again",
                             unreadable_)};
  }
  WaczPackage package(sink, now);
  Rows rows;
  for (std::size_t i = 0; i < cuts_.size(); ++i) {
    if (const Status written = WritePart(i, package, rows); !written) return written;
  }
  if (const Status indexed = package.AddIndex(rows.TakeLines()); !indexed) return indexed;
  if (const Status listed = WritePages(rows, package); !listed) return listed;
  return package.Finish(config, software);
}

Status WaczCut::WritePart(std::size_t number, WaczPackage& package, Rows& rows) {
  Result<std::unique_ptr<WaczSpool>> spool = WaczSpool::Create(fs_, options_.spool);
  if (!spool) return spool.error();
  if (const Status copied = cuts_[number]->Copy(**spool); !copied) return copied;
  if (const Status closed = (*spool)->Close(); !closed) return closed;
  if ((*spool)->content().bytes == 0) return {};
  auto file = archive_file::ArchiveFile::Open(fs_, (*spool)->path());
  if (!file && file.error().code != ErrorCode::kInvalid) return file.error();
  if (file) {
    rows.BeginFile(names_[number]);
    ContainerSummary summary;
    const Status scanned = ScanContainer(**file, {}, rows, summary);
    if (!scanned) return scanned;
  }
  return package.Add(kArchiveFolder, names_[number], fs_, **spool);
}

// Lines that nobody can tell to be of a capture that stays might be of one that goes, where its
// URL does, or where a file that does not come along may have it.
Status WaczCut::WritePages(const Rows& rows, WaczPackage& package) {
  std::map<std::string, std::unique_ptr<WaczSpool>> lists;
  const auto list_of = [&](const std::string& name) -> Result<WaczSpool*> {
    std::unique_ptr<WaczSpool>& list = lists[name];
    if (list != nullptr) return list.get();
    Result<std::unique_ptr<WaczSpool>> spool =
        WaczSpool::Create(fs_, fmt::format("{}.{}.part", options_.spool, name));
    if (!spool) return spool.error();
    list = *std::move(spool);
    const Status begun = list->Write(kWaczPagesHead);
    return begun ? Result<WaczSpool*>(list.get()) : begun.error();
  };
  if (const Result<WaczSpool*> first = list_of(std::string(kPages)); !first) return first.error();
  const Status read = wacz_.ForEachPage([&](const WaczPage& page) -> Status {
    const bool may_be_gone =
        !options_.left_out.empty() || plan_.keys.contains(ChecksumOf(url::SurtKey(page.url)));
    if (may_be_gone && !rows.Has(page)) return {};
    const Result<WaczSpool*> list = list_of(std::string(NameIn(kPagesFolder, page.list)));
    if (!list) return list.error();
    return (*list)->Write(page.line + '\n');
  });
  if (!read) return read;
  for (const auto& [name, list] : lists) {
    if (const Status closed = list->Close(); !closed) return closed;
    if (const Status added = package.Add(kPagesFolder, name, fs_, *list); !added) return added;
  }
  return {};
}

}  // namespace stele::archive
