#include "archive/tombstone.h"

#include <fmt/format.h>

#include <charconv>

#include "formats/url/surt.h"
#include "util/checksum.h"

namespace stele::archive {
namespace {

// The things that they are of begin with different words, so that none is taken for another.
Tombstone Of(std::string_view what, std::string_view value) {
  return ChecksumOf(fmt::format("{} {}", what, value));
}

template <typename Bytes>
std::string_view TextOf(const Bytes& bytes) {
  return {bytes.data(), bytes.size()};
}

}  // namespace

Tombstone TombstoneOfRecord(std::uint64_t record_id) {
  return Of("record", fmt::format("{:016x}", record_id));
}

Tombstone TombstoneOfUrl(std::string_view url) { return Of("url", url::SurtKey(url)); }

Tombstone TombstoneOfUrlAndSecond(std::string_view url, Timestamp time) {
  return Of("capture", fmt::format("{} {}", time.milliseconds / 1000, url::SurtKey(url)));
}

Tombstone TombstoneOfPayload(const catalog::Sha1Bytes& sha1) { return Of("sha1", TextOf(sha1)); }

Tombstone TombstoneOfPayload(const catalog::Sha256Bytes& sha256) {
  return Of("sha256", TextOf(sha256));
}

std::vector<Tombstone> TombstonesOf(const catalog::Capture& row, std::uint64_t record_id) {
  std::vector<Tombstone> tombstones = {TombstoneOfUrlAndSecond(row.url, row.time)};
  if (record_id != 0) tombstones.push_back(TombstoneOfRecord(record_id));
  if ((row.flags & catalog::kRevisit) != 0) return tombstones;
  if (row.sha1) tombstones.push_back(TombstoneOfPayload(*row.sha1));
  if (row.sha256) tombstones.push_back(TombstoneOfPayload(*row.sha256));
  if (row.status == 200) tombstones.push_back(TombstoneOfUrl(row.url));
  return tombstones;
}

std::string FormatTombstone(Tombstone tombstone) { return fmt::format("{:016x}", tombstone); }

std::optional<Tombstone> ParseTombstone(std::string_view text) {
  Tombstone tombstone = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, tombstone, 16);
  const bool is_one = error == std::errc() && at == end && FormatTombstone(tombstone) == text;
  return is_one ? std::optional(tombstone) : std::nullopt;
}

}  // namespace stele::archive
