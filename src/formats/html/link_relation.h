#pragma once

#include <optional>
#include <string_view>

#include "formats/html/link.h"

namespace stele::html {

// What a rel value means for a crawler. The strongest of its words decides, in this order:
//   kEmbed       stylesheet, icon and its relatives, preload, modulepreload, prefetch, prerender,
//                manifest, image_src
//   nothing      only dns-prefetch, preconnect, pingback, profile and the like: names no document
//   kNavigation  all others, and no rel at all
std::optional<Hop> HopForRelation(std::string_view rel);

// nofollow, ugc or sponsored among the words.
bool IsNofollowRelation(std::string_view rel);

// nofollow or noindex, or none, in a robots <meta> or an X-Robots-Tag header.
struct RobotsDirectives {
  bool nofollow = false;
  bool noindex = false;
};
RobotsDirectives ParseRobotsDirectives(std::string_view value);

}  // namespace stele::html
