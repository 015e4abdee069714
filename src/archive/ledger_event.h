#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/result.h"
#include "util/timestamp.h"

namespace stele::archive {

// Something that was done to an archive: what, when, and the particulars by name, in their order.
// A name may be there several times. docs/formats/ledger.md says which there are.
struct LedgerEvent {
  std::string what;  // "container"
  Timestamp time;
  std::vector<std::pair<std::string, std::string>> fields;

  void Add(std::string_view name, std::string_view value) { fields.emplace_back(name, value); }
  void Add(std::string_view name, std::uint64_t value);
  // The first of that name; empty when there is none.
  std::string_view Find(std::string_view name) const;
  std::vector<std::string_view> FindAll(std::string_view name) const;
  // The first of that name as a number. Errors: kCorrupt when there is none, or it is no number.
  Result<std::uint64_t> Number(std::string_view name) const;

  friend bool operator==(const LedgerEvent&, const LedgerEvent&) = default;
};

// Lines of "name: value". Control characters and '%' in values are percent-encoded.
// Requires: names of letters, digits and '-'.
std::string FormatLedgerEvent(const LedgerEvent& event);
// Errors: kCorrupt.
Result<LedgerEvent> ParseLedgerEvent(std::string_view lines);

}  // namespace stele::archive
