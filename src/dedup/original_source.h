#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/capture.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::dedup {

// The digests of a payload. SHA-1 is what the tools of the field compare; where both sides have
// SHA-256, that decides.
struct PayloadDigest {
  std::optional<catalog::Sha1Bytes> sha1;
  std::optional<catalog::Sha256Bytes> sha256;

  // Whether both say what their payload is, and it is the same.
  bool SameAs(const PayloadDigest& other) const;

  friend bool operator==(const PayloadDigest&, const PayloadDigest&) = default;
};

// A document that was captured before.
struct KnownDocument {
  std::string url;
  Timestamp time;  // of the capture that has the payload
  Timestamp seen;  // when it was last seen to be so; not before `time`
  PayloadDigest digest;
  std::string record_id;      // "<urn:uuid:...>"; empty: not known
  std::string etag;           // as the server sent it; empty: none, or not known
  std::string last_modified;  // likewise
  std::string coding;         // Content-Encoding; likewise
  std::string origin;         // where the payload is kept; empty: here
  // Of a capture in this archive only.
  std::optional<catalog::CaptureId> capture;
  catalog::CapturePlace place;  // of its record
  bool is_revisit = false;      // its payload is with another one
  bool is_judged_anew = false;  // ArchiveOriginals::JudgeAnew()
  bool is_equivalent = false;   // NewestWith() found it at another URL than the one asked for
  std::string type;             // media type
  std::uint32_t status = 0;     // of HTTP
  std::uint64_t length = 0;     // of the payload

  friend bool operator==(const KnownDocument&, const KnownDocument&) = default;
};

// What was captured before: an archive, or a digest index. Of many captures the newest few may be
// all that is told; the newest comes first. Thread-safe.
class OriginalSource {
 public:
  virtual ~OriginalSource() = default;

  // False: nobody has this payload, or it cannot be found by it. Costs little.
  virtual bool MayHave(const PayloadDigest& digest) const = 0;

  using Documents = Result<std::vector<KnownDocument>>;
  // Captures of exactly this URL.
  virtual Documents ByUrl(std::string_view url) = 0;
  // The newest of them alone, or none; costs less.
  virtual Documents NewestByUrl(std::string_view url) = 0;
  // One capture with this payload, or none: the newest of exactly this URL, or else, where
  // `or_equivalent`, one of a URL that is equivalent to it.
  virtual Documents NewestWith(std::string_view url, const PayloadDigest& digest,
                               bool or_equivalent) = 0;
  // Captures of other URLs that are equivalent to it, with this payload.
  virtual Documents ByEquivalentUrl(std::string_view url, const PayloadDigest& digest) = 0;
  // Captures with this payload.
  virtual Documents ByDigest(const PayloadDigest& digest) = 0;

  // Fills in what the server's headers said about `document`, which it found, where that is known.
  // Before Complete(). Errors: kNotFound when the record is gone.
  virtual Status TakeHeaders(KnownDocument& document) = 0;
  // Makes sure that `document`, which it found, names the capture that has the payload, and fills
  // in its record id, where it is known. Errors: kNotFound when nobody has the payload.
  virtual Status Complete(KnownDocument& document) = 0;
};

}  // namespace stele::dedup
