#include "archive/host_tally.h"

#include <algorithm>

#include "util/ascii.h"

namespace stele::archive {
namespace {

// "org,example:8080)": what keys of one host begin with.
std::string_view HostPart(std::string_view key) {
  const std::size_t end = key.find(')');
  return end == std::string_view::npos ? std::string_view() : key.substr(0, end + 1);
}

}  // namespace

std::string HostOfKey(std::string_view key) {
  std::string_view part = HostPart(key);
  if (part.empty()) return "";
  part.remove_suffix(1);
  const std::size_t colon = std::min(part.find(':'), part.size());
  const std::vector<std::string_view> labels = Split(part.substr(0, colon), ',');
  std::string host;
  for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
    if (!host.empty()) host += '.';
    host += *label;
  }
  host += part.substr(colon);
  return host;
}

void HostTally::Add(std::string_view key, const catalog::Capture& capture) {
  const std::string_view part = HostPart(key);
  if (hosts_ == 0 || part != part_) {
    EndHost();
    ++hosts_;
    part_ = part;
    current_ = HostCount();
    current_.host = HostOfKey(key);
  }
  ++current_.captures;
  current_.bytes += capture.length;
  if ((capture.flags & catalog::kPage) != 0) ++current_.pages;
}

std::uint64_t HostTally::SizeOf(const HostCount& host) const {
  return by_ == By::kPages ? host.pages : host.captures;
}

void HostTally::EndHost() {
  if (SizeOf(current_) == 0) return;
  const auto place = std::find_if(largest_.begin(), largest_.end(), [&](const HostCount& other) {
    return SizeOf(other) < SizeOf(current_);
  });
  largest_.insert(place, std::move(current_));
  if (largest_.size() > kept_) largest_.pop_back();
}

std::vector<HostCount> HostTally::Largest() {
  EndHost();
  return std::move(largest_);
}

}  // namespace stele::archive
