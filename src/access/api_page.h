#pragma once

#include "access/call.h"

namespace stele::access {

// The routes of the API with their parameters, for people: what docs/access-api.yaml says of them.
void SendApiPage(const Call& call);

// The document itself, for programs.
void SendApiDocument(const Call& call);

}  // namespace stele::access
