#include "archive/growing_container.h"

#include <fmt/format.h>

#include "archive/container_scan.h"
#include "archive/warcinfo_text.h"
#include "formats/archive_file/archive_file.h"
#include "formats/warc/warc_writer.h"
#include "util/check.h"

namespace stele::archive {

Status FoundRows::Add(const ContainerCapture& capture) {
  const catalog::Capture& row = capture.row;
  auto text = std::make_unique<std::string>();
  text->reserve(row.url.size() + row.type.size() + row.key.size());
  *text = row.url;
  *text += row.type;
  *text += row.key;
  captures.push_back(capture);
  std::string_view rest = *text;
  for (std::string_view* part :
       {&captures.back().row.url, &captures.back().row.type, &captures.back().row.key}) {
    const std::size_t size = part->size();
    *part = rest.substr(0, size);
    rest.remove_prefix(size);
  }
  texts_.push_back(std::move(text));
  return {};
}

Status FoundRows::Add(const Companion& companion) {
  companions.push_back(companion);
  return {};
}

GrowingContainer::GrowingContainer(ArchiveWriter& archive, Container container)
    : archive_(archive), container_(std::move(container)) {}

Result<std::unique_ptr<GrowingContainer>> GrowingContainer::Begin(
    ArchiveWriter& archive, std::uint32_t run, const std::string& name, std::uint32_t batch,
    const std::string& warcinfo, const std::string& record_id, std::uint64_t bytes) {
  Result<ArchiveWriter::Place> place = archive.Reserve(bytes);
  if (!place) return place.error();
  Result<Container> container = archive.BeginContainer(*place, run, name, batch);
  if (!container) return container.error();
  std::unique_ptr<GrowingContainer> growing(new GrowingContainer(archive, *std::move(container)));
  if (const Status made = growing->Create(warcinfo, record_id); !made) return made.error();
  return growing;
}

Result<bool> GrowingContainer::HasRoomFor(std::uint64_t bytes) {
  constexpr std::uint64_t kRoomEvery = std::uint64_t{1} << 20;
  if (bytes_ + bytes <= room_until_) return true;
  const Result<bool> has_room = archive_.HasRoom(container_.volume, bytes);
  if (has_room && *has_room) room_until_ = bytes_ + bytes + kRoomEvery;
  return has_room;
}

Status GrowingContainer::Create(const std::string& warcinfo, const std::string& record_id) {
  io::FileSystem& fs = archive_.fs();
  Result<std::string> path = archive_.layout().ContainerPath(container_);
  Result<std::string> rows = archive_.layout().RowsPath(container_.volume, container_.number);
  if (!path || !rows) return path ? rows.error() : path.error();
  path_ = OpenPath(*path);
  const std::string directory = io::ParentDirectory(path_);
  if (const Status made = fs.MakeDirectory(directory); !made) return made;
  Result<std::unique_ptr<io::WritableFile>> file = fs.Create(path_);
  if (!file) return file.error();
  file_ = *std::move(file);
  for (const std::string& names : {directory, io::ParentDirectory(directory)}) {
    if (const Status synced = fs.SyncDirectory(names); !synced) return synced;
  }
  Result<std::unique_ptr<ContainerRowsWriter>> writer = ContainerRowsWriter::Create(fs, *rows);
  if (!writer) return writer.error();
  rows_ = *std::move(writer);

  const Container::Batch& batch = container_.batches.front();
  const std::string block = warcinfo + WarcinfoLine("stele-batch", fmt::to_string(batch.batch)) +
                            WarcinfoLine("stele-first-serial", fmt::to_string(batch.base));
  warc::FieldList fields;
  fields.Add("WARC-Type", "warcinfo");
  fields.Add("WARC-Record-ID", record_id);
  fields.Add("WARC-Date", FormatIso(container_.time));
  fields.Add("WARC-Filename", container_.name);
  fields.Add("Content-Type", "application/warc-fields");
  fields.Add("WARC-Block-Digest", DigestOf(DigestAlgorithm::kSha1, block).Labelled());
  Sink sink(*this);
  Result<std::unique_ptr<warc::WarcWriter>> records = warc::WarcWriter::Create(sink, {});
  if (!records) return records.error();
  const Result<record::Extent> written = (*records)->Write(fields, block);
  if (!written) return written.error();
  summary_.records = 1;
  return {};
}

Status GrowingContainer::Put(std::string_view bytes) {
  if (const Status appended = file_->Append(bytes); !appended) return appended;
  sha256_.Update(bytes);
  bytes_ += bytes.size();
  return {};
}

Status GrowingContainer::Append(std::string_view records, FoundRows& found) {
  const std::uint64_t begin = bytes_;
  if (const Status put = Put(records); !put) return put;
  return Take(found, begin);
}

Status GrowingContainer::AppendLong(const std::function<Status(io::Sink&)>& write,
                                    FoundRows& found) {
  const std::uint64_t begin = bytes_;
  Sink sink(*this);
  if (const Status written = write(sink); !written) return written;
  Result<std::unique_ptr<archive_file::ArchiveFile>> file =
      archive_file::ArchiveFile::Open(archive_.fs(), path_);
  if (!file) return file.error();
  if (const Status moved = (*file)->reader().SkipTo(begin); !moved) return moved;
  const Status scanned = ScanContainer(**file, {}, found, found.summary);
  if (!scanned) return scanned;
  for (ContainerCapture& capture : found.captures) capture.row.place.offset -= begin;
  for (Companion& companion : found.companions) companion.offset -= begin;
  return Take(found, begin);
}

Status GrowingContainer::Take(FoundRows& found, std::uint64_t begin) {
  // In the order in which a scan of the whole file finds them.
  for (Companion& companion : found.companions) {
    companion.offset += begin;
    if (const Status added = rows_->Add(companion); !added) return added;
  }
  for (ContainerCapture& capture : found.captures) {
    Check(has_serials_left() && capture.row.id.batch == batch());
    capture.row.place.offset += begin;
    capture.row.id.serial = captures_;
    if (const Status added = rows_->Add(capture); !added) return added;
    unpublished_.push_back(capture.row);
    container_.Place(unpublished_.back(), captures_);
    ++captures_;
  }
  summary_.records += found.summary.records;
  summary_.payload_bytes += found.summary.payload_bytes;
  summary_.unlisted += found.summary.unlisted;
  return {};
}

Result<std::vector<catalog::CaptureId>> GrowingContainer::Publish() {
  if (const Status synced = file_->Sync(); !synced) return synced.error();
  if (const Status shown = archive_.Show(unpublished_); !shown) return shown.error();
  std::vector<catalog::CaptureId> ids;
  for (const catalog::Capture& row : unpublished_) ids.push_back(row.id);
  unpublished_.clear();
  return ids;
}

Status GrowingContainer::Seal() {
  Check(unpublished_.empty());
  if (const Status closed = file_->Close(); !closed) return closed;
  Container sealed = container_;
  sealed.batches.front().count = captures_;
  if (captures_ > 0) summary_.batches[batch()] = captures_;
  if (const Status finished = rows_->Finish(summary_); !finished) return finished;
  sealed.Describe(summary_);
  sealed.sha256 = sha256_.Finish().Text();
  sealed.bytes = bytes_;
  return archive_.Seal(sealed);
}

}  // namespace stele::archive
