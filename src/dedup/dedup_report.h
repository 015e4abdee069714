#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "dedup/header_analysis.h"

namespace stele::dedup {

// What became of a document.
enum class Hit {
  kNotHandled,  // of a type that is left out, too small, cut off
  kNew,         // nothing known has its URL, or its payload, as was asked
  kExact,       // a duplicate: same URL
  kEquivalent,  // a duplicate: equivalent URL
  kMirror,      // same payload at another URL; a duplicate where rules say so
};

// As logs have it: "new", "exact", "equivalent", "mirror"; empty for kNotHandled.
std::string_view NameOf(Hit hit);
std::optional<Hit> HitByName(std::string_view name);

// The counts of the DeDuplicator's report.
struct DedupCounts {
  std::uint64_t handled = 0;
  std::uint64_t handled_bytes = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t duplicate_bytes = 0;  // which were not kept
  std::uint64_t fresh = 0;            // "New (no hits)": mirrors are hits
  std::uint64_t exact = 0;
  std::uint64_t equivalent = 0;
  std::uint64_t mirrors = 0;
  PredictionCounts timestamp;  // where the exact URL was known
  PredictionCounts etag;

  // One document that was handled.
  void Count(Hit hit, bool is_duplicate, std::uint64_t bytes);
  DedupCounts& operator+=(const DedupCounts& other);
  friend bool operator==(const DedupCounts&, const DedupCounts&) = default;
};

struct DedupReport {
  std::string lookup;  // "url", "digest", "digest, any URL"; mirrors are hits by digest
  DedupCounts total;
  // Not downloaded, and so not in the counts: where the server, or its headers, said that nothing
  // had changed.
  std::uint64_t not_modified = 0;
  std::uint64_t left_out = 0;
  std::map<std::string, DedupCounts> hosts;  // empty: not counted by host

  // As the paper prints it.
  std::string Text() const;
  std::string Json() const;  // one object
};

}  // namespace stele::dedup
