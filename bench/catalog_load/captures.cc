#include "catalog_load/captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "util/base_encoding.h"

namespace stele::bench {
namespace {

constexpr std::uint64_t kMonths = 60;
constexpr std::int64_t kMonthMs = 30ll * 86400000;
constexpr std::int64_t kBeginMs = 1388534400000;  // 2014
constexpr std::uint64_t kHostsAtATime = 32;
constexpr std::uint64_t kPaths = 300;  // of a host
// Captures of a URL, on average: 1 + 1/2 + ... + 1/60.
constexpr double kCapturesPerUrl = 4.68;

constexpr const char* kWords[] = {"news",     "about",  "products", "images",   "archive", "people",
                                  "download", "events", "press",    "research", "library", "travel",
                                  "sports",   "health", "culture",  "projects"};
constexpr const char* kEndings[] = {".html", "/", ".jpg", ".css", ".js", ".png", "", ".php?page=2"};
constexpr const char* kTypes[] = {
    "text/html", "text/html", "image/jpeg", "text/css", "application/javascript",
    "image/png", "text/html", "text/html"};

// How many URLs are captured all the time, and how often each.
std::uint64_t OftenUrls(std::uint64_t captures) { return 1 + captures / 8'000'000; }

std::uint64_t OftenCaptures(std::uint64_t captures) {
  return std::min<std::uint64_t>(500'000, captures / 10);
}

std::uint64_t OtherUrls(std::uint64_t captures) {
  const std::uint64_t others = captures - OftenUrls(captures) * OftenCaptures(captures);
  return std::max(kHostsAtATime,
                  static_cast<std::uint64_t>(static_cast<double>(others) / kCapturesPerUrl));
}

}  // namespace

std::uint64_t Mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a + 0x9E37'79B9'7F4A'7C15 * (b + 1);
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
  return x ^ (x >> 31);
}

Crawls::Crawls(std::uint64_t captures, std::uint64_t urls)
    : captures_(captures),
      regular_(urls > 0),
      often_urls_(regular_ ? 0 : OftenUrls(captures)),
      often_captures_(OftenCaptures(captures)),
      urls_(regular_ ? urls : OtherUrls(captures)),
      last_serial_(urls_ + often_urls_) {}

Timestamp Crawls::begin() { return {kBeginMs}; }

Timestamp Crawls::end() const {
  const std::uint64_t months = regular_ ? captures_ / urls_ : kMonths;
  return {kBeginMs + static_cast<std::int64_t>(months) * kMonthMs};
}

std::string Crawls::OftenUrl(std::uint64_t number) const {
  return fmt::format("https://www.often{}.example/status", number);
}

std::string Crawls::Url(std::uint64_t number) const {
  const std::uint64_t group = number / kHostsAtATime / kPaths;
  const std::uint64_t host = number % kHostsAtATime + group * kHostsAtATime;
  const std::uint64_t mix = Mix(number, 1);
  static constexpr const char* kDomains[] = {"org",   "com", "net", "de",
                                             "co.uk", "com", "fr",  "com"};
  return fmt::format("https://{}{}{}.{}/{}/{}-{}{}", Mix(host, 2) % 3 == 0 ? "" : "www.",
                     kWords[Mix(host, 3) % 16], Mix(host, 4) % 100'000'000,
                     kDomains[Mix(host, 5) % 8], kWords[mix % 16], kWords[(mix >> 8) % 16],
                     (mix >> 16) % 1'000'000, kEndings[mix >> 60 & 7]);
}

// Hosts and paths come in another order each month.
std::uint64_t Crawls::VisitedAt(std::uint64_t place) const {
  const std::uint64_t groups = urls_ / kHostsAtATime / kPaths;
  const std::uint64_t group = place / kHostsAtATime / kPaths;
  if (group >= groups) return place;
  const std::uint64_t path = (place / kHostsAtATime % kPaths * 7 + month_ * 11) % kPaths;
  const std::uint64_t host = (place + month_) % kHostsAtATime;
  return ((group + month_ * 5) % groups * kPaths + path) * kHostsAtATime + host;
}

// Months from one capture to the next.
std::uint64_t Crawls::PeriodOf(std::uint64_t number) const { return Mix(number, 6) % kMonths + 1; }

bool Crawls::IsDue(std::uint64_t number) const {
  if (regular_) return true;
  const std::uint64_t period = PeriodOf(number);
  return (month_ + Mix(number, 7)) % period == 0;
}

void Crawls::Next(std::size_t count, std::vector<Row>& rows) {
  rows.clear();
  const std::uint64_t often_total = often_urls_ * often_captures_;
  while (rows.size() < count && made_ < captures_) {
    // The often captured ones, at even distances.
    if (often_made_ * captures_ < made_ * often_total) {
      Describe(urls_ + often_made_++ % often_urls_, true, rows.emplace_back());
      continue;
    }
    if (place_ == urls_) {
      place_ = 0;
      ++month_;
    }
    const std::uint64_t number = VisitedAt(place_++);
    if (IsDue(number)) Describe(number, false, rows.emplace_back());
  }
}

void Crawls::Describe(std::uint64_t number, bool often, Row& row) {
  row.url = often ? OftenUrl(number - urls_) : Url(number);
  catalog::Capture& capture = row.capture;
  const double share =
      std::min(static_cast<double>(place_) / static_cast<double>(urls_), 1.0) * 0.999;
  capture.time.milliseconds = kBeginMs + static_cast<std::int64_t>(month_) * kMonthMs +
                              static_cast<std::int64_t>(share * static_cast<double>(kMonthMs)) +
                              static_cast<std::int64_t>(Mix(made_, 8) % 400);
  const auto serial = static_cast<std::uint32_t>(++made_);
  capture.id = {catalog::BatchOf(capture.time), serial};
  const std::uint64_t kind = often ? 0 : Mix(number, 1) >> 60 & 7;
  capture.status = Mix(number, 9) % 17 == 0 ? 404 : 200;
  capture.type = kTypes[kind];
  if (capture.type == "text/html") capture.flags = catalog::kPage;
  capture.run = static_cast<std::uint32_t>(month_);
  capture.length = 1000 + Mix(made_, 10) % 60000;
  const std::uint64_t record = 500 + capture.length / 4 + Mix(made_, 11) % 500;
  capture.place = {static_cast<std::uint32_t>(made_ / 100'000), offset_ % 1'000'000'000, record};
  offset_ += record;

  const std::uint32_t before = last_serial_[number];
  const bool same = before != 0 && Mix(made_, 12) % 3 == 0;
  if (same) {
    capture.flags |= catalog::kRevisit;
  } else {
    last_serial_[number] = serial;
  }
  // The digest is that of the content.
  catalog::Sha1Bytes digest;
  for (std::size_t i = 0; i < digest.size(); i += 4) {
    const std::uint64_t bits = Mix(last_serial_[number], 13 + i);
    std::memcpy(digest.data() + i, &bits, 4);
  }
  capture.sha1 = digest;
  if (capture.type == "text/html") capture.text_digest = Mix(last_serial_[number], 40) | 1;
  capture.url = row.url;
}

namespace {

std::string DigestOf(const catalog::Capture& capture) {
  return Base32Encode(std::string_view(capture.sha1->data(), capture.sha1->size()));
}

std::string FileOf(const catalog::Capture& capture) {
  return fmt::format("crawl-{:05}.warc.gz", capture.place.container);
}

}  // namespace

std::string CdxFields(const catalog::Capture& capture) {
  const std::string type =
      capture.flags & catalog::kRevisit ? "warc/revisit" : std::string(capture.type);
  return fmt::format("{} {} {} {} {} {} {}", capture.url, type, capture.status, DigestOf(capture),
                     capture.place.length, capture.place.offset, FileOf(capture));
}

std::string CdxjFields(const catalog::Capture& capture) {
  const std::string type =
      capture.flags & catalog::kRevisit ? "warc/revisit" : std::string(capture.type);
  return fmt::format(
      R"({{"url": "{}", "mime": "{}", "status": "{}", "digest": "{}", "length": "{}", )"
      R"("offset": "{}", "filename": "{}"}})",
      capture.url, type, capture.status, DigestOf(capture), capture.place.length,
      capture.place.offset, FileOf(capture));
}

}  // namespace stele::bench
