#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "archive/archive_view.h"

namespace stele::archive {

// Which records of containers belong to which capture: a request or note names its capture's record
// id, or stands beside it with the same URI. Keeps what it knows about the last containers that
// were asked for. Not thread-safe. Borrows `view` for life.
class Companions {
 public:
  explicit Companions(const ArchiveView& view) : view_(view) {}

  // In the order of the file; none while the container grows. Errors: those of reading the rows.
  Result<std::vector<Companion>> Of(const catalog::CapturePlace& capture);

 private:
  using ByCapture = std::multimap<std::uint64_t, Companion>;  // by the capture's offset
  Result<const ByCapture*> Load(std::uint32_t container);

  const ArchiveView& view_;
  std::map<std::uint32_t, ByCapture> containers_;
};

}  // namespace stele::archive
