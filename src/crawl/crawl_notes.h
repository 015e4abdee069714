#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/capture_id.h"
#include "crawl/control/crawl_status.h"
#include "formats/cookies/cookies.h"

// What a crawl has to know after an interruption, as the notes of its frontier have it.
namespace stele::crawl {

// Which captures are finished in the frontier. Those of one batch are finished in the order of
// their ids; at a change of month captures of two batches come by turns.
class LastFinished {
 public:
  static constexpr std::string_view kNote = "last";  // of the frontier

  void Add(const catalog::CaptureId& id);
  bool Covers(const catalog::CaptureId& id) const;
  // All up to this one are covered, in a run whose first batch is `first`; nothing: none may be.
  std::optional<catalog::CaptureId> AllUpTo(std::uint32_t first) const;

  bool empty() const { return serials_.empty(); }
  std::string Encode() const;
  // Reads as far as it makes sense.
  static LastFinished Decode(std::string_view bytes);

  friend bool operator==(const LastFinished&, const LastFinished&) = default;

 private:
  static constexpr std::size_t kBatchesMax = 2;

  std::map<std::uint32_t, std::uint32_t> serials_;  // by batch; the last ones
};

// Responses that were cut off, are in the archive, and are asked for once more.
class CutOffs {
 public:
  // So many bytes came; where it was added before, that stays.
  void Add(std::string_view url, std::uint64_t bytes);
  // Nothing: it was not cut off. It is forgotten.
  std::optional<std::uint64_t> Take(std::string_view url);

  bool empty() const { return bytes_.empty(); }
  std::string Encode() const;
  // Reads as far as it makes sense.
  static CutOffs Decode(std::string_view bytes);

  friend bool operator==(const CutOffs&, const CutOffs&) = default;

 private:
  std::map<std::string, std::uint64_t> bytes_;  // by the key that URLs of one page share
};

// Limits that somebody changed while the crawl ran.
struct ChangedLimits {
  CrawlLimits before;  // as the settings have them
  CrawlLimits after;

  // What holds for a crawl that goes on with these settings: where they are what they were, the
  // change holds; where a person has changed them since, they do.
  CrawlLimits Over(const CrawlLimits& settings) const;

  std::string Encode() const;
  // Nothing where it makes no sense.
  static std::optional<ChangedLimits> Decode(std::string_view bytes);

  friend bool operator==(const ChangedLimits&, const ChangedLimits&) = default;
};

std::string EncodeCounts(const CrawlCounts& counts);
// What is missing is 0.
CrawlCounts DecodeCounts(std::string_view bytes);

std::string EncodeCookies(const std::vector<cookies::Cookie>& cookies);
// Reads as far as it makes sense.
std::vector<cookies::Cookie> DecodeCookies(std::string_view bytes);

}  // namespace stele::crawl
