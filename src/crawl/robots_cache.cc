#include "crawl/robots_cache.h"

#include "util/coding.h"

namespace stele::crawl {
namespace {

constexpr std::int64_t kValidMilliseconds = 24LL * 3600 * 1000;
constexpr std::int64_t kProlongedMilliseconds = 3600LL * 1000;
constexpr std::size_t kEntriesMax = 50'000;

std::string NoteName(const std::string& origin) { return "robots " + origin; }

bool IsValid(Timestamp fetched, Timestamp now) {
  return now.milliseconds - fetched.milliseconds < kValidMilliseconds;
}

}  // namespace

RobotsCache::Entry RobotsCache::EntryOf(Timestamp fetched, robots::Access access,
                                        std::string_view text) const {
  switch (access) {
    case robots::Access::kParse:
      return {fetched, access, robots::Robots::Parse(text, product_token_), ""};
    case robots::Access::kDisallowAll:
      return {fetched, access, robots::Robots::DisallowAll(), std::string(text)};
    case robots::Access::kFollow:
    case robots::Access::kAllowAll:
      break;
  }
  return {fetched, access, robots::Robots::AllowAll(), ""};
}

Result<RobotsCache::Entry*> RobotsCache::Load(const std::string& origin) {
  if (const auto found = entries_.find(origin); found != entries_.end()) return &found->second;
  const Result<std::optional<std::string>> note = frontier_.Note(NoteName(origin));
  if (!note) return note.error();
  if (!*note) return nullptr;
  ByteReader in(**note);
  const Timestamp fetched{static_cast<std::int64_t>(in.Fixed64())};
  const auto access = static_cast<robots::Access>(in.Varint());
  if (!in.good()) return nullptr;
  if (entries_.size() >= kEntriesMax) entries_.clear();
  return &entries_.emplace(origin, EntryOf(fetched, access, in.rest())).first->second;
}

Result<const robots::Robots*> RobotsCache::Find(const std::string& origin, Timestamp now) {
  const Result<Entry*> entry = Load(origin);
  if (!entry) return entry.error();
  return *entry != nullptr && IsValid((*entry)->fetched, now) ? &(*entry)->rules : nullptr;
}

Result<bool> RobotsCache::Prolong(const std::string& origin, Timestamp now) {
  const Result<Entry*> entry = Load(origin);
  if (!entry) return entry.error();
  // Rules that nobody gave are no copy.
  if (*entry == nullptr || (*entry)->access == robots::Access::kDisallowAll) return false;
  (*entry)->fetched.milliseconds = now.milliseconds - kValidMilliseconds + kProlongedMilliseconds;
  return true;
}

std::string RobotsCache::WhyUnknown(const std::string& origin) const {
  const auto found = entries_.find(origin);
  return found == entries_.end() ? "" : found->second.why_unknown;
}

std::string RobotsCache::Set(const std::string& origin, robots::Access access,
                             std::string_view text, Timestamp now) {
  std::string note;
  PutFixed64(note, static_cast<std::uint64_t>(now.milliseconds));
  PutVarint(note, static_cast<std::uint64_t>(access));
  note += text;
  if (entries_.size() >= kEntriesMax) entries_.clear();
  entries_.insert_or_assign(origin, EntryOf(now, access, text));
  return note;
}

void RobotsCache::Keep(const std::string& origin, std::string note) {
  frontier_.SetNote(NoteName(origin), std::move(note));
}

}  // namespace stele::crawl
