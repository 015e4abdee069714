#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "util/result.h"

namespace stele::dedup {

// Which media types are looked at: all but those that match (a blacklist), or only those (a
// whitelist). Immutable; copies share it.
class MediaFilter {
 public:
  enum class Mode { kBlacklist, kWhitelist };

  MediaFilter() = default;  // takes everything
  // `pattern` is a regular expression for a whole type, in any case: "text/.*". Errors: kInvalid.
  static Result<MediaFilter> Create(std::string_view pattern, Mode mode);

  // `type` without parameters.
  bool Takes(std::string_view type) const;
  bool takes_everything() const { return expression_ == nullptr; }
  // "all but ^text/.*"
  std::string Text() const;

 private:
  struct Expression;
  std::shared_ptr<const Expression> expression_;
  Mode mode_ = Mode::kBlacklist;
};

}  // namespace stele::dedup
