#pragma once

#include <vector>

#include "formats/record/record.h"

namespace stele::warc {

// Profiles of revisit records. Files have them with the version of any standard in the URI.
enum class RevisitProfile : std::uint8_t { kNone, kIdenticalPayload, kServerNotModified, kOther };
RevisitProfile RevisitProfileOf(const record::Record& record);

// What a revisit says about the record that it repeats. Empty where it says nothing.
struct RevisitTarget {
  std::string_view uri;
  std::string_view date;
  std::string_view record_id;
};
RevisitTarget RevisitTargetOf(const record::Record& record);

// Adds what the head of a WARC record breaks of ISO 28500 (WARC 1.1), beyond what reading it has
// shown already: missing, forbidden, repeated and malformed fields.
void CheckHead(const record::Record& record, std::vector<record::Defect>& defects);

}  // namespace stele::warc
