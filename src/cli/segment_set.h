#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "formats/archive_file/archive_file.h"
#include "formats/warc/segments.h"
#include "io/file_system.h"

namespace stele::cli {

// Archive files, opened one at a time.
class ArchiveFiles final : public warc::SegmentFiles {
 public:
  ArchiveFiles(io::FileSystem& fs, const std::vector<std::string>& paths)
      : fs_(fs), paths_(paths) {}
  Result<record::RecordReader*> Open(std::size_t file) override;

 private:
  io::FileSystem& fs_;
  const std::vector<std::string>& paths_;
  std::unique_ptr<archive_file::ArchiveFile> open_;
};

// A joined block and the files that it reads.
struct OpenSegments {
  ArchiveFiles files;
  warc::JoinedBlock block;

  OpenSegments(io::FileSystem& fs, const std::vector<std::string>& paths,
               std::vector<warc::Segment> segments)
      : files(fs, paths), block(files, std::move(segments)) {}
};

// Joins segments that lie in any of several files, which are indexed when the first is asked for.
// Thread-safe. Borrows both.
class SegmentSet {
 public:
  SegmentSet(io::FileSystem& fs, const std::vector<std::string>& paths) : fs_(fs), paths_(paths) {}

  // Errors: as SegmentIndex::SegmentsOf(); kInvalid when one of the files is a pipe, which cannot
  // be read twice.
  Result<std::unique_ptr<OpenSegments>> Join(std::string_view record_id);

 private:
  Status Fill();

  io::FileSystem& fs_;
  const std::vector<std::string>& paths_;
  std::mutex mutex_;
  bool filled_ = false;
  warc::SegmentIndex index_;
};

}  // namespace stele::cli
