#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/crawl_log/line.h"

namespace stele::crawl_log {

// What the thirteenth field says, as far as we know its keys; "" or nothing where it does not.
struct Extra {
  std::optional<std::uint64_t> content_size;
  std::string warc_filename;
  std::optional<std::uint64_t> warc_offset;
  std::string arc_filename;
  std::string etag;           // as the server sent it
  std::string last_modified;  // likewise
  std::string revisit_profile;
  std::string revisit_refers_to_uri;
  std::string revisit_refers_to_date;  // ISO form
  std::string revisit_origin;          // where the original is kept
  // What Stele says about how it judged.
  std::optional<std::uint64_t> payload_size;
  std::string hit;                 // "new", "exact", "equivalent", "mirror"
  std::string timestamp_predicts;  // "changeCorrect" and so on
  std::string etag_predicts;
};

// Nothing where `json` is no JSON object.
std::optional<Extra> ParseExtra(std::string_view json);

// How the crawler knew that it had the content already.
enum class DuplicateKind {
  kDigest,       // the payload has the digest of one that is kept
  kNotModified,  // the server said so (304)
  kHeader,       // judged by Last-Modified or ETag alone; the body was not fetched
};

// What a line says about its original. Fields that it leaves open are "".
struct Duplicate {
  DuplicateKind kind = DuplicateKind::kDigest;
  // The original may have another URL than the line.
  bool any_url = false;
  // Free text that the operator or the index gave: a crawl's name, "file.arc.gz,1234".
  std::string origin;
  std::string original_uri;
  std::string original_date;  // as written, ISO form
  std::optional<Timestamp> OriginalDate() const { return ParseIso(original_date); }
};

// The duplicate that `line` reports, in the words of Heritrix 1 to 3, of warcprox and of the
// DeDuplicator add-on; nothing where the content was new.
std::optional<Duplicate> FindDuplicate(const Line& line);

inline bool IsDuplicate(const Line& line) { return FindDuplicate(line).has_value(); }

}  // namespace stele::crawl_log
