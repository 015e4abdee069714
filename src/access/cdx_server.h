#pragma once

#include "access/call.h"
#include "access/cdx_query.h"

namespace stele::access {

// Answers the query in the call's parameters, line by line as the client takes them.
void SendCdx(const Call& call, CdxDialect dialect);

}  // namespace stele::access
