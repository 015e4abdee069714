#pragma once

#include "access/call.h"
#include "access/wayback_path.h"

namespace stele::access {

// mp_ and others: a capture whose references lead into the archive, for clients without a service
// worker. It runs in a sandbox, with an origin that is nobody's, and reaches nothing but captures.
// docs/access.md, "Reduced replay".
void SendRewritten(const Call& call, const WaybackPath& path);

}  // namespace stele::access
