#include "crawl/crawl_notes.h"

#include <algorithm>

#include "crawl/candidate.h"
#include "util/coding.h"

namespace stele::crawl {
namespace {

constexpr std::uint64_t kHostOnly = 1;
constexpr std::uint64_t kSecure = 2;
constexpr std::uint64_t kExpires = 4;

void PutLimits(std::string& out, const CrawlLimits& limits) {
  PutVarint(out, limits.pages_max);
  PutVarint(out, limits.bytes_max);
  PutSignedVarint(out, limits.time_max.count());
  PutVarint(out, limits.rate_max);
  PutVarint(out, limits.delay ? 1 : 0);
  if (limits.delay) PutSignedVarint(out, limits.delay->count());
  PutVarint(out, limits.connections);
}

CrawlLimits ReadLimits(ByteReader& in) {
  CrawlLimits limits;
  limits.pages_max = in.Varint();
  limits.bytes_max = in.Varint();
  limits.time_max = std::chrono::seconds(in.SignedVarint());
  limits.rate_max = in.Varint();
  if (in.Varint() != 0) limits.delay = std::chrono::milliseconds(in.SignedVarint());
  limits.connections = in.Varint();
  return limits;
}

}  // namespace

void LastFinished::Add(const catalog::CaptureId& id) {
  std::uint32_t& serial = serials_.try_emplace(id.batch, id.serial).first->second;
  serial = std::max(serial, id.serial);
  if (serials_.size() > kBatchesMax) serials_.erase(serials_.begin());
}

bool LastFinished::Covers(const catalog::CaptureId& id) const {
  if (const auto found = serials_.find(id.batch); found != serials_.end()) {
    return id.serial <= found->second;
  }
  // Of a batch that is long over.
  return serials_.size() == kBatchesMax && id.batch < serials_.begin()->first;
}

std::optional<catalog::CaptureId> LastFinished::AllUpTo(std::uint32_t first) const {
  if (serials_.empty()) return std::nullopt;
  const auto& [batch, serial] = *serials_.begin();
  if (serials_.size() < kBatchesMax && batch != first) return std::nullopt;
  catalog::CaptureId id;
  id.batch = batch;
  id.serial = serial;
  return id;
}

std::string LastFinished::Encode() const {
  std::string out;
  for (const auto& [batch, serial] : serials_) {
    PutFixed32(out, batch);
    PutFixed32(out, serial);
  }
  return out;
}

LastFinished LastFinished::Decode(std::string_view bytes) {
  LastFinished last;
  ByteReader in(bytes);
  while (!in.AtEnd()) {
    catalog::CaptureId id;
    id.batch = in.Fixed32();
    id.serial = in.Fixed32();
    if (!in.good()) break;
    last.Add(id);
  }
  return last;
}

void CutOffs::Add(std::string_view url, std::uint64_t bytes) {
  bytes_.try_emplace(SeenKey(url), bytes);
}

std::optional<std::uint64_t> CutOffs::Take(std::string_view url) {
  if (bytes_.empty()) return std::nullopt;
  const auto found = bytes_.find(SeenKey(url));
  if (found == bytes_.end()) return std::nullopt;
  const std::uint64_t bytes = found->second;
  bytes_.erase(found);
  return bytes;
}

std::string CutOffs::Encode() const {
  std::string out;
  for (const auto& [key, bytes] : bytes_) {
    PutSized(out, key);
    PutVarint(out, bytes);
  }
  return out;
}

CutOffs CutOffs::Decode(std::string_view bytes) {
  CutOffs cut_offs;
  ByteReader in(bytes);
  while (!in.AtEnd()) {
    const std::string_view key = in.Sized();
    const std::uint64_t came = in.Varint();
    if (!in.good()) break;
    cut_offs.bytes_.emplace(key, came);
  }
  return cut_offs;
}

CrawlLimits ChangedLimits::Over(const CrawlLimits& settings) const {
  CrawlLimits limits = settings;
  const auto take = [&](auto member) {
    if (settings.*member == before.*member) limits.*member = after.*member;
  };
  take(&CrawlLimits::pages_max);
  take(&CrawlLimits::bytes_max);
  take(&CrawlLimits::time_max);
  take(&CrawlLimits::rate_max);
  take(&CrawlLimits::delay);
  take(&CrawlLimits::connections);
  return limits;
}

std::string ChangedLimits::Encode() const {
  std::string out;
  PutLimits(out, before);
  PutLimits(out, after);
  return out;
}

std::optional<ChangedLimits> ChangedLimits::Decode(std::string_view bytes) {
  ByteReader in(bytes);
  ChangedLimits changed;
  changed.before = ReadLimits(in);
  changed.after = ReadLimits(in);
  // Without connections it would never fetch anything.
  if (!in.good() || !in.AtEnd() || changed.after.connections == 0) return std::nullopt;
  return changed;
}

std::string EncodeCookies(const std::vector<cookies::Cookie>& cookies) {
  std::string out;
  for (const cookies::Cookie& cookie : cookies) {
    PutVarint(out, (cookie.host_only ? kHostOnly : 0) | (cookie.secure ? kSecure : 0) |
                       (cookie.expires ? kExpires : 0));
    for (const std::string* text : {&cookie.name, &cookie.value, &cookie.domain, &cookie.path}) {
      PutSized(out, *text);
    }
    PutSignedVarint(out, cookie.created.milliseconds);
    if (cookie.expires) PutSignedVarint(out, cookie.expires->milliseconds);
  }
  return out;
}

std::vector<cookies::Cookie> DecodeCookies(std::string_view bytes) {
  std::vector<cookies::Cookie> cookies;
  ByteReader in(bytes);
  while (!in.AtEnd()) {
    cookies::Cookie cookie;
    const std::uint64_t flags = in.Varint();
    cookie.host_only = (flags & kHostOnly) != 0;
    cookie.secure = (flags & kSecure) != 0;
    for (std::string* text : {&cookie.name, &cookie.value, &cookie.domain, &cookie.path}) {
      *text = in.Sized();
    }
    cookie.created.milliseconds = in.SignedVarint();
    if ((flags & kExpires) != 0) cookie.expires = Timestamp{in.SignedVarint()};
    if (!in.good()) break;
    cookies.push_back(std::move(cookie));
  }
  return cookies;
}

std::string EncodeCounts(const CrawlCounts& counts) {
  std::string out;
  for (const std::uint64_t number : {counts.pages, counts.files, counts.bytes, counts.duplicates,
                                     counts.failures, counts.milliseconds}) {
    PutVarint(out, number);
  }
  return out;
}

CrawlCounts DecodeCounts(std::string_view bytes) {
  ByteReader in(bytes);
  CrawlCounts counts;
  for (std::uint64_t* number : {&counts.pages, &counts.files, &counts.bytes, &counts.duplicates,
                                &counts.failures, &counts.milliseconds}) {
    *number = in.Varint();
  }
  return counts;
}

}  // namespace stele::crawl
