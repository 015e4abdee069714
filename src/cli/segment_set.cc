#include "cli/segment_set.h"

#include <fmt/format.h>

namespace stele::cli {

Result<record::RecordReader*> ArchiveFiles::Open(std::size_t file) {
  auto opened = archive_file::ArchiveFile::Open(fs_, paths_[file]);
  if (!opened) return opened.error();
  open_ = *std::move(opened);
  return &open_->reader();
}

Result<std::unique_ptr<OpenSegments>> SegmentSet::Join(std::string_view record_id) {
  const std::lock_guard lock(mutex_);
  if (!filled_) {
    if (const Status filled = Fill(); !filled) return filled.error();
    filled_ = true;
  }
  Result<std::vector<warc::Segment>> segments = index_.SegmentsOf(record_id);
  if (!segments) return segments.error();
  return std::make_unique<OpenSegments>(fs_, paths_, *std::move(segments));
}

Status SegmentSet::Fill() {
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    if (paths_[i] == "-") {
      return Error{ErrorCode::kInvalid,
                   "it is cut into segments, which cannot be joined from a pipe: give a file"};
    }
    auto file = archive_file::ArchiveFile::Open(fs_, paths_[i]);
    if (!file) continue;  // whoever reads it for itself says so
    for (;;) {
      Result<const record::Record*> next = (*file)->reader().Next();
      if (!next) return next.error();
      if (*next == nullptr) break;
      index_.Add(**next, i);
    }
  }
  return {};
}

}  // namespace stele::cli
