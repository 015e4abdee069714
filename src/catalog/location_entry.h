#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "catalog/capture_id.h"
#include "util/timestamp.h"

namespace stele::catalog {

// One line of the location index: that a key was captured at a moment. The order of the index is
// that of its members, keys as bytes. The key is a view; who hands an entry out says how long it is
// valid.
struct LocationEntry {
  std::string_view key;
  Timestamp time;
  CaptureId id;

  friend std::strong_ordering operator<=>(const LocationEntry&, const LocationEntry&) = default;
};

// Keys have at most this many bytes, of which the index keeps each as it is up to here.
inline constexpr std::size_t kLocationKeyMax = 512;
// Of a longer one, this many bytes are kept; a '~' and 32 digits of its digest follow.
inline constexpr std::size_t kLocationKeyKept = kLocationKeyMax - 33;

// The key under which the index files a sort key such as a SURT, and where one is looked for.
std::string LocationKey(std::string_view sort_key);

// Bytes that sort as entries do. Requires: no '\0' in the key, as in no SURT.
std::string EncodePosition(const LocationEntry& entry);
// False when `bytes` are not from EncodePosition(). The key points into them.
bool DecodePosition(std::string_view bytes, LocationEntry& entry);

// The first and the last that an entry with this key can be.
LocationEntry FirstOf(std::string_view key);
LocationEntry LastOf(std::string_view key);
// The last that comes before it and has the same key; false when there can be none.
bool StepBack(LocationEntry& entry);

}  // namespace stele::catalog
