#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "catalog/capture_id.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::catalog {

// What is true of a capture beside its numbers; any of them together.
enum CaptureFlag : std::uint32_t {
  kPage = 1 << 0,       // what people call a page, no embed of one
  kTruncated = 1 << 1,  // the payload was cut when it was captured
  kRevisit = 1 << 2,    // its payload is that of an earlier capture
  kRedirect = 1 << 3,
  kRemoved = 1 << 4,  // taken down: it was here once
};

using Sha256Bytes = std::array<char, 32>;
using Sha1Bytes = std::array<char, 20>;

// Where the record of a capture lies. What a container's number means is known above.
struct CapturePlace {
  std::uint32_t container = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  friend bool operator==(const CapturePlace&, const CapturePlace&) = default;
};

// All that listings say about a capture: one row of a batch. The texts are views; who hands a
// capture out says how long they are valid.
struct Capture {
  CaptureId id;
  Timestamp time;
  std::uint32_t flags = 0;   // of CaptureFlag
  std::uint32_t status = 0;  // of HTTP; 0: none
  std::uint32_t run = 0;     // the crawl or import that brought it
  CapturePlace place;
  std::uint64_t length = 0;  // of the payload
  // Of the normalised text, or of what has none and has a content coding, without that, to compare
  // captures of a URL; 0: none.
  std::uint64_t text_digest = 0;
  std::optional<Sha256Bytes> sha256;  // of the payload
  std::optional<Sha1Bytes> sha1;      // of the payload, as index files of the field want it
  std::string_view type;              // media type, without parameters
  std::string_view url;               // as it was requested
  // Under which it is found, where that is not the SURT key of the URL (requests with a body).
  std::string_view key;

  friend bool operator==(const Capture&, const Capture&) = default;
};

inline bool IsRevisit(const Capture& capture) { return (capture.flags & kRevisit) != 0; }
inline bool IsRemoved(const Capture& capture) { return (capture.flags & kRemoved) != 0; }

// A capture with the bytes that its texts lie in. Cheap to copy.
struct HeldCapture {
  Capture row;
  std::shared_ptr<const std::string> bytes;
};
// A capture with texts of its own.
HeldCapture HoldCapture(const Capture& capture);

// The batch that a capture of this moment belongs to: 200405 for any of May 2004.
std::uint32_t BatchOf(Timestamp time);

// One row as bytes, as the log of new captures has it. docs/formats/captures.md.
void AppendCaptureRow(const Capture& capture, std::string& out);
// The texts point into `bytes`. Errors: kCorrupt.
Result<Capture> ParseCaptureRow(std::string_view bytes);

// The longest row: URL, key and type together have at most this, less 200 bytes for the rest.
inline constexpr std::size_t kCaptureRowBytesMax = 1 << 20;
// Errors: kInvalid when the row would be longer than that.
Status CheckCapture(const Capture& capture);

}  // namespace stele::catalog
