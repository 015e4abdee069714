#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/capture.h"
#include "util/timestamp.h"

// What is kept of captures that were purged, so that revisits of them can be told that they were
// taken down. docs/formats/ledger.md.
namespace stele::archive {

// A number for one thing by which revisits know their original. Nothing can be read from it; who
// knows the thing can ask for it.
using Tombstone = std::uint64_t;

inline constexpr std::string_view kTombstoneField = "tombstone";

// One for each way of knowing a capture that there is.
Tombstone TombstoneOfRecord(std::uint64_t record_id);  // RecordIdHash(); not 0
Tombstone TombstoneOfUrl(std::string_view url);
Tombstone TombstoneOfUrlAndSecond(std::string_view url, Timestamp time);
Tombstone TombstoneOfPayload(const catalog::Sha1Bytes& sha1);
Tombstone TombstoneOfPayload(const catalog::Sha256Bytes& sha256);

// All of a capture; `record_id` 0: it has none. Its URL alone only where "not modified" can mean
// it.
std::vector<Tombstone> TombstonesOf(const catalog::Capture& row, std::uint64_t record_id);

// 16 hexadecimal digits.
std::string FormatTombstone(Tombstone tombstone);
std::optional<Tombstone> ParseTombstone(std::string_view text);

}  // namespace stele::archive
