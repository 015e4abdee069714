#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "archive/archive_view.h"

namespace stele::archive {

// Where a capture stands among the records of a file, the checksum of its URI, and its
// RecordIdHash().
struct CaptureMark {
  std::uint64_t position = 0;
  std::uint64_t uri = 0;
  std::uint64_t id = 0;
};

// The captures of a file, as its other records refer to them. Records that share a member share
// their position, too: then nobody knows what stands beside what, and only one that is alone of its
// kind is meant. Answers with numbers of captures; nothing: none is meant.
class MarkedCaptures {
 public:
  // In the order of the file.
  explicit MarkedCaptures(std::vector<CaptureMark> captures);

  // The one that a record names. Some files give several captures one id: of those with the same
  // URI, or else of all, the last before it, else the first.
  std::optional<std::size_t> Named(std::uint64_t id, std::uint64_t position,
                                   std::uint64_t uri) const;
  // The one that a record belongs to which names none: one of the same URI that stands beside it,
  // at most one other between them.
  std::optional<std::size_t> Beside(std::uint64_t position, std::uint64_t uri) const;

 private:
  // A capture among its like: those with the same id, say.
  struct Kin {
    std::uint64_t kind = 0;
    std::uint64_t uri = 0;
    std::uint64_t position = 0;
    std::size_t number = 0;

    friend auto operator<=>(const Kin&, const Kin&) = default;
  };
  static std::optional<std::size_t> Nearest(const std::vector<Kin>& all, const Kin& wanted);

  std::vector<CaptureMark> captures_;
  // Sorted, so that no file makes a search long.
  std::vector<Kin> by_id_;  // without URI
  std::vector<Kin> by_id_and_uri_;
  std::vector<Kin> by_position_and_uri_;
};

// Which records of containers belong to which capture: a request, note or continuation names its
// capture's record id, or stands beside it with the same URI, but for continuations. Keeps what it
// knows about the last containers that were asked for. Not thread-safe. Borrows `view` for life.
class Companions {
 public:
  explicit Companions(const ArchiveView& view) : view_(view) {}

  // In the order of the file. Errors: those of reading the rows, or the container while it grows.
  Result<std::vector<Companion>> Of(const catalog::Capture& capture);
  // What a crawl wrote: it lies behind its capture, up to the next one, and no rows are read.
  static Result<std::vector<Companion>> Behind(const ArchiveView& view,
                                               const catalog::Capture& capture);

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
