#include "store/container_rows.h"

namespace stele::store {
namespace {

void AppendNumber(std::string& out, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(value >> shift);
}

void AppendText(std::string& out, std::string_view text) {
  AppendNumber(out, text.size());
  out += text;
}

}  // namespace

std::uint64_t RowReader::Number() {
  if (row_.size() < 8) {
    good_ = false;
    row_ = {};
    return 0;
  }
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(row_[i]);
  row_.remove_prefix(8);
  return value;
}

char RowReader::Character() {
  if (row_.empty()) {
    good_ = false;
    return '\0';
  }
  const char character = row_.front();
  row_.remove_prefix(1);
  return character;
}

std::string_view RowReader::Text() {
  const std::uint64_t size = Number();
  if (size > row_.size()) {
    good_ = false;
    row_ = {};
    return {};
  }
  const std::string_view text = row_.substr(0, size);
  row_.remove_prefix(size);
  return text;
}

Error BadRow() {
  return {ErrorCode::kCorrupt,
          "a row of the table cannot be read: close the volume, delete the table and open again"};
}

std::string FormatNumbers(std::initializer_list<std::uint64_t> numbers) {
  std::string text;
  for (const std::uint64_t number : numbers) AppendNumber(text, number);
  return text;
}

std::string FormatBlockRows(const std::vector<BlockRow>& rows) {
  std::string text;
  for (const BlockRow& row : rows) {
    for (const std::uint64_t number : {row.location.container, row.location.offset,
                                       row.location.length, row.size, row.references}) {
      AppendNumber(text, number);
    }
    text += static_cast<char>(row.coding);
    AppendText(text, row.record_id);
  }
  return text;
}

Result<std::vector<BlockRow>> ParseBlockRows(std::string_view text) {
  std::vector<BlockRow> rows;
  RowReader reader(text);
  while (!reader.AtEnd()) {
    BlockRow& row = rows.emplace_back();
    for (std::uint64_t* number : {&row.location.container, &row.location.offset,
                                  &row.location.length, &row.size, &row.references}) {
      *number = reader.Number();
    }
    row.coding = static_cast<ContentCoding>(reader.Character());
    row.record_id = reader.Text();
  }
  if (!reader.good()) return BadRow();
  return rows;
}

std::string FormatOperationRows(const std::vector<OperationRow>& rows) {
  std::string text;
  for (const OperationRow& row : rows) {
    for (const std::uint64_t number : {std::uint64_t{row.overflow}, row.container, row.bytes}) {
      AppendNumber(text, number);
    }
    AppendText(text, row.record_id);
  }
  return text;
}

Result<std::vector<OperationRow>> ParseOperationRows(std::string_view text) {
  std::vector<OperationRow> rows;
  RowReader reader(text);
  while (!reader.AtEnd()) {
    OperationRow& row = rows.emplace_back();
    row.overflow = static_cast<std::uint32_t>(reader.Number());
    row.container = reader.Number();
    row.bytes = reader.Number();
    row.record_id = reader.Text();
  }
  if (!reader.good()) return BadRow();
  return rows;
}

std::string OverflowText(std::uint32_t overflow) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(overflow >> shift);
  return text;
}

std::uint32_t OverflowOf(std::string_view text) {
  std::uint32_t overflow = 0;
  for (const char c : text.substr(0, 4)) overflow = overflow << 8 | static_cast<unsigned char>(c);
  return overflow;
}

std::string SignatureKey(const Signature& signature, char part) {
  std::string key = "s";
  key += signature.bytes();
  key += part;
  return key;
}

std::string BlockKey(const BlockId& block) {
  return SignatureKey(block.signature, 'b') + OverflowText(block.overflow);
}

std::string DeadBlockKey(const BlockId& block, std::string_view record_id) {
  return (SignatureKey(block.signature, 'd') + OverflowText(block.overflow)).append(record_id);
}

std::string OwnerKeyPrefix(const BlockId& block, std::string_view record_id) {
  std::string key = SignatureKey(block.signature, 'c') + OverflowText(block.overflow);
  return key.append(record_id) + ' ';
}

std::string OwnerKey(const BlockId& block, std::string_view record_id, std::string_view owner) {
  return OwnerKeyPrefix(block, record_id).append(owner);
}

std::string OperationKey(const Signature& signature, char act, const Operation& operation) {
  return SignatureKey(signature, 'o') + act + operation.owner + ' ' + operation.id;
}

std::string OwnerSumKey(std::string_view owner) { return std::string("!owner ").append(owner); }

// An owner has no space in it.
OwnerKeyParts ParseOwnerKey(std::string_view rest) {
  const std::size_t space = rest.rfind(' ');
  if (rest.size() < 4 || space == std::string_view::npos || space < 4) return {};
  return {OverflowOf(rest), rest.substr(4, space - 4), rest.substr(space + 1)};
}

}  // namespace stele::store
