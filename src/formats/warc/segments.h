#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/record/block_stream.h"
#include "formats/record/record_reader.h"
#include "util/result.h"

// Records that were cut into segments because they were too large for a file (ISO 28500, "Record
// segmentation"): the first keeps its type and has WARC-Segment-Number 1, the others are
// `continuation` records that name it in WARC-Segment-Origin-ID and are numbered from 2 on, and the
// last one has WARC-Segment-Total-Length. The blocks one after another are the block of the whole.
namespace stele::warc {

struct Segment {
  std::uint64_t number = 0;                   // 1 for the first
  std::uint64_t length = 0;                   // of its block, as its head says
  std::optional<std::uint64_t> total_length;  // of all blocks together; the last segment has it
  std::string record_id;
  std::size_t file = 0;  // as Add() was told
  std::uint64_t offset = 0;
};

// Whether others continue this record.
bool BeginsSegments(const record::Record& record);

// Where the segments of records are, over any number of files. Not thread-safe while it is filled.
class SegmentIndex {
 public:
  // Takes note of a segment; other records are passed over. Of two with the same number the first
  // stays, so that a file may be given twice.
  void Add(const record::Record& record, std::size_t file);

  // All segments of the record with this id, in their order. Errors: kNotFound, and the text says
  // which segment is missing; kCorrupt when their lengths are not what the last one says.
  Result<std::vector<Segment>> SegmentsOf(std::string_view record_id) const;
  // Those from the first one on that follow one another, also where others are missing.
  std::vector<Segment> LeadingSegmentsOf(std::string_view record_id) const;

 private:
  std::map<std::string, std::map<std::uint64_t, Segment>, std::less<>> by_origin_;
};

// The files that an index was made of, to be read again.
class SegmentFiles {
 public:
  virtual ~SegmentFiles() = default;
  // A reader of the file, which its caller may move. Valid until the next call.
  virtual Result<record::RecordReader*> Open(std::size_t file) = 0;
};

// The block of the whole record, as a stream. Not thread-safe. Borrows `files`.
class JoinedBlock {
 public:
  // `segments` as SegmentIndex::SegmentsOf() gives them.
  JoinedBlock(SegmentFiles& files, std::vector<Segment> segments);

  // The next piece; empty at the end. The view is valid until the next call. Errors: those of
  // opening the files; kCorrupt when a segment is damaged or no longer where it was. The error
  // comes again on every later call.
  Result<std::string_view> Read();

 private:
  Status OpenSegment();
  Result<std::string_view> ReadSegment();

  SegmentFiles& files_;
  std::vector<Segment> segments_;
  std::size_t current_ = 0;
  record::RecordReader* reader_ = nullptr;    // of the current segment, once it is open
  std::optional<record::BlockStream> block_;  // likewise
  std::uint64_t left_ = 0;                    // of its block
  std::optional<Error> error_;
};

}  // namespace stele::warc
