#include "formats/warc/segments.h"

#include <fmt/format.h>

#include "formats/warc/angle_brackets.h"
#include "util/ascii.h"

namespace stele::warc {
namespace {

using record::Record;

std::optional<std::uint64_t> NumberIn(const Record& record, std::string_view field) {
  const std::optional<std::string_view> text = record.fields.Find(field);
  return text ? ParseDecimal(*text) : std::nullopt;
}

}  // namespace

bool BeginsSegments(const Record& record) {
  return record.type != record::RecordType::kContinuation &&
         NumberIn(record, "WARC-Segment-Number") == 1;
}

void SegmentIndex::Add(const Record& record, std::size_t file) {
  const std::optional<std::uint64_t> number = NumberIn(record, "WARC-Segment-Number");
  if (!number || *number == 0) return;
  const bool first = BeginsSegments(record);
  if (!first && (record.type != record::RecordType::kContinuation || *number == 1)) return;
  const std::string_view origin = WithoutBrackets(
      first ? record.record_id() : record.fields.Find("WARC-Segment-Origin-ID").value_or(""));
  if (origin.empty()) return;
  Segment segment;
  segment.number = *number;
  segment.length = record.content_length;
  segment.total_length = NumberIn(record, "WARC-Segment-Total-Length");
  segment.record_id = record.record_id();
  segment.file = file;
  segment.offset = record.offset;
  by_origin_[std::string(origin)].try_emplace(*number, std::move(segment));
}

std::vector<Segment> SegmentIndex::LeadingSegmentsOf(std::string_view record_id) const {
  std::vector<Segment> segments;
  const auto found = by_origin_.find(WithoutBrackets(record_id));
  if (found == by_origin_.end()) return segments;
  for (const auto& [number, segment] : found->second) {
    if (number != segments.size() + 1) break;
    segments.push_back(segment);
    if (segment.total_length) break;
  }
  return segments;
}

Result<std::vector<Segment>> SegmentIndex::SegmentsOf(std::string_view record_id) const {
  std::vector<Segment> segments = LeadingSegmentsOf(record_id);
  if (segments.empty() || !segments.back().total_length) {
    return Error{ErrorCode::kNotFound, fmt::format("segment {} of the record {} is not here",
                                                   segments.size() + 1, record_id)};
  }
  std::uint64_t length = 0;
  for (const Segment& segment : segments) length += segment.length;
  if (const std::uint64_t total = *segments.back().total_length; total != length) {
    return Error{
        ErrorCode::kCorrupt,
        fmt::format("the {} segments of the record {} have {} bytes, but the last one says "
                    "{}",
                    segments.size(), record_id, length, total)};
  }
  return segments;
}

JoinedBlock::JoinedBlock(SegmentFiles& files, std::vector<Segment> segments)
    : files_(files), segments_(std::move(segments)) {}

Result<std::string_view> JoinedBlock::Read() {
  if (error_) return *error_;
  while (current_ < segments_.size()) {
    Result<std::string_view> piece = ReadSegment();
    if (!piece) {
      error_ =
          Error{piece.error().code, fmt::format("segment {} of {}: {}", segments_[current_].number,
                                                segments_.size(), piece.error().text)};
      return *error_;
    }
    if (!piece->empty()) return piece;
    block_.reset();
    ++current_;
  }
  return std::string_view();
}

Result<std::string_view> JoinedBlock::ReadSegment() {
  if (!block_) {
    if (const Status opened = OpenSegment(); !opened) return opened.error();
  }
  Result<std::string_view> piece = block_->Read();
  if (!piece) return piece;
  if (piece->empty() && left_ > 0) {
    return Error{ErrorCode::kCorrupt, fmt::format("{} bytes of its block are missing", left_)};
  }
  left_ -= std::min<std::uint64_t>(left_, piece->size());
  if (piece->empty()) {
    // The checksum of a compressed member stands behind all of its bytes.
    const Result<record::Extent> ended = reader_->Finish();
    if (!ended) return ended.error();
  }
  return piece;
}

Status JoinedBlock::OpenSegment() {
  const Segment& segment = segments_[current_];
  Result<record::RecordReader*> opened = files_.Open(segment.file);
  if (!opened) return opened.error();
  reader_ = *opened;
  if (const Status moved = reader_->SkipTo(segment.offset); !moved) return moved.error();
  // Several records may share a compressed member, and so an offset.
  for (;;) {
    Result<const Record*> next = reader_->Next();
    if (!next) return next.error();
    if (*next == nullptr || (*next)->offset > segment.offset) {
      return Error{ErrorCode::kCorrupt, fmt::format("there is no record {} at byte {}",
                                                    segment.record_id, segment.offset)};
    }
    if ((*next)->record_id() != segment.record_id) continue;
    left_ = segment.length;
    block_.emplace(*reader_, **next);
    return {};
  }
}

}  // namespace stele::warc
