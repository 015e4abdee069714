#include "store/container_entry.h"

#include <fmt/format.h>

#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr std::string_view kBlockField = "Stele-Block";
constexpr std::string_view kOwnerField = "Stele-Owner";
constexpr std::string_view kOperationField = "Stele-Operation";
constexpr std::string_view kWarcFields = "application/warc-fields";
constexpr std::string_view kReferenceLine = "stele: reference";
constexpr std::string_view kReleaseLine = "stele: release";

std::string TargetUri(std::string_view volume, const BlockId& block) {
  return fmt::format("stele:{}:{}", volume, BlockName(block.signature, block.overflow));
}

// What could not stand in a field, or is no media type, is not repeated.
std::string_view CleanMediaType(std::string_view media_type) {
  for (const char c : media_type) {
    if (c < ' ' || c > '~') return "application/octet-stream";
  }
  return TrimSpace(media_type).empty() ? "application/octet-stream" : media_type;
}

std::string Bracketed(std::string_view record_id) { return fmt::format("<{}>", record_id); }

std::string_view WithoutBrackets(std::string_view id) {
  if (id.size() < 2 || id.front() != '<' || id.back() != '>') return {};
  return id.substr(1, id.size() - 2);
}

Error Unreadable(const record::Record& record, std::string_view what) {
  return {ErrorCode::kCorrupt,
          fmt::format("the {} record at {} has {}", record.type_name, record.offset, what)};
}

Result<std::optional<LogEntry>> MakeEntry(const record::Record& record, LogEntry::Kind kind,
                                          std::string_view block, Operation operation,
                                          std::string_view record_id) {
  const std::optional<BlockId> id = ParseBlockName(block);
  if (!id) return Unreadable(record, "no name of a block");
  if (!IsOperation(operation)) return Unreadable(record, "no owner and operation");
  if (record_id.empty() || record_id.size() > 255) return Unreadable(record, "no block's id");
  const std::uint64_t size = kind == LogEntry::Kind::kBlock ? record.content_length : 0;
  return std::optional(LogEntry{kind, *id, std::move(operation), std::string(record_id), size, {}});
}

}  // namespace

warc::FieldList BlockFields(const LogEntry& entry, std::string_view volume,
                            const BlockRecord& record) {
  warc::FieldList fields;
  fields.Add("WARC-Type", "resource");
  fields.Add("WARC-Record-ID", Bracketed(entry.record_id));
  fields.Add("WARC-Date", FormatIsoMillis(record.date));
  fields.Add("WARC-Target-URI", TargetUri(volume, entry.block));
  fields.Add("WARC-Block-Digest", record.digest->Labelled());
  fields.Add(kBlockField, BlockName(entry.block.signature, entry.block.overflow));
  fields.Add(kOwnerField, entry.operation.owner);
  fields.Add(kOperationField, entry.operation.id);
  fields.Add("Content-Type", CleanMediaType(record.media_type));
  return fields;
}

NoteRecord NoteOf(const LogEntry& entry, std::string_view volume, std::string_view record_id,
                  Timestamp date) {
  NoteRecord note;
  note.body = fmt::format("{}\r\nblock: {}\r\nowner: {}\r\noperation: {}\r\n",
                          entry.kind == LogEntry::Kind::kReference ? kReferenceLine : kReleaseLine,
                          BlockName(entry.block.signature, entry.block.overflow),
                          entry.operation.owner, entry.operation.id);
  note.fields.Add("WARC-Type", "metadata");
  note.fields.Add("WARC-Record-ID", Bracketed(record_id));
  note.fields.Add("WARC-Date", FormatIsoMillis(date));
  note.fields.Add("WARC-Target-URI", TargetUri(volume, entry.block));
  note.fields.Add("WARC-Refers-To", Bracketed(entry.record_id));
  note.fields.Add("WARC-Block-Digest", DigestOf(DigestAlgorithm::kSha256, note.body).Labelled());
  note.fields.Add("Content-Type", kWarcFields);
  return note;
}

bool HasEntryBody(const record::Record& record) {
  return record.type == record::RecordType::kMetadata && record.content_type == kWarcFields &&
         record.content_length <= kEntryBodyBytesMax;
}

Result<std::optional<LogEntry>> ParseLogEntry(const record::Record& record, std::string_view body) {
  if (record.type == record::RecordType::kResource) {
    const std::optional<std::string_view> block = record.fields.Find(kBlockField);
    if (!block) return std::optional<LogEntry>();
    Operation operation{std::string(record.fields.Find(kOwnerField).value_or("")),
                        std::string(record.fields.Find(kOperationField).value_or(""))};
    return MakeEntry(record, LogEntry::Kind::kBlock, *block, std::move(operation),
                     WithoutBrackets(record.record_id()));
  }
  if (!HasEntryBody(record) || !body.starts_with("stele: ")) return std::optional<LogEntry>();
  const std::vector<std::string_view> lines = Split(body, '\n');
  if (lines.size() != 5 || !lines[4].empty()) return Unreadable(record, "another number of lines");
  constexpr std::string_view kNames[] = {"", "block: ", "owner: ", "operation: "};
  std::string_view values[4];
  for (std::size_t i = 0; i < 4; ++i) {
    if (!lines[i].starts_with(kNames[i]) || !lines[i].ends_with('\r')) {
      return Unreadable(record, fmt::format("no {}in line {}", kNames[i], i + 1));
    }
    values[i] = lines[i].substr(kNames[i].size(), lines[i].size() - kNames[i].size() - 1);
  }
  if (values[0] != kReferenceLine && values[0] != kReleaseLine) {
    return Unreadable(record, "an act that is not known");
  }
  const auto kind =
      values[0] == kReferenceLine ? LogEntry::Kind::kReference : LogEntry::Kind::kRelease;
  return MakeEntry(record, kind, values[1], {std::string(values[2]), std::string(values[3])},
                   WithoutBrackets(record.fields.Find("WARC-Refers-To").value_or("")));
}

}  // namespace stele::store
