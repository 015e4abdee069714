#pragma once

#include <vector>

#include "formats/record/record.h"

namespace stele::warc {

// Adds what the head of a WARC record breaks of ISO 28500 (WARC 1.1), beyond what reading it has
// shown already: missing, forbidden, repeated and malformed fields.
void CheckHead(const record::Record& record, std::vector<record::Defect>& defects);

}  // namespace stele::warc
