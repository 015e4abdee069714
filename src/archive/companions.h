#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "archive/archive_view.h"

namespace stele::archive {

// Where a capture stands among the records of a file, and the checksum of its URI.
struct CaptureMark {
  std::uint64_t position = 0;
  std::uint64_t uri = 0;
};
// The number of the capture that a record belongs to which names none: one of the same URI that
// stands beside it, at most one other between them. `captures` are in the order of the file.
std::optional<std::size_t> CaptureBeside(std::span<const CaptureMark> captures,
                                         std::uint64_t position, std::uint64_t uri);
// Numbers of captures by RecordIdHash(). Some files give several captures one id.
using CapturesById = std::unordered_multimap<std::uint64_t, std::size_t>;
// The number of the capture that a record names: of several, the last before it, else the first.
std::optional<std::size_t> CaptureNamed(const CapturesById& by_id,
                                        std::span<const CaptureMark> captures,
                                        std::uint64_t position, std::uint64_t id);

// Which records of containers belong to which capture: a request or note names its capture's record
// id, or stands beside it with the same URI. Keeps what it knows about the last containers that
// were asked for. Not thread-safe. Borrows `view` for life.
class Companions {
 public:
  explicit Companions(const ArchiveView& view) : view_(view) {}

  // In the order of the file; none while the container grows. Errors: those of reading the rows.
  Result<std::vector<Companion>> Of(const catalog::Capture& capture);

 private:
  // Offset, which several share in a compressed member, checksum of the URL, and time.
  using CaptureKey = std::tuple<std::uint64_t, std::uint64_t, std::int64_t>;
  using ByCapture = std::multimap<CaptureKey, Companion>;
  static CaptureKey KeyOf(const catalog::Capture& capture);
  Result<const ByCapture*> Load(std::uint32_t container);

  const ArchiveView& view_;
  std::map<std::uint32_t, ByCapture> containers_;
};

}  // namespace stele::archive
