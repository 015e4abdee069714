#pragma once

#include <cstdint>
#include <forward_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/http/message.h"
#include "util/timestamp.h"

// What every archive file holds, whatever its format: records with named fields and a block of
// bytes. WARC has them by itself; ARC and Tianwang headers are read into the same field names.
namespace stele::record {

enum class RecordType : std::uint8_t {
  kWarcinfo,
  kResponse,
  kResource,
  kRequest,
  kMetadata,
  kRevisit,
  kConversion,
  kContinuation,
  kUnknown,
};

std::string_view RecordTypeName(RecordType type);  // "response"; "unknown" for kUnknown
RecordType RecordTypeByName(std::string_view name);

// Something in a file that breaks a rule, though the record could be read.
struct Defect {
  std::string_view rule;  // a stable name: "length-too-large"
  std::string text;       // for people
};

// Bytes of the file in which no record could be read.
struct Loss {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string reason;
};

// Where a record lies in its file.
struct Extent {
  std::uint64_t offset = 0;
  // Up to the next record: the gzip members or zstd frames that hold it; where the file is not
  // compressed, head, block and separator.
  std::uint64_t length = 0;
  // Bytes of the separator in `length`; 0 where the file is compressed.
  std::uint64_t separator = 0;
};

enum class Format : std::uint8_t { kWarc, kArc, kTianwang };

// How the format itself stores a block. It has nothing to do with the codings of HTTP inside.
enum class BlockCoding : std::uint8_t { kNone, kDeflate, kGzip };

// The head of a record. All views point into memory of the reader that made it, and are valid
// until the reader moves on.
struct Record {
  Format format = Format::kWarc;
  std::string_view version;  // "1.0", as the head says
  RecordType type = RecordType::kUnknown;
  std::string_view type_name;   // as the head says, also for types that nobody knows
  std::string_view target_uri;  // without the <> that some writers put around it
  std::string_view date_text;
  std::optional<Timestamp> date;
  std::string_view content_type;
  std::uint64_t content_length = 0;  // as the head says
  // How many bytes content_length may be too large because writers count differently. A record
  // that begins within them ends the block without damage.
  std::uint64_t length_slack = 0;
  BlockCoding block_coding = BlockCoding::kNone;  // undone by BlockStream
  std::optional<std::uint64_t> decoded_length;    // of a coded block, as the head says
  http::Headers fields;                 // all of them, as they stand there, by their WARC names
  std::forward_list<std::string> made;  // values of fields that stand nowhere in this form
  std::string_view head;        // the bytes of the head, for ARC and Tianwang in their own form
  std::uint64_t offset = 0;     // of the record, or of the member that holds its begin
  bool at_member_start = true;  // false: there is no offset at which this record can be read
  bool damaged = false;         // head or file structure contradict content_length

  // Adds a field whose value stands nowhere in the file in this form; the record keeps it.
  // Returns a view of it.
  std::string_view AddMade(std::string_view name, std::string value);

  std::string_view record_id() const { return fields.Find("WARC-Record-ID").value_or(""); }
};

}  // namespace stele::record
