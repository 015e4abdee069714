#include "store/unsynced_entries.h"

#include <map>

namespace stele::store {
namespace {

// The lines about a block from its last making on.
struct Making {
  std::size_t begin = 0;
  std::int64_t references = 0;
};

}  // namespace

Result<UnsyncedEntries> TakeUnsyncedEntries(
    std::string_view lines, const std::function<Result<bool>(const ReferenceEntry&)>& is_whole) {
  UnsyncedEntries result;
  std::vector<ReferenceEntry> entries;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    std::optional<ReferenceEntry> entry;
    if (end != std::string_view::npos) entry = ParseReferenceEntry(lines.substr(0, end));
    result.lost = !entry;
    if (!entry) break;
    entries.push_back(*std::move(entry));
    lines.remove_prefix(end + 1);
  }
  std::map<BlockId, Making> makings;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].blocks > 0) makings[entries[i].block] = {i, 0};
    const auto making = makings.find(entries[i].block);
    if (making == makings.end()) continue;
    making->second.references += entries[i].kind == ReferenceEntry::Kind::kReference ? 1 : -1;
  }
  for (auto making = makings.begin(); making != makings.end();) {
    Result<bool> whole = true;
    if (making->second.references > 0) whole = is_whole(entries[making->second.begin]);
    if (!whole) return whole.error();
    result.lost = result.lost || !*whole;
    making = *whole ? makings.erase(making) : std::next(making);
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto lost = makings.find(entries[i].block);
    if (lost != makings.end() && i >= lost->second.begin) continue;
    result.entries.push_back(std::move(entries[i]));
  }
  return result;
}

}  // namespace stele::store
