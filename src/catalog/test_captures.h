#pragma once

#include <fmt/format.h>

#include <deque>
#include <string>
#include <vector>

#include "catalog/capture.h"
#include "io/random.h"

// Captures for tests: every field varies, and every optional one is missing at times.
namespace stele::catalog {

constexpr std::int64_t kFirstTime = 1083369600000;  // 2004-05-01

// Keeps the texts of the captures it makes.
class CaptureMaker {
 public:
  explicit CaptureMaker(std::uint64_t seed) : dice_(seed) {}

  std::uint64_t Below(std::uint64_t end) { return dice_.Next() % end; }

  std::string_view Keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  // Of one of `urls` URLs, within `days` days from kFirstTime on.
  Capture Make(CaptureId id, int urls = 100, int days = 31) {
    Capture capture;
    capture.id = id;
    capture.time.milliseconds =
        kFirstTime + static_cast<std::int64_t>(Below(static_cast<std::uint64_t>(days) * 86400000));
    capture.flags = static_cast<std::uint32_t>(Below(16));
    capture.status = Below(5) == 0 ? 404 : 200;
    capture.run = static_cast<std::uint32_t>(Below(3));
    capture.place = {static_cast<std::uint32_t>(Below(3)), Below(1 << 30), Below(1 << 20)};
    capture.length = Below(1 << 22);
    if (Below(3) == 0) capture.text_digest = dice_.Next() | 1;
    if (Below(8) != 0) capture.sha256 = RandomBytes<Sha256Bytes>();
    if (Below(2) == 0) capture.sha1 = RandomBytes<Sha1Bytes>();
    const char* types[] = {"text/html", "image/png", "", "application/octet-stream"};
    capture.type = types[Below(4)];
    const std::uint64_t url = Below(static_cast<std::uint64_t>(urls));
    capture.url = Keep(fmt::format("http://{}example{}.org/dir{}/page{}",
                                   url % 3 == 0 ? "www." : "", url % 7, url % 5, url));
    if (Below(20) == 0)
      capture.key = Keep(fmt::format("org,example{})/post?__wb_post={}", url % 7, url));
    return capture;
  }

 private:
  template <typename Array>
  Array RandomBytes() {
    Array array;
    for (char& byte : array) byte = static_cast<char>(dice_.Next());
    return array;
  }

  io::SeededRandom dice_;
  std::deque<std::string> texts_;
};

}  // namespace stele::catalog
