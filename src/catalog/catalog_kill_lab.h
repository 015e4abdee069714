#pragma once

#include <fmt/format.h>

#include <string>

#include "catalog/catalog.h"

// What the process that is killed and its judge agree on.
namespace stele::catalog {

inline constexpr CatalogOptions kKillOptions{30000, 2, 3, 500};

// The capture with this serial, which is the same each time; `url` keeps its URL.
inline Capture KillCapture(std::uint32_t serial, std::string& url) {
  const std::uint32_t mixed = serial * 2654435761u;
  url = fmt::format("http://example{}.org/page/{}", mixed % 11, mixed % 101);
  Capture capture;
  capture.time.milliseconds = 1083369600000 + std::int64_t{mixed} * 2;  // about a hundred days
  capture.id = {BatchOf(capture.time), serial};
  capture.status = mixed % 600;
  capture.length = mixed;
  capture.type = "text/html";
  capture.url = url;
  return capture;
}

}  // namespace stele::catalog
