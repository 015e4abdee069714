// The file is read twice. First, to know which records go: a request may stand before its capture
// or behind it, in the same compressed member or in another. Then it is copied in long pieces, from
// one member that holds something that goes to the next; of these, the records that stay are
// written anew.
#include "archive/record_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "archive/companions.h"
#include "formats/archive_file/archive_file.h"
#include "formats/cdx/capture_rules.h"
#include "formats/warc/warc_writer.h"
#include "io/stream.h"
#include "util/checksum.h"

namespace stele::archive {
namespace {

using record::Record;
using record::RecordType;

constexpr std::size_t kCopyBytes = std::size_t{1} << 20;

// What is remembered of a record.
struct Seen {
  std::uint64_t id = 0;     // RecordIdHash()
  std::uint64_t about = 0;  // that of the record that it names; 0: none
  std::uint64_t uri = 0;
  std::uint64_t block_bytes = 0;
  bool is_capture = false;
  bool is_about_file = false;     // a warcinfo record, say
  bool may_stand_beside = false;  // belongs to a capture beside it, where it names none
  bool is_whole = true;
  bool goes = false;
};

// Records that lie together: in a plain file each alone, else those that share a member.
struct Group {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::size_t first = 0;  // of the records
  std::size_t count = 0;
};

std::uint64_t AboutOf(const Record& record) {
  if (const std::uint64_t named = NamedCapture(record)) return named;
  for (const char* field : {"WARC-Refers-To", "WARC-Segment-Origin-ID"}) {
    if (const auto id = record.fields.Find(field)) return RecordIdHash(*id);
  }
  return 0;
}

std::string_view SeparatorOf(record::Format format) {
  return format == record::Format::kWarc ? "\r\n\r\n" : "\n";
}

class RecordCut {
 public:
  RecordCut(record::RecordReader& reader, std::span<const CutCapture> captures)
      : reader_(reader), captures_(captures) {}

  // Finds out what goes. Errors: as CopyWithout().
  Status Survey(std::uint64_t file_bytes);
  Status Copy(const io::ReadableFile& from, std::uint64_t file_bytes, io::WritableFile& to);
  // Requires: Survey() was called.
  bool LeavesSomething() const {
    return has_losses_ || std::any_of(records_.begin(), records_.end(), [](const Seen& seen) {
             return !seen.goes && !seen.is_about_file;
           });
  }

 private:
  void Look(const Record& record);
  Status PassRecord();
  void CloseGroups(std::uint64_t file_bytes);
  void DoomCompanions();
  Status Rewrite(const Group& group, io::WritableFile& to);

  record::RecordReader& reader_;
  const std::span<const CutCapture> captures_;
  std::size_t next_capture_ = 0;
  std::vector<Seen> records_;
  std::vector<Group> groups_;
  bool has_losses_ = false;
};

Status RecordCut::Survey(std::uint64_t file_bytes) {
  for (;;) {
    const Result<const Record*> record = reader_.Next();
    if (!record) return record.error();
    if (*record == nullptr) break;
    if (groups_.empty() || (*record)->at_member_start) {
      groups_.push_back({(*record)->offset, (*record)->offset, records_.size(), 0});
    }
    Look(**record);
    if (const Status passed = PassRecord(); !passed) return passed;
  }
  if (next_capture_ != captures_.size()) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("only {} of {} captures are where they should be; run stele verify",
                             next_capture_, captures_.size())};
  }
  CloseGroups(file_bytes);
  DoomCompanions();
  has_losses_ = !reader_.losses().empty();
  return {};
}

void RecordCut::Look(const Record& record) {
  Seen seen;
  seen.id = RecordIdHash(record.record_id());
  seen.uri = ChecksumOf(record.target_uri);
  seen.is_capture = cdx::IsCapture(record);
  seen.is_about_file = record.type == RecordType::kWarcinfo;
  if (!seen.is_capture && !seen.is_about_file) {
    seen.about = AboutOf(record);
    seen.may_stand_beside =
        record.type == RecordType::kRequest || record.type == RecordType::kMetadata;
  }
  if (seen.is_capture && next_capture_ < captures_.size()) {
    // Those that no index could have are passed.
    const CutCapture& expected = captures_[next_capture_];
    if (expected.offset == record.offset && expected.uri == seen.uri &&
        expected.time == record.date) {
      seen.goes = expected.goes;
      ++next_capture_;
    }
  }
  records_.push_back(seen);
  ++groups_.back().count;
}

Status RecordCut::PassRecord() {
  Seen& seen = records_.back();
  for (;;) {
    const Result<std::string_view> piece = reader_.ReadBlock();
    if (!piece && piece.error().code != ErrorCode::kCorrupt) return piece.error();
    seen.is_whole = piece.ok();
    if (!piece || piece->empty()) break;
    seen.block_bytes += piece->size();
  }
  const Result<record::Extent> extent = reader_.Finish();
  if (!extent && extent.error().code != ErrorCode::kCorrupt) return extent.error();
  seen.is_whole = seen.is_whole && extent;
  if (extent) groups_.back().end = extent->offset + extent->length;
  return {};
}

void RecordCut::CloseGroups(std::uint64_t file_bytes) {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[i];
    const std::uint64_t next = i + 1 < groups_.size() ? groups_[i + 1].begin : file_bytes;
    const auto first = records_.begin() + static_cast<std::ptrdiff_t>(group.first);
    const bool is_whole = std::all_of(first, first + static_cast<std::ptrdiff_t>(group.count),
                                      [](const Seen& seen) { return seen.is_whole; });
    group.end = is_whole ? std::min(group.end, next) : next;
  }
}

void RecordCut::DoomCompanions() {
  std::vector<CaptureMark> marks;
  std::vector<std::size_t> numbers;  // of the records that are marked
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (!records_[i].is_capture) continue;
    marks.push_back({i, records_[i].uri, records_[i].id});
    numbers.push_back(i);
  }
  const MarkedCaptures captures(std::move(marks));
  for (std::size_t i = 0; i < records_.size(); ++i) {
    Seen& seen = records_[i];
    if (seen.is_capture) continue;
    std::optional<std::size_t> capture = captures.Named(seen.about, i, seen.uri);
    if (!capture && seen.may_stand_beside) capture = captures.Beside(i, seen.uri);
    seen.goes = capture && records_[numbers[*capture]].goes;
  }
}

Status CopyRange(const io::ReadableFile& from, std::uint64_t begin, std::uint64_t end,
                 io::WritableFile& to) {
  std::string buffer(static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, end - begin)),
                     '\0');
  while (begin < end) {
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - begin));
    const Result<std::size_t> read = from.ReadAt(begin, std::span(buffer).first(want));
    if (!read) return read.error();
    if (*read == 0) return Error{ErrorCode::kCorrupt, "the file became shorter"};
    const Status written = to.Append(std::string_view(buffer).substr(0, *read));
    if (!written) return written;
    begin += *read;
  }
  return {};
}

Status RecordCut::Copy(const io::ReadableFile& from, std::uint64_t file_bytes,
                       io::WritableFile& to) {
  std::uint64_t at = 0;
  for (const Group& group : groups_) {
    const auto first = records_.begin() + static_cast<std::ptrdiff_t>(group.first);
    const auto last = first + static_cast<std::ptrdiff_t>(group.count);
    const auto goes = [](const Seen& seen) { return seen.goes; };
    if (std::none_of(first, last, goes)) continue;
    if (const Status copied = CopyRange(from, at, group.begin, to); !copied) return copied;
    at = group.end;
    if (std::all_of(first, last, goes)) continue;
    if (const Status rewritten = Rewrite(group, to); !rewritten) return rewritten;
  }
  return CopyRange(from, at, file_bytes, to);
}

Status RecordCut::Rewrite(const Group& group, io::WritableFile& to) {
  io::FileSink sink(to);
  warc::WriterOptions options;
  options.compression = reader_.compression();
  Result<std::unique_ptr<warc::WarcWriter>> writer = warc::WarcWriter::Create(sink, options);
  if (!writer) return writer.error();
  if (const Status moved = reader_.SkipTo(group.begin); !moved) return moved;
  for (std::size_t i = 0; i < group.count; ++i) {
    const Result<const Record*> record = reader_.Next();
    if (!record) return record.error();
    const Seen& seen = records_[group.first + i];
    if (*record == nullptr || RecordIdHash((*record)->record_id()) != seen.id) {
      return Error{ErrorCode::kCorrupt, "the file has other records than a moment ago"};
    }
    if (seen.goes || !seen.is_whole) continue;
    const Status begun =
        (*writer)->BeginCopy((*record)->head, seen.block_bytes, SeparatorOf(reader_.format()));
    if (!begun) return begun;
    for (;;) {
      const Result<std::string_view> piece = reader_.ReadBlock();
      if (!piece) return piece.error();
      if (piece->empty()) break;
      if (const Status put = (*writer)->Append(*piece); !put) return put;
    }
    if (const Result<record::Extent> ended = (*writer)->End(); !ended) return ended.error();
  }
  return {};
}

}  // namespace

Status CopyWithout(io::FileSystem& fs, const std::string& path,
                   std::span<const CutCapture> captures, io::WritableFile& to) {
  Result<std::unique_ptr<archive_file::ArchiveFile>> records =
      archive_file::ArchiveFile::Open(fs, path);
  if (!records) return records.error();
  Result<std::unique_ptr<io::ReadableFile>> file = fs.OpenForReading(path);
  if (!file) return file.error();
  const Result<std::uint64_t> bytes = (*file)->Size();
  if (!bytes) return bytes.error();
  RecordCut cut((*records)->reader(), captures);
  Status done = cut.Survey(*bytes);
  if (done) done = cut.Copy(**file, *bytes, to);
  if (done) return done;
  return Error{done.error().code, fmt::format("{}: {}", path, done.error().text)};
}

Result<bool> LeavesSomething(io::FileSystem& fs, const std::string& path,
                             std::span<const CutCapture> captures) {
  Result<std::unique_ptr<archive_file::ArchiveFile>> records =
      archive_file::ArchiveFile::Open(fs, path);
  if (!records) return records.error();
  RecordCut cut((*records)->reader(), captures);
  const Status surveyed = cut.Survey((*records)->size().value_or(0));
  if (surveyed) return cut.LeavesSomething();
  return Error{surveyed.error().code, fmt::format("{}: {}", path, surveyed.error().text)};
}

}  // namespace stele::archive
