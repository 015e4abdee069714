#pragma once

#include <string_view>

#include "access/call.h"
#include "access/wayback_path.h"

// Pages that need no files beside the program, and no script.
namespace stele::access {

// What the archive is, and a box for an address.
void SendHome(const Call& call, std::string_view software);
// The captures of a URL.
void SendCaptureList(const Call& call, const WaybackPath& path);
// The URLs that begin so.
void SendUrlList(const Call& call, const WaybackPath& path);

}  // namespace stele::access
