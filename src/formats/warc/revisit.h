#pragma once

#include <cstdint>
#include <string_view>

#include "formats/record/record.h"

namespace stele::warc {

class FieldList;

// Why a record was not stored again. Files have the profiles with the version of any standard in
// their URI.
enum class RevisitProfile : std::uint8_t {
  kNone,               // the record says nothing
  kIdenticalPayload,   // the payload was fetched, and is the one of another record
  kServerNotModified,  // the server said 304
  kOther,              // one that must not be interpreted
};
RevisitProfile RevisitProfileOf(const record::Record& record);

// The record that a revisit repeats. Empty where it is not said.
struct RevisitTarget {
  std::string_view uri;
  std::string_view date;       // as WARC-Date has it
  std::string_view record_id;  // in <>
};
RevisitTarget RevisitTargetOf(const record::Record& record);

// Adds WARC-Profile and the fields of the target, all three, whatever the profile: replay tools
// resolve revisits by URI and date even where the standard has the record id suffice.
// Requires: profile is kIdenticalPayload or kServerNotModified.
void AddRevisitFields(RevisitProfile profile, const RevisitTarget& target, FieldList& fields);

}  // namespace stele::warc
