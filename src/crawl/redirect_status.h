#pragma once

namespace stele::crawl {

// Whether an answer with this status sends every browser on to its Location.
inline bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Whether the Location of such an answer is worth a look: also that of one that offers a choice, or
// has a status that nobody knows. One that is "not modified" is about what the crawler has.
inline bool LocationIsLink(int status) { return status >= 300 && status < 400 && status != 304; }

}  // namespace stele::crawl
