#include "store/container_entry.h"

#include <fmt/format.h>

#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr std::string_view kBlockField = "Stele-Block";
constexpr std::string_view kOwnerField = "Stele-Owner";
constexpr std::string_view kOperationField = "Stele-Operation";
constexpr std::string_view kCompressionField = "Stele-Compression";
constexpr std::string_view kWarcFields = "application/warc-fields";
constexpr std::string_view kReferenceName = "stele-reference: ";
constexpr std::string_view kReleaseName = "stele-release: ";
constexpr std::size_t kMediaTypeBytesMax = 255;

// What could not stand in a field, or is no media type, is not repeated.
std::string_view CleanMediaType(std::string_view media_type) {
  if (media_type.size() > kMediaTypeBytesMax) return "application/octet-stream";
  for (const char c : media_type) {
    if (c < ' ' || c > '~') return "application/octet-stream";
  }
  return TrimSpace(media_type).empty() ? "application/octet-stream" : media_type;
}

void AddField(std::string& head, std::string_view name, std::string_view value) {
  head += name;
  head += ": ";
  head += value;
  head += "\r\n";
}

// Empty where there are none.
std::string_view InsideBrackets(std::string_view id) {
  if (id.size() < 2 || id.front() != '<' || id.back() != '>') return {};
  return id.substr(1, id.size() - 2);
}

Error Unreadable(const record::Record& record, std::string_view what) {
  return {ErrorCode::kCorrupt,
          fmt::format("the {} record at {} has {}", record.type_name, record.offset, what)};
}

Result<LogEntry> MakeEntry(const record::Record& record, LogEntry::Kind kind,
                           std::string_view block, Operation operation,
                           std::string_view record_id) {
  const std::optional<BlockId> id = ParseBlockName(block);
  if (!id) return Unreadable(record, "no name of a block");
  if (!IsOperation(operation)) return Unreadable(record, "no owner and operation");
  if (record_id.empty() || record_id.size() > 255) return Unreadable(record, "no block's id");
  const std::uint64_t size = kind == LogEntry::Kind::kBlock ? record.content_length : 0;
  return LogEntry{kind, *id, std::move(operation), std::string(record_id), size, {}};
}

Result<std::vector<LogEntry>> ParseBlock(const record::Record& record, std::string_view block) {
  Operation operation{std::string(record.fields.Find(kOwnerField).value_or("")),
                      std::string(record.fields.Find(kOperationField).value_or(""))};
  Result<LogEntry> entry = MakeEntry(record, LogEntry::Kind::kBlock, block, std::move(operation),
                                     InsideBrackets(record.record_id()));
  if (!entry) return entry.error();
  const std::string_view compression = record.fields.Find(kCompressionField).value_or("");
  for (const ContentCoding coding : {ContentCoding::kGzip, ContentCoding::kIdentity}) {
    if (compression == ContentCodingName(coding)) entry->coding = coding;
  }
  return std::vector{*std::move(entry)};
}

Result<LogEntry> ParseNote(const record::Record& record, std::string_view line) {
  const bool reference = line.starts_with(kReferenceName);
  if (!reference && !line.starts_with(kReleaseName)) {
    return Unreadable(record, "an act that is not known");
  }
  line.remove_prefix(reference ? kReferenceName.size() : kReleaseName.size());
  const std::vector<std::string_view> words = Split(line, ' ');
  if (words.size() != 4) return Unreadable(record, "another number of words in a line");
  return MakeEntry(record, reference ? LogEntry::Kind::kReference : LogEntry::Kind::kRelease,
                   words[0], {std::string(words[1]), std::string(words[2])}, words[3]);
}

}  // namespace

std::string_view ContentCodingName(ContentCoding coding) {
  switch (coding) {
    case ContentCoding::kGzip:
      return "gzip";
    case ContentCoding::kIdentity:
      return "identity";
    case ContentCoding::kUnknown:
      break;
  }
  return "unknown";
}

std::string BlockHead(const LogEntry& entry, std::string_view volume, const BlockRecord& record) {
  const std::string name = BlockName(entry.block.signature, entry.block.overflow);
  std::string head;
  head.reserve(700);
  head += "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <";
  head += entry.record_id;
  head += ">\r\n";
  AddField(head, "WARC-Date", FormatIsoMillis(record.date));
  head += "WARC-Target-URI: stele:";
  head += volume;
  head += ':';
  head += name;
  head += "\r\n";
  AddField(head, "WARC-Block-Digest", record.digest->Labelled());
  AddField(head, kBlockField, name);
  AddField(head, kOwnerField, entry.operation.owner);
  AddField(head, kOperationField, entry.operation.id);
  AddField(head, kCompressionField, ContentCodingName(entry.coding));
  AddField(head, "Content-Type", CleanMediaType(record.media_type));
  AddField(head, "Content-Length", std::to_string(entry.size));
  head += "\r\n";
  return head;
}

std::string NoteLine(const LogEntry& entry) {
  std::string line(entry.kind == LogEntry::Kind::kReference ? kReferenceName : kReleaseName);
  line.reserve(300);
  line += BlockName(entry.block.signature, entry.block.overflow);
  line += ' ';
  line += entry.operation.owner;
  line += ' ';
  line += entry.operation.id;
  line += ' ';
  line += entry.record_id;
  line += "\r\n";
  return line;
}

std::string NotesRecord(std::string_view lines, std::string_view record_id, Timestamp date) {
  std::string record = "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <";
  record.reserve(lines.size() + 400);
  record += record_id;
  record += ">\r\n";
  AddField(record, "WARC-Date", FormatIsoMillis(date));
  AddField(record, "WARC-Block-Digest", DigestOf(DigestAlgorithm::kSha256, lines).Labelled());
  AddField(record, "Content-Type", kWarcFields);
  AddField(record, "Content-Length", std::to_string(lines.size()));
  record += "\r\n";
  record += lines;
  record += "\r\n\r\n";
  return record;
}

bool HasNotes(const record::Record& record) {
  return record.type == record::RecordType::kMetadata && record.content_type == kWarcFields &&
         record.content_length <= kNotesBytesMax;
}

Result<std::vector<LogEntry>> ParseLogEntries(const record::Record& record, std::string_view body) {
  if (record.type == record::RecordType::kResource) {
    const std::optional<std::string_view> block = record.fields.Find(kBlockField);
    return block ? ParseBlock(record, *block) : std::vector<LogEntry>();
  }
  std::vector<LogEntry> entries;
  if (!HasNotes(record) || !body.starts_with("stele-")) return entries;
  while (!body.empty()) {
    const std::size_t end = body.find("\r\n");
    if (end == std::string_view::npos) return Unreadable(record, "a line without end");
    Result<LogEntry> entry = ParseNote(record, body.substr(0, end));
    if (!entry) return entry.error();
    entries.push_back(*std::move(entry));
    body.remove_prefix(end + 2);
  }
  return entries;
}

}  // namespace stele::store
