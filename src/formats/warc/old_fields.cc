#include "formats/warc/old_fields.h"

#include <fmt/format.h>

#include "formats/http/media_type.h"
#include "formats/record/payload.h"
#include "formats/warc/warc_writer.h"
#include "util/ascii.h"

namespace stele::warc {
namespace {

bool IsOfTheOldFormat(std::string_view name) {
  return StartsWithIgnoreCase(name, "ARC-") || StartsWithIgnoreCase(name, "Tianwang-");
}

}  // namespace

std::string FieldText(std::string_view text) {
  std::string field(TrimSpace(text));
  for (char& c : field) {
    if (c == '\r' || c == '\n') c = ' ';
  }
  return field;
}

std::string FieldUri(std::string_view uri) {
  std::string field;
  for (const char c : uri) {
    const auto byte = static_cast<unsigned char>(c);
    field += byte > 0x20 && byte != 0x7f ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return field;
}

void AddOldFields(const record::Record& record, FieldList& fields) {
  if (!record.target_uri.empty()) fields.Add("WARC-Target-URI", FieldUri(record.target_uri));
  if (const auto ip = record.fields.Find("WARC-IP-Address"); ip && !ip->empty()) {
    fields.Add("WARC-IP-Address", FieldText(*ip));
  }
  const bool http = record::BlockKindOf(record) != record::BlockKind::kOther;
  const std::string type = http::ParseMediaType(record.content_type).type;
  if (http) {
    fields.Add("Content-Type", FieldText(record.content_type));
  } else if (!type.empty()) {
    fields.Add("Content-Type", type);
  }
  for (const http::Field& field : record.fields.fields()) {
    if (!IsOfTheOldFormat(field.name) || field.value.empty()) continue;
    if (EqualsIgnoreCase(field.name, "ARC-Content-Type") && field.value == type) continue;
    fields.Add(field.name, FieldText(field.value));
  }
}

}  // namespace stele::warc
