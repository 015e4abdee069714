#pragma once

#include <string>
#include <string_view>

#include "access/call.h"
#include "io/clock.h"

namespace stele::access {

// The records of a capture as its file has them: `rest` is "201401/17".
void SendRecord(const Call& call, std::string_view rest);

// A selection as a file that replays alone: parameters url, prefix, host, domain, from, to, run,
// batch, mime, status, pages. The answer is made while it is sent.
void SendWarc(const Call& call, const io::Clock& clock);
// The same as WACZ. Records go to a file in `spool_directory` on the way.
void SendWacz(const Call& call, const io::Clock& clock, const std::string& spool_directory);

// What those parameters choose; all where there are none. Errors: kInvalid.
Result<archive::CaptureQuery> SelectionOf(const Parameters& parameters);

}  // namespace stele::access
