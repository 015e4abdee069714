#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/url/url.h"

namespace stele::access {

// A reference without its query and fragment.
std::string_view PathOf(std::string_view reference);

// How a reference in an archived page becomes one into the archive: by something before it, which
// leaves its own bytes as they are, or by another text.
struct Rewritten {
  std::string insert;                      // before the reference
  std::optional<std::string> replacement;  // instead of it
};

// Makes references of one page lead into the archive, as "/web/20140126200624im_/http://a.org/x".
// Not thread-safe.
class UrlRewriter {
 public:
  // `prefix` is "/web/20140126200624"; `url` that of the page.
  UrlRewriter(std::string prefix, std::string_view url);

  // What <base> says; only the first counts.
  void SetBase(std::string_view href);

  // Nothing where the reference can stay as it is: fragments, "data:" and the like, and those
  // relative to the page's own directory. `modifier`: "im_".
  std::optional<Rewritten> Rewrite(std::string_view reference, std::string_view modifier) const;

 private:
  void TakeBase(Result<url::Url> base);
  // "/web/20140126200624im_/", and what is to stand behind it.
  std::string Into(std::string_view modifier, std::string_view begin = "") const {
    std::string into;
    into.reserve(prefix_.size() + modifier.size() + 1 + begin.size());
    into.append(prefix_).append(modifier).append("/").append(begin);
    return into;
  }

  const std::string prefix_;
  std::optional<url::Url> base_;
  std::string origin_;  // of the base
  std::string scheme_;  // likewise, with its colon
  bool has_base_ = false;
};

}  // namespace stele::access
