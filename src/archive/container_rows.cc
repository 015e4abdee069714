#include "archive/container_rows.h"

#include "util/check.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace stele::archive {
namespace {

constexpr std::string_view kKind = "container";
constexpr std::uint64_t kVersion = 1;
constexpr char kCaptureEntry = 'c';
constexpr char kCompanionEntry = 'x';
// Of a loss's reason.
constexpr std::size_t kReasonBytesMax = 500;

std::string FormatSummary(const ContainerSummary& summary) {
  std::string out;
  PutVarint(out, kVersion);
  PutVarint(out, summary.records);
  PutVarint(out, summary.payload_bytes);
  PutVarint(out, summary.unlisted);
  PutVarint(out, summary.batches.size());
  for (const auto& [batch, count] : summary.batches) {
    PutVarint(out, batch);
    PutVarint(out, count);
  }
  const std::size_t losses = std::min(summary.losses.size(), kLossesMax);
  PutVarint(out, losses);
  for (std::size_t i = 0; i < losses; ++i) {
    PutVarint(out, summary.losses[i].begin);
    PutVarint(out, summary.losses[i].end);
    PutSized(out, std::string_view(summary.losses[i].reason).substr(0, kReasonBytesMax));
  }
  return out;
}

bool ParseSummary(std::string_view bytes, ContainerSummary& summary) {
  ByteReader reader(bytes);
  if (reader.Varint() != kVersion) return false;
  summary.records = reader.Varint();
  summary.payload_bytes = reader.Varint();
  summary.unlisted = reader.Varint();
  for (std::uint64_t left = reader.Varint(); left > 0 && reader.good(); --left) {
    const auto batch = static_cast<std::uint32_t>(reader.Varint());
    summary.batches[batch] = static_cast<std::uint32_t>(reader.Varint());
  }
  for (std::uint64_t left = reader.Varint(); left > 0 && reader.good(); --left) {
    record::Loss loss;
    loss.begin = reader.Varint();
    loss.end = reader.Varint();
    loss.reason = reader.Sized();
    summary.losses.push_back(std::move(loss));
  }
  return reader.good() && reader.AtEnd();
}

Result<ContainerCapture> ParseCapture(std::string_view body) {
  ByteReader reader(body);
  ContainerCapture capture;
  capture.record_id = reader.Fixed64();
  if (!reader.good()) return Error{ErrorCode::kCorrupt, "an entry is cut off"};
  Result<catalog::Capture> row = catalog::ParseCaptureRow(reader.rest());
  if (!row) return row.error();
  capture.row = *row;
  return capture;
}

Result<Companion> ParseCompanion(std::string_view body) {
  ByteReader reader(body);
  Companion companion;
  companion.type = record::RecordTypeByName(reader.Sized());
  companion.offset = reader.Varint();
  companion.length = reader.Varint();
  companion.about = reader.Fixed64();
  companion.uri = reader.Fixed64();
  if (!reader.good() || !reader.AtEnd()) return Error{ErrorCode::kCorrupt, "an entry is cut off"};
  return companion;
}

}  // namespace

std::uint64_t RecordIdHash(std::string_view record_id) {
  if (record_id.starts_with('<')) record_id.remove_prefix(1);
  if (record_id.ends_with('>')) record_id.remove_suffix(1);
  return record_id.empty() ? 0 : std::max<std::uint64_t>(1, ChecksumOf(record_id));
}

std::uint64_t NamedCapture(const record::Record& record) {
  if (record.type == record::RecordType::kContinuation) {
    return RecordIdHash(record.fields.Find("WARC-Segment-Origin-ID").value_or(""));
  }
  std::string_view named = record.fields.Find("WARC-Concurrent-To").value_or("");
  if (named.empty() && record.type == record::RecordType::kMetadata) {
    named = record.fields.Find("WARC-Refers-To").value_or("");
  }
  return RecordIdHash(named);
}

std::uint64_t ContainerSummary::captures() const {
  std::uint64_t sum = 0;
  for (const auto& [batch, count] : batches) sum += count;
  return sum;
}

Result<std::unique_ptr<ContainerRowsWriter>> ContainerRowsWriter::Create(io::FileSystem& fs,
                                                                         std::string path) {
  auto file = catalog::PageFileWriter::Create(fs, std::move(path), kKind);
  if (!file) return file.error();
  return std::unique_ptr<ContainerRowsWriter>(new ContainerRowsWriter(std::move(*file)));
}

Status ContainerRowsWriter::Add(const ContainerCapture& capture) {
  body_.clear();
  PutFixed64(body_, capture.record_id);
  catalog::AppendCaptureRow(capture.row, body_);
  return AddEntry(kCaptureEntry, body_);
}

Status ContainerRowsWriter::Add(const Companion& companion) {
  body_.clear();
  PutSized(body_, record::RecordTypeName(companion.type));
  PutVarint(body_, companion.offset);
  PutVarint(body_, companion.length);
  PutFixed64(body_, companion.about);
  PutFixed64(body_, companion.uri);
  return AddEntry(kCompanionEntry, body_);
}

Status ContainerRowsWriter::AddEntry(char kind, std::string_view body) {
  if (!page_.empty() && page_.size() + body.size() > catalog::kPageBytes) {
    Result<std::uint32_t> page = file_->Append({page_});
    if (!page) return page.error();
    page_.clear();
  }
  page_ += kind;
  PutSized(page_, body);
  return {};
}

Status ContainerRowsWriter::Finish(const ContainerSummary& summary) {
  if (!page_.empty()) {
    Result<std::uint32_t> page = file_->Append({page_});
    if (!page) return page.error();
    page_.clear();
  }
  return file_->Finish(FormatSummary(summary));
}

Result<std::unique_ptr<ContainerRows>> ContainerRows::Open(io::FileSystem& fs, std::string path,
                                                           catalog::PageCache& cache) {
  auto file = catalog::PageFile::Open(fs, std::move(path), kKind, cache);
  if (!file) return file.error();
  std::unique_ptr<ContainerRows> rows(new ContainerRows);
  rows->file_ = std::move(*file);
  if (!ParseSummary(rows->file_->summary(), rows->summary_)) {
    return rows->file_->Corrupt("the summary makes no sense");
  }
  return rows;
}

Status ContainerRows::ForEachEntry(std::string_view page, std::uint32_t number,
                                   const TakeEntry& take) const {
  ByteReader reader(page);
  while (!reader.AtEnd()) {
    const std::string_view kind = reader.Bytes(1);
    const std::string_view body = reader.Sized();
    if (!reader.good()) return file_->CorruptPage(number, "an entry is cut off");
    if (const Status taken = take(kind.front(), body); !taken) {
      return file_->CorruptPage(number, taken.error().text);
    }
  }
  return {};
}

Status ContainerRows::ForEachCapture(const TakeCaptures& take) const {
  std::vector<ContainerCapture> captures;
  for (std::uint32_t number = 0; number < file_->pages(); ++number) {
    Result<catalog::Page> page = file_->ReadPast(number);
    if (!page) return page.error();
    captures.clear();
    const Status read =
        ForEachEntry(**page, number, [&](char kind, std::string_view body) -> Status {
          if (kind != kCaptureEntry) return {};
          Result<ContainerCapture> capture = ParseCapture(body);
          if (!capture) return capture.error();
          captures.push_back(*capture);
          return {};
        });
    if (!read) return read;
    if (captures.empty()) continue;
    if (const Status taken = take(captures); !taken) return taken;
  }
  return {};
}

Result<std::vector<Companion>> ContainerRows::Companions() const {
  std::vector<Companion> companions;
  for (std::uint32_t number = 0; number < file_->pages(); ++number) {
    Result<catalog::Page> page = file_->ReadPast(number);
    if (!page) return page.error();
    const Status read =
        ForEachEntry(**page, number, [&](char kind, std::string_view body) -> Status {
          if (kind != kCompanionEntry) return {};
          Result<Companion> companion = ParseCompanion(body);
          if (!companion) return companion.error();
          companions.push_back(*companion);
          return {};
        });
    if (!read) return read.error();
  }
  return companions;
}

}  // namespace stele::archive
