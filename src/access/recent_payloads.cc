#include "access/recent_payloads.h"

namespace stele::access {
namespace {

std::size_t BytesOf(const RecentPayloads::Entry& entry) {
  std::size_t bytes = sizeof entry + entry.payload.size() + entry.head.reason.size();
  for (const std::string& coding : entry.codings) bytes += sizeof coding + coding.size();
  for (const net::HeaderField& field : entry.head.fields) {
    bytes += sizeof field + field.name.size() + field.value.size();
  }
  return bytes;
}

}  // namespace

std::shared_ptr<const RecentPayloads::Entry> RecentPayloads::Find(
    const catalog::CaptureId& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : found->second;
}

void RecentPayloads::Keep(const catalog::CaptureId& id, Entry entry) {
  const std::size_t bytes = BytesOf(entry);
  auto kept = std::make_shared<const Entry>(std::move(entry));
  const std::lock_guard lock(mutex_);
  if (bytes_ + bytes > kBytesMax || !entries_.emplace(id, std::move(kept)).second) return;
  bytes_ += bytes;
}

}  // namespace stele::access
