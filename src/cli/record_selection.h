#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "formats/record/block_stream.h"
#include "formats/record/payload.h"
#include "formats/record/record_reader.h"

// Which records a command is about, and the block of a record that must be looked at to know.
namespace stele::cli {

// What a person asked for. All conditions that are given must hold; of one that is given several
// times, one value must.
struct RecordSelection {
  std::vector<std::string> types;     // "response"
  std::vector<std::string> url_keys;  // SURT keys
  std::vector<std::string> prefixes;  // of SURT keys
  std::vector<std::string> hosts;     // as url::SurtHost() has them
  std::vector<std::string> domains;   // likewise, with the hosts below them
  std::vector<std::string> mimes;     // "text/html", "image/*"
  std::vector<std::string> statuses;  // "404", "4xx"
  std::string from;                   // digits of a timestamp; empty: no limit
  std::string to;                     // likewise; everything that begins so is included
  bool invert = false;

  // Whether the block must be looked at: HTTP says status and type.
  bool needs_block() const { return !mimes.empty() || !statuses.empty(); }
};

std::vector<Option> WithSelectionOptions(std::vector<Option> options);
// Errors: kInvalid, for the person who typed it.
Result<RecordSelection> SelectionOf(const Arguments& arguments);

// The block of a reader's current record, decoded as BlockStream does, whose begin can be looked at
// before it is read. Not thread-safe. Borrows both.
class PeekedBlock {
 public:
  PeekedBlock(record::RecordReader& reader, const record::Record& record);

  // Reads as far as HTTP's head goes. Damage is no error here: Read() will find it. Errors: kIo.
  Result<const record::PayloadStream*> Peek();

  // As BlockStream::Read(), from the first byte on whether it was looked at or not.
  Result<std::string_view> Read();

 private:
  const record::Record& record_;
  record::BlockStream block_;
  record::PayloadStream payload_;
  std::string seen_;  // what Peek() has read
  std::optional<Error> damage_;
  bool peeked_ = false;
  bool seen_is_read_ = true;
};

// Whether the record is one of those asked for. Errors: kIo.
Result<bool> Selects(const RecordSelection& selection, const record::Record& record,
                     PeekedBlock& block);

}  // namespace stele::cli
