#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/location_entry.h"
#include "util/result.h"

namespace stele::catalog {

// Keys from `begin` on and before `end`.
struct KeyRange {
  std::string begin;
  std::string end;

  bool Has(std::string_view key) const { return begin <= key && key < end; }
};

// Which URLs a question is about: ranges of keys in rising order that do not overlap.
struct Selection {
  std::vector<KeyRange> ranges;

  bool Has(std::string_view key) const;
};

Selection SelectAll();
// What is found under this sort key.
Selection SelectKey(std::string_view sort_key);
// Captures of this URL.
Selection SelectUrl(std::string_view url);
// Sort keys that begin with `prefix`, such as "org,example)/news/". Errors: kInvalid when it is
// longer than kLocationKeyKept, the part of a long key that is kept.
Result<Selection> SelectPrefix(std::string_view prefix);
// Everything on this host, at any port: "www.example.org".
Selection SelectHost(std::string_view host);
// The same, and all hosts below it.
Selection SelectDomain(std::string_view host);

}  // namespace stele::catalog
