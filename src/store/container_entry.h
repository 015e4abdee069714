#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/record/record.h"
#include "formats/warc/warc_writer.h"
#include "store/content_key.h"
#include "store/volume.h"
#include "util/digest.h"
#include "util/timestamp.h"

// What the records of a container mean to a volume. docs/formats/container.md.
namespace stele::store {

// A place in the log: everything in containers before this one, and its bytes before `offset`.
struct LogPosition {
  std::uint64_t container = 0;
  std::uint64_t offset = 0;

  friend auto operator<=>(const LogPosition&, const LogPosition&) = default;
};

// Where a record lies.
struct RecordLocation {
  std::uint64_t container = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  LogPosition end() const { return {container, offset + length}; }
  friend bool operator==(const RecordLocation&, const RecordLocation&) = default;
};

struct LogEntry {
  enum class Kind : std::uint8_t {
    kBlock,      // a content, and the first reference to it
    kReference,  // another reference
    kRelease,    // takes one back
  };
  Kind kind = Kind::kBlock;
  BlockId block;
  Operation operation;
  std::string record_id;   // of the block: "urn:uuid:f81d4fae-…"
  std::uint64_t size = 0;  // of the content; kBlock only
  RecordLocation location;
};

// No body of a reference or release is longer.
inline constexpr std::size_t kEntryBodyBytesMax = 1024;

struct BlockRecord {
  std::string_view media_type;  // empty, or as servers send it
  Timestamp date;
  const Digest* digest = nullptr;  // of the content
};
// The fields of the `resource` record that holds a block's content. Requires: entry.kind is kBlock.
warc::FieldList BlockFields(const LogEntry& entry, std::string_view volume,
                            const BlockRecord& record);

// The `metadata` record of a reference or release. `record_id` is its own.
struct NoteRecord {
  warc::FieldList fields;
  std::string body;
};
NoteRecord NoteOf(const LogEntry& entry, std::string_view volume, std::string_view record_id,
                  Timestamp date);

// Reads what the two above write; `body` is the block of a `metadata` record. The location is left
// to the caller. Nothing for records that say nothing about a volume.
// Errors: kCorrupt for records that should and cannot be understood.
Result<std::optional<LogEntry>> ParseLogEntry(const record::Record& record, std::string_view body);

// Whether ParseLogEntry() wants the record's block.
bool HasEntryBody(const record::Record& record);

}  // namespace stele::store
