#include "net/idle_streams.h"

#include <algorithm>
#include <iterator>

namespace stele::net {

void IdleStreams::Keep(const StreamKey& key, KeptStream kept) {
  if (limits_.per_host_max == 0 || limits_.all_max == 0) return kept.stream->Close();
  if (const auto found = by_key_.find(key);
      found != by_key_.end() && found->second.size() >= limits_.per_host_max) {
    Drop(found->second.front());
  }
  if (entries_.size() >= limits_.all_max) Drop(entries_.begin());
  entries_.push_back({key, std::move(kept), std::chrono::steady_clock::now()});
  by_key_[key].push_back(std::prev(entries_.end()));
}

std::optional<KeptStream> IdleStreams::Take(const StreamKey& key, bool private_addresses) {
  for (;;) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return std::nullopt;
    const Entries::iterator last = found->second.back();
    const std::optional<IpAddress>& address = last->kept.address;
    if (address && !private_addresses && !address->IsPublic()) return std::nullopt;
    if (last->kept.stream->Quiet()) {
      KeptStream kept = std::move(last->kept);
      found->second.pop_back();
      if (found->second.empty()) by_key_.erase(found);
      entries_.erase(last);
      return kept;
    }
    Drop(last);
  }
}

void IdleStreams::Sweep(Moment now) {
  while (!entries_.empty() && now - entries_.front().since > limits_.time_max) {
    Drop(entries_.begin());
  }
}

void IdleStreams::Clear() {
  by_key_.clear();
  for (const Entry& entry : entries_) entry.kept.stream->Close();
  entries_.clear();
}

void IdleStreams::Drop(Entries::iterator entry) {
  const auto found = by_key_.find(entry->key);
  std::erase(found->second, entry);
  if (found->second.empty()) by_key_.erase(found);
  entry->kept.stream->Close();
  entries_.erase(entry);
}

}  // namespace stele::net
