#include "cli/media_option.h"

namespace stele::cli {

Result<dedup::MediaFilter> MediaFilterOf(const Arguments& arguments) {
  const std::optional<std::string> pattern = arguments.Get("--mime");
  if (pattern) {
    return dedup::MediaFilter::Create(*pattern, arguments.Has("--whitelist")
                                                    ? dedup::MediaFilter::Mode::kWhitelist
                                                    : dedup::MediaFilter::Mode::kBlacklist);
  }
  if (!arguments.Has("--whitelist")) return dedup::MediaFilter();
  return Error{ErrorCode::kInvalid, "--whitelist goes with --mime"};
}

}  // namespace stele::cli
