#pragma once

#include <string>
#include <string_view>

#include "access/capture_content.h"
#include "access/sight.h"

// Archived redirects, and where they lead within the archive.
namespace stele::access {

// Where an archived answer leads to, absolute; empty where it is no redirect.
std::string LocationOf(const catalog::HeldCapture& capture, const ArchivedHead& head);

// One step of replay: from a capture of this time to this URL.
struct Hop {
  std::string location;
  Timestamp time;
};

enum class Way {
  kOn,      // to something else
  kCircle,  // back to where it began, past a URL of which there is more than a redirect
  kNowhere  // back, and past nothing else
};
// Where a redirect leads that is the answer of `key`, by the captures that replay would show.
Way FollowRedirect(const Sight& sight, std::string_view key, Hop hop);

}  // namespace stele::access
