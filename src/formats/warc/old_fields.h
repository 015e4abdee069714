#pragma once

#include <string>
#include <string_view>

#include "formats/record/record.h"

namespace stele::warc {

class FieldList;

// What the head of an ARC or Tianwang record says, as fields of a WARC record: target URI, address,
// content type, and what WARC has no field for under its own name (ARC-Checksum, Tianwang-Origin).
// Type, record id, date and digests are the caller's.
void AddOldFields(const record::Record& record, FieldList& fields);

// A value as a field can have it, on one line.
std::string FieldText(std::string_view text);
// A URL likewise. Old files have URLs with spaces and worse: these bytes are percent-encoded.
std::string FieldUri(std::string_view uri);

}  // namespace stele::warc
