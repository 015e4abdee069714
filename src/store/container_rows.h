#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/container_entry.h"
#include "util/result.h"

// How the rows of a BlockIndex are written. docs/formats/container.md.
namespace stele::store {

struct BlockRow {
  RecordLocation location;  // of length 0: the record has not been found
  std::uint64_t size = 0;   // of the content
  std::uint64_t references = 0;
  std::string record_id;
  ContentCoding coding = ContentCoding::kUnknown;

  friend bool operator==(const BlockRow&, const BlockRow&) = default;
};

// One block that an operation was about, and the record that says so: the last one, if several do.
struct OperationRow {
  std::uint32_t overflow = 0;
  std::string record_id;  // of the block
  std::uint64_t container = 0;
  std::uint64_t bytes = 0;  // what the record takes beside that of the block

  friend bool operator==(const OperationRow&, const OperationRow&) = default;
};

// Reads numbers from the front of a row.
class RowReader {
 public:
  explicit RowReader(std::string_view row) : row_(row) {}

  std::uint64_t Number();
  char Character();
  std::string_view Text();  // with its length before it
  bool AtEnd() const { return row_.empty(); }
  bool good() const { return good_; }

 private:
  std::string_view row_;
  bool good_ = true;
};

Error BadRow();

std::string FormatNumbers(std::initializer_list<std::uint64_t> numbers);
std::string FormatBlockRows(const std::vector<BlockRow>& rows);
Result<std::vector<BlockRow>> ParseBlockRows(std::string_view text);
std::string FormatOperationRows(const std::vector<OperationRow>& rows);
Result<std::vector<OperationRow>> ParseOperationRows(std::string_view text);

// Sorts by number.
std::string OverflowText(std::uint32_t overflow);
std::uint32_t OverflowOf(std::string_view text);

std::string SignatureKey(const Signature& signature, char part);
// The blocks of a number that have references.
std::string BlockKey(const BlockId& block);
// A block of this number that has none.
std::string DeadBlockKey(const BlockId& block, std::string_view record_id);
std::string OwnerKeyPrefix(const BlockId& block, std::string_view record_id);
std::string OwnerKey(const BlockId& block, std::string_view record_id, std::string_view owner);
// `act` is '+' or '-'.
std::string OperationKey(const Signature& signature, char act, const Operation& operation);

// The sums over what an owner holds.
std::string OwnerSumKey(std::string_view owner);

// What the part of an OwnerKey() behind the signature says.
struct OwnerKeyParts {
  std::uint32_t overflow = 0;
  std::string_view record_id;
  std::string_view owner;
};
OwnerKeyParts ParseOwnerKey(std::string_view rest);

}  // namespace stele::store
