#include "archive/import.h"

#include <fmt/format.h>

#include <set>

#include "archive/container_scan.h"
#include "archive/durable_file.h"
#include "archive/tombstone.h"
#include "archive/wacz_file.h"
#include "formats/archive_file/archive_file.h"

namespace stele::archive {
namespace {

constexpr std::string_view kStandardInput = "-";

std::string NameOf(const std::string& path) {
  if (path == kStandardInput) return "stdin";
  return path.substr(path.rfind('/') + 1);
}

// The person knows the file by its own name.
Error NamedAs(const Error& error, const std::string& file, const std::string& path) {
  std::string text = error.text;
  if (const std::size_t at = text.find(file); at != std::string::npos) {
    text.replace(at, file.size(), path);
  }
  return Error{error.code, text};
}

Error NoRecordIn(const std::string& path, const ContainerSummary& summary) {
  if (summary.losses.empty()) return EmptyFile(path);
  return Error{ErrorCode::kInvalid,
               path + " is no WARC, ARC, Tianwang or WACZ file: no record in it can be read"};
}

// What the name of such a file ends with; empty where nobody could read it.
std::string EndingOf(io::FileSystem& fs, const std::string& file) {
  const Result<std::unique_ptr<WaczFile>> wacz = OpenWacz(fs, file);
  if (wacz && *wacz != nullptr) return ".wacz";
  const auto opened = archive_file::ArchiveFile::Open(fs, file);
  if (!opened) return "";
  const Result<const record::Record*> first = (*opened)->reader().Next();
  if (!first || *first == nullptr) return "";
  std::string ending = (*first)->format == record::Format::kWarc  ? ".warc"
                       : (*first)->format == record::Format::kArc ? ".arc"
                                                                  : ".tw";
  const record::Compression compression = (*opened)->reader().compression();
  if (compression == record::Compression::kGzip) ending += ".gz";
  if (compression == record::Compression::kZstd) ending += ".zst";
  return ending;
}

// One file on its way. What it wrote goes away with it, unless it was added.
class FileImport {
 public:
  FileImport(ArchiveWriter& archive, const ArchiveWriter::Place& place) : archive_(archive) {
    container_.number = place.number;
    container_.volume = place.volume;
  }
  ~FileImport() {
    if (!added_) archive_.Abandon({container_.number, container_.volume});
  }
  FileImport(const FileImport&) = delete;
  FileImport& operator=(const FileImport&) = delete;

  Result<ImportOutcome> Run(std::uint32_t run, const std::string& path,
                            const ImportOptions& options);

 private:
  // Fills sha256 and bytes; returns where the file is to be read from now on.
  Result<std::string> Fetch(const std::string& path, const ImportOptions& options);
  Result<std::string> CopyIn(io::Source& source, const ImportOptions& options);
  // What came through a pipe gets a name that says what it is. Returns where it is to be read then.
  Result<std::string> NameByContent(const std::string& file);
  // Says what a WACZ file is made of; of others there is nothing to say.
  Status Examine(const std::string& file, ImportOutcome& outcome);
  // Archive files in a WACZ file that are here, or are in it twice, are not listed again.
  void LeaveOutWhatIsHere();
  // Writes the rows, and says in the container what is in it.
  Result<ContainerSummary> Scan(const std::string& file, const ImportOptions& options);
  // Errors: kInvalid when the file, or what it was made from or holds, was here and went with what
  // was taken down of it.
  Status CheckNotPurged(const std::string& path) const;

  // Of captures that were here before, and were purged: another file may have them, too.
  void ComplainOfWhatIsBack(ImportOutcome& outcome) const;

  ArchiveWriter& archive_;
  Container container_;
  std::vector<WaczExamination::Part> parts_;  // of a WACZ file
  bool added_ = false;
};

Result<std::string> FileImport::Fetch(const std::string& path, const ImportOptions& options) {
  if (path == kStandardInput) {
    io::DescriptorSource source(0);
    return CopyIn(source, options);
  }
  if (options.in_place) {
    Result<FileFacts> facts = FactsOf(archive_.fs(), path, options.progress);
    if (!facts) return facts.error();
    container_.sha256 = facts->sha256;
    container_.bytes = facts->bytes;
    container_.path = path;
    return path;
  }
  Result<std::unique_ptr<io::ReadableFile>> file = archive_.fs().OpenForReading(path);
  if (!file) return file.error();
  io::FileSource source(std::move(*file));
  return CopyIn(source, options);
}

Result<std::string> FileImport::CopyIn(io::Source& source, const ImportOptions& options) {
  io::FileSystem& fs = archive_.fs();
  Result<std::string> path = archive_.layout().ContainerPath(container_);
  if (!path) return path.error();
  FileFacts copied;
  const Status written = WriteDurably(fs, PartPath(*path), [&](io::WritableFile& file) -> Status {
    Result<FileFacts> done = CopyTo(source, file, options.progress);
    if (!done) return done.error();
    copied = *done;
    return {};
  });
  if (!written) return written.error();
  container_.sha256 = copied.sha256;
  container_.bytes = copied.bytes;
  return PartPath(*path);
}

Result<std::string> FileImport::NameByContent(const std::string& file) {
  io::FileSystem& fs = archive_.fs();
  container_.name += EndingOf(fs, file);
  Result<std::string> path = archive_.layout().ContainerPath(container_);
  if (!path) return path.error();
  const std::string named = PartPath(*path);
  if (const Status renamed = fs.Rename(file, named); !renamed) return renamed.error();
  if (const Status synced = fs.SyncDirectory(io::ParentDirectory(named)); !synced) {
    return synced.error();
  }
  return named;
}

Status FileImport::CheckNotPurged(const std::string& path) const {
  std::vector<std::string> sha256s = container_.part_sha256s;
  sha256s.push_back(container_.sha256);
  sha256s.push_back(container_.origin_sha256);
  for (const std::string& sha256 : sha256s) {
    if (!archive_.WasPurged(sha256)) continue;
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} was here, and what was taken down of it was purged; --again "
                             "brings all of it back",
                             path)};
  }
  return {};
}

Status FileImport::Examine(const std::string& file, ImportOutcome& outcome) {
  Result<std::unique_ptr<WaczFile>> wacz = OpenWacz(archive_.fs(), file);
  if (!wacz) return wacz.error();
  if (*wacz == nullptr) return {};
  Result<WaczExamination> found = (*wacz)->Examine();
  if (!found) return found.error();
  outcome.complaints = std::move(found->complaints);
  parts_ = std::move(found->parts);
  for (const WaczExamination::Part& part : parts_) container_.part_sha256s.push_back(part.sha256);
  return {};
}

void FileImport::LeaveOutWhatIsHere() {
  container_.left_out.clear();
  std::set<std::string_view> earlier;  // in this file
  for (const WaczExamination::Part& part : parts_) {
    const bool is_first = earlier.insert(part.sha256).second;
    if (is_first && !archive_.FindBySha256(part.sha256)) continue;
    container_.left_out.push_back({part.sha256, part.name});
  }
}

Result<ContainerSummary> FileImport::Scan(const std::string& file, const ImportOptions& options) {
  Result<std::string> rows = archive_.layout().RowsPath(container_.volume, container_.number);
  if (!rows) return rows.error();
  ScanOptions scan;
  scan.left_out = container_.NamesLeftOut();
  std::uint64_t before = 0;
  if (options.progress) {
    scan.progress = [&](std::uint64_t position) {
      options.progress(position - before);
      before = position;
    };
  }
  Result<ContainerSummary> summary = WriteContainerRows(archive_.fs(), file, scan, *rows);
  if (!summary) return summary.error();
  container_.Describe(*summary);
  container_.batches.clear();
  for (const auto& [batch, count] : summary->batches) {
    container_.batches.push_back({.batch = batch, .base = 0, .count = count});
  }
  return summary;
}

void FileImport::ComplainOfWhatIsBack(ImportOutcome& outcome) const {
  const ArchiveView view = archive_.View();
  if (!view.holdings().has_tombstones()) return;
  std::uint64_t captures = 0;
  // What cannot be read is named by whoever reads it next.
  static_cast<void>(view.ForEachCapture(container_, [&](const ContainerCapture& capture) -> Status {
    const catalog::Capture& row = capture.row;
    if (view.holdings().HasTombstone({TombstoneOfUrlAndSecond(row.url, row.time)})) ++captures;
    return {};
  }));
  if (captures == 0) return;
  outcome.complaints.push_back(
      fmt::format("captures of URLs and times that were taken down here and purged: {}; stele rm "
                  "takes them down again",
                  captures));
}

Result<ImportOutcome> FileImport::Run(std::uint32_t run, const std::string& path,
                                      const ImportOptions& options) {
  container_.run = run;
  container_.name = NameOf(path);
  container_.origin_sha256 = options.origin_sha256;
  Result<std::string> file = Fetch(path, options);
  if (!file) return file.error();
  ImportOutcome outcome;
  if (const std::optional<Container> known = archive_.FindBySha256(container_.sha256)) {
    outcome.container = *known;
    return outcome;
  }
  if (path == kStandardInput) file = NameByContent(*file);
  if (!file) return file.error();
  if (const Status examined = Examine(*file, outcome); !examined) {
    return NamedAs(examined.error(), *file, path);
  }
  const Status may_come = options.again ? Status() : CheckNotPurged(path);
  if (!may_come) return may_come.error();
  // Again, where another thread brings a part of it meanwhile.
  for (;;) {
    if (const std::optional<Container> known = archive_.FindKnown(container_)) {
      outcome.container = *known;
      return outcome;
    }
    LeaveOutWhatIsHere();
    Result<ContainerSummary> summary = Scan(*file, options);
    if (!summary) return NamedAs(summary.error(), *file, path);
    if (summary->records == 0 && container_.left_out.empty()) return NoRecordIn(path, *summary);
    Result<bool> added = archive_.Add(container_);
    // After an error the ledger may have it: Open() will know what to do with it.
    added_ = !added || *added;
    if (!added) return added.error();
    if (!*added) continue;
    outcome.is_new = true;
    outcome.container = container_;
    outcome.summary = *std::move(summary);
    if (!options.again) ComplainOfWhatIsBack(outcome);
    return outcome;
  }
}

// As it is in the archive.
std::optional<Container> FindFile(ArchiveWriter& archive, const std::string& path,
                                  const ImportOptions& options) {
  const Result<FileFacts> facts = FactsOf(archive.fs(), path, options.progress);
  return facts ? archive.FindBySha256(facts->sha256) : std::nullopt;
}

}  // namespace

Error EmptyFile(const std::string& path) {
  return {ErrorCode::kInvalid,
          path + " is empty: there is no record in it; fetch it again, or leave it out"};
}

Result<ImportOutcome> ImportFile(ArchiveWriter& archive, std::uint32_t run, const std::string& path,
                                 const ImportOptions& options) {
  std::uint64_t bytes = 0;
  if (path != kStandardInput) {
    Result<std::unique_ptr<io::ReadableFile>> file = archive.fs().OpenForReading(path);
    if (!file) return file.error();
    Result<std::uint64_t> size = (*file)->Size();
    if (!size) return size.error();
    bytes = options.in_place ? 0 : *size;
  }
  Result<ArchiveWriter::Place> place = archive.Reserve(bytes);
  if (!place) {
    // What is here already needs no room.
    const bool is_full = place.error().code == ErrorCode::kFull && path != kStandardInput;
    std::optional<Container> known = is_full ? FindFile(archive, path, options) : std::nullopt;
    if (!known) return place.error();
    ImportOutcome outcome;
    outcome.container = *std::move(known);
    return outcome;
  }
  return FileImport(archive, *place).Run(run, path, options);
}

}  // namespace stele::archive
