// The file is read twice. First, to know which records go: a request may stand before its capture
// or behind it, in the same compressed member or in another. Then it is copied in long pieces, from
// one gap to the next: a gap is what goes, or a member that holds something that goes, of which the
// records that stay are written anew.
#include "archive/record_cut.h"

#include <fmt/format.h>

#include <algorithm>

#include "archive/companions.h"
#include "formats/cdx/capture_rules.h"
#include "formats/warc/warc_writer.h"
#include "util/checksum.h"

namespace stele::archive {
namespace {

using record::Record;
using record::RecordType;

constexpr std::size_t kCopyBytes = std::size_t{1} << 20;

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

Status CopyRange(const io::ReadableFile& from, std::uint64_t begin, std::uint64_t end,
                 io::Sink& to) {
  std::string buffer(static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, end - begin)),
                     '\0');
  while (begin < end) {
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - begin));
    const Result<std::size_t> read = from.ReadAt(begin, std::span(buffer).first(want));
    if (!read) return read.error();
    if (*read == 0) return Error{ErrorCode::kCorrupt, "the file became shorter"};
    const Status written = to.Write(std::string_view(buffer).substr(0, *read));
    if (!written) return written;
    begin += *read;
  }
  return {};
}

Error InFile(const std::string& name, const Error& error) {
  return Error{error.code, fmt::format("{}: {}", name, error.text)};
}

}  // namespace

RecordCut::RecordCut(File file, const CutPlan& plan)
    : file_(std::move(file)), plan_(plan), found_(plan.captures.size()) {}

Status RecordCut::Survey() {
  if (file_.records == nullptr) return {};
  record::RecordReader& reader = file_.records->reader();
  for (;;) {
    const Result<const Record*> record = reader.Next();
    if (!record) return InFile(file_.name, record.error());
    if (*record == nullptr) break;
    if (groups_.empty() || (*record)->at_member_start) {
      groups_.push_back({(*record)->offset, (*record)->offset, records_.size(), 0});
    }
    Look(**record);
    if (const Status passed = PassRecord(); !passed) return InFile(file_.name, passed.error());
  }
  CloseGroups();
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
    seen.is_continuation = record.type == RecordType::kContinuation;
  }
  if (seen.is_capture) FindInPlan(record, seen);
  records_.push_back(seen);
  ++groups_.back().count;
}

void RecordCut::FindInPlan(const Record& record, Seen& seen) {
  const std::vector<CutCapture>& captures = plan_.captures;
  // Those that should be further up could not be read.
  while (next_capture_ < captures.size() && captures[next_capture_].offset < record.offset) {
    ++next_capture_;
  }
  if (next_capture_ == captures.size()) return;
  // Those that no index could have are passed.
  const CutCapture& expected = captures[next_capture_];
  if (expected.offset != record.offset || expected.uri != seen.uri ||
      expected.time != record.date) {
    return;
  }
  seen.is_listed = true;
  seen.goes = expected.goes;
  found_[next_capture_++] = true;
}

Status RecordCut::PassRecord() {
  record::RecordReader& reader = file_.records->reader();
  Seen& seen = records_.back();
  for (;;) {
    const Result<std::string_view> piece = reader.ReadBlock();
    if (!piece && piece.error().code != ErrorCode::kCorrupt) return piece.error();
    seen.is_whole = piece.ok();
    if (!piece || piece->empty()) break;
    seen.block_bytes += piece->size();
  }
  const Result<record::Extent> extent = reader.Finish();
  if (!extent && extent.error().code != ErrorCode::kCorrupt) return extent.error();
  seen.is_whole = seen.is_whole && extent;
  if (extent) groups_.back().end = extent->offset + extent->length;
  return {};
}

std::span<const RecordCut::Seen> RecordCut::RecordsOf(const Group& group) const {
  return std::span(records_).subspan(group.first, group.count);
}

void RecordCut::CloseGroups() {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[i];
    const std::uint64_t next = i + 1 < groups_.size() ? groups_[i + 1].begin : file_.size;
    const std::span<const Seen> records = RecordsOf(group);
    const bool is_whole =
        std::all_of(records.begin(), records.end(), [](const Seen& seen) { return seen.is_whole; });
    group.end = is_whole ? std::min(group.end, next) : next;
  }
}

Status RecordCut::Decide(std::span<const std::unique_ptr<RecordCut>> cuts) {
  DoomCompanions(cuts);
  for (const std::unique_ptr<RecordCut>& cut : cuts) {
    if (const Status found = cut->FindGaps(); !found) return InFile(cut->file_.name, found.error());
  }
  return {};
}

void RecordCut::DoomCompanions(std::span<const std::unique_ptr<RecordCut>> cuts) {
  std::vector<CaptureMark> marks;
  std::vector<const Seen*> captures;  // that are marked
  std::uint64_t position = 0;
  for (const std::unique_ptr<RecordCut>& cut : cuts) {
    for (const Seen& seen : cut->records_) {
      if (seen.is_capture) {
        marks.push_back({position, seen.uri, seen.id});
        captures.push_back(&seen);
      }
      ++position;
    }
  }
  const MarkedCaptures marked(std::move(marks));
  position = 0;
  for (const std::unique_ptr<RecordCut>& cut : cuts) {
    for (Seen& seen : cut->records_) {
      const std::uint64_t at = position++;
      if (seen.is_capture) continue;
      std::optional<std::size_t> capture = marked.Named(seen.about, at, seen.uri);
      if (!capture && seen.may_stand_beside) capture = marked.Beside(at, seen.uri);
      seen.goes = (capture && captures[*capture]->goes) ||
                  (seen.is_continuation && cut->plan_.origins.contains(seen.about));
    }
  }
}

RecordCut::Group* RecordCut::GroupAt(std::uint64_t offset) {
  const auto found =
      std::lower_bound(groups_.begin(), groups_.end(), offset,
                       [](const Group& group, std::uint64_t at) { return group.begin < at; });
  return found != groups_.end() && found->begin == offset ? &*found : nullptr;
}

std::uint64_t RecordCut::GroupFrom(std::uint64_t offset) const {
  const auto found =
      std::lower_bound(groups_.begin(), groups_.end(), offset,
                       [](const Group& group, std::uint64_t at) { return group.begin < at; });
  return found == groups_.end() ? file_.size : found->begin;
}

Status RecordCut::FindGaps() {
  for (std::size_t i = 0; i < plan_.captures.size(); ++i) {
    const CutCapture& capture = plan_.captures[i];
    if (!capture.goes) continue;
    const CutRange place{capture.offset, capture.offset + capture.length};
    if (const Status added = AddGapOf(place, found_[i]); !added) return added;
  }
  for (const CutRange& place : plan_.companions) {
    if (GroupAt(place.begin) != nullptr) continue;  // it was read, and judged by what it says
    if (const Status added = AddGapOf(place, false); !added) return added;
  }
  for (const Group& group : groups_) {
    const std::span<const Seen> records = RecordsOf(group);
    const auto goes = [](const Seen& seen) { return seen.goes; };
    if (std::none_of(records.begin(), records.end(), goes)) continue;
    const bool all = std::all_of(records.begin(), records.end(), goes);
    gaps_.push_back({group.begin, group.end, all ? nullptr : &group});
  }
  JoinGaps();
  return {};
}

Status RecordCut::AddGapOf(const CutRange& place, bool is_found) {
  Group* const group = GroupAt(place.begin);
  if (group != nullptr && !is_found) {
    Seen& first = records_[group->first];
    if (group->count > 1 || (first.is_listed && !first.goes)) {
      return Error{ErrorCode::kCorrupt,
                   fmt::format("what goes at byte {} cannot be told from what stays there, because "
                               "it is damaged; restore it from a backup",
                               place.begin)};
    }
    first.goes = true;
  }
  if (group != nullptr && group->count > 1) return {};  // it is written anew
  // A length that is damaged may end a record too early.
  const bool is_whole = is_found && group != nullptr && group->end >= place.end;
  const std::uint64_t end = is_whole ? place.end : std::max(place.end, GroupFrom(place.end));
  gaps_.push_back({place.begin, std::min(end, file_.size), nullptr});
  return {};
}

void RecordCut::JoinGaps() {
  std::sort(gaps_.begin(), gaps_.end(),
            [](const Gap& a, const Gap& b) { return a.begin < b.begin; });
  std::vector<Gap> joined;
  for (const Gap& gap : gaps_) {
    if (!joined.empty() && gap.begin < joined.back().end) {
      joined.back().end = std::max(joined.back().end, gap.end);
    } else if (gap.begin < gap.end) {
      joined.push_back(gap);
    }
  }
  gaps_ = std::move(joined);
}

bool RecordCut::IsCut(std::uint64_t offset) const {
  const auto behind =
      std::upper_bound(gaps_.begin(), gaps_.end(), offset,
                       [](std::uint64_t at, const Gap& gap) { return at < gap.begin; });
  if (behind == gaps_.begin()) return false;
  const Gap& gap = *std::prev(behind);
  return gap.rewritten == nullptr && offset < gap.end;
}

bool RecordCut::LeavesSomething() const {
  if (file_.records == nullptr) return file_.size > 0 && !IsCut(0);
  const auto is_left = [](const Seen& seen) { return !seen.goes && !seen.is_about_file; };
  for (const Group& group : groups_) {
    const std::span<const Seen> records = RecordsOf(group);
    if (std::any_of(records.begin(), records.end(), is_left) && !IsCut(group.begin)) return true;
  }
  const std::vector<record::Loss>& losses = file_.records->reader().losses();
  return std::any_of(losses.begin(), losses.end(), [&](const record::Loss& loss) {
    return !IsCut(loss.begin) || !IsCut(loss.end - 1);
  });
}

Status RecordCut::Copy(io::Sink& to) {
  std::uint64_t at = 0;
  for (const Gap& gap : gaps_) {
    if (const Status copied = CopyRange(*file_.bytes, at, gap.begin, to); !copied) return copied;
    at = gap.end;
    if (gap.rewritten == nullptr) continue;
    const Status rewritten = Rewrite(*gap.rewritten, to);
    if (!rewritten) return InFile(file_.name, rewritten.error());
  }
  return CopyRange(*file_.bytes, at, file_.size, to);
}

Status RecordCut::Rewrite(const Group& group, io::Sink& to) {
  record::RecordReader& reader = file_.records->reader();
  warc::WriterOptions options;
  options.compression = reader.compression();
  Result<std::unique_ptr<warc::WarcWriter>> writer = warc::WarcWriter::Create(to, options);
  if (!writer) return writer.error();
  if (const Status moved = reader.SkipTo(group.begin); !moved) return moved;
  for (const Seen& seen : RecordsOf(group)) {
    const Result<const Record*> record = reader.Next();
    if (!record) return record.error();
    if (*record == nullptr || RecordIdHash((*record)->record_id()) != seen.id) {
      return Error{ErrorCode::kCorrupt, "the file has other records than a moment ago"};
    }
    if (seen.goes || !seen.is_whole) continue;
    const Status begun =
        (*writer)->BeginCopy((*record)->head, seen.block_bytes, SeparatorOf(reader.format()));
    if (!begun) return begun;
    for (;;) {
      const Result<std::string_view> piece = reader.ReadBlock();
      if (!piece) return piece.error();
      if (piece->empty()) break;
      if (const Status put = (*writer)->Append(*piece); !put) return put;
    }
    if (const Result<record::Extent> ended = (*writer)->End(); !ended) return ended.error();
  }
  return {};
}

Result<std::unique_ptr<RecordCut>> CutFile(io::FileSystem& fs, const std::string& path,
                                           const CutPlan& plan) {
  RecordCut::File file;
  file.name = path;
  Result<std::unique_ptr<archive_file::ArchiveFile>> records =
      archive_file::ArchiveFile::Open(fs, path);
  if (!records) return records.error();
  file.records = *std::move(records);
  Result<std::unique_ptr<io::ReadableFile>> bytes = fs.OpenForReading(path);
  if (!bytes) return bytes.error();
  file.bytes = *std::move(bytes);
  const Result<std::uint64_t> size = file.bytes->Size();
  if (!size) return size.error();
  file.size = *size;
  auto cut = std::make_unique<RecordCut>(std::move(file), plan);
  if (const Status surveyed = cut->Survey(); !surveyed) return surveyed.error();
  if (const Status decided = RecordCut::Decide(std::span(&cut, 1)); !decided) {
    return decided.error();
  }
  return cut;
}

}  // namespace stele::archive
