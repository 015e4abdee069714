#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/record/record.h"
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

// How the content of a block lies in its record.
enum class ContentCoding : char {
  kGzip = 'g',
  kIdentity = 'i',
  kUnknown = 'u',  // the record was not written by a volume
};
std::string_view ContentCodingName(ContentCoding coding);  // "gzip", "identity", "unknown"

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
  ContentCoding coding = ContentCoding::kUnknown;  // kBlock only
  std::uint64_t note_bytes = 0;  // what a reference or release takes of a record it shares
};

struct BlockRecord {
  std::string_view media_type;  // empty, or as servers send it
  Timestamp date;
  const Digest* digest = nullptr;  // of the content
};
// The head of the `resource` record that holds a block's content. Requires: entry.kind is kBlock.
std::string BlockHead(const LogEntry& entry, std::string_view volume, const BlockRecord& record);

// A reference or release as one of the lines that make up a `metadata` record.
std::string NoteLine(const LogEntry& entry);
// The lines of one record take no more than this.
inline constexpr std::size_t kNotesBytesMax = 256 << 10;
// The record of some such lines, not compressed. `record_id` is its own.
std::string NotesRecord(std::string_view lines, std::string_view record_id, Timestamp date);

// Reads what the three above write; `body` is the block of a `metadata` record. The location is
// left to the caller. Nothing for records that say nothing about a volume. Errors: kCorrupt for
// records that should and cannot be understood.
Result<std::vector<LogEntry>> ParseLogEntries(const record::Record& record, std::string_view body);

// Whether ParseLogEntries() wants the record's block.
bool HasNotes(const record::Record& record);

}  // namespace stele::store
