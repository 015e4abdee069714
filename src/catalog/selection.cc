// Keys have bytes from '!' to '~' only. So a key followed by kBeforeAll comes behind the key and
// before all that continue it, and a prefix followed by kAfterAll behind all that begin with it.
#include "catalog/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/url/surt.h"

namespace stele::catalog {
namespace {

constexpr char kBeforeAll = '\x01';
constexpr char kAfterAll = '\x7F';

KeyRange Below(std::string prefix) { return {prefix, prefix + kAfterAll}; }

}  // namespace

bool Selection::Has(std::string_view key) const {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const KeyRange& range) { return range.Has(key); });
}

Selection SelectAll() { return {{Below("")}}; }

Selection SelectKey(std::string_view sort_key) {
  const std::string key = LocationKey(sort_key);
  return {{{key, key + kBeforeAll}}};
}

Selection SelectUrl(std::string_view url) { return SelectKey(url::SurtKey(url)); }

Result<Selection> SelectPrefix(std::string_view prefix) {
  if (prefix.size() <= kLocationKeyKept) return Selection{{Below(std::string(prefix))}};
  return Error{ErrorCode::kInvalid, fmt::format("a prefix of {} bytes; at most {} are possible",
                                                prefix.size(), kLocationKeyKept)};
}

Selection SelectHost(std::string_view host) {
  const std::string key = url::SurtHost(host);
  return {{Below(key + ')'), Below(key + ':')}};
}

Selection SelectDomain(std::string_view host) {
  const std::string key = url::SurtHost(host);
  return {{Below(key + ')'), Below(key + ','), Below(key + ':')}};
}

}  // namespace stele::catalog
