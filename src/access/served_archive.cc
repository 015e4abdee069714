#include "access/served_archive.h"

#include <fmt/format.h>

#include <algorithm>

#include "access/recent_payloads.h"
#include "util/checksum.h"

namespace stele::access {

ServedArchive::ServedArchive(io::FileSystem& fs, std::string directory, std::string name,
                             std::string rules_path)
    : fs_(fs),
      directory_(std::move(directory)),
      name_(std::move(name)),
      rules_path_(rules_path.empty() ? directory_ + "/access.aclj" : std::move(rules_path)) {}

Result<std::unique_ptr<ServedArchive>> ServedArchive::Open(io::FileSystem& fs,
                                                           std::string directory, std::string name,
                                                           std::string rules_path) {
  const bool must_have_rules = !rules_path.empty();
  std::unique_ptr<ServedArchive> served(
      new ServedArchive(fs, std::move(directory), std::move(name), std::move(rules_path)));
  if (must_have_rules) {
    const Result<std::string> text = io::ReadFile(fs, served->rules_path_);
    if (!text) return text.error();
  }
  if (const Status fresh = served->Refresh(); !fresh) return fresh.error();
  return served;
}

std::shared_ptr<const Snapshot> ServedArchive::Now() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

Result<std::string> ServedArchive::ReadRules() {
  Result<std::string> text = io::ReadFile(fs_, rules_path_);
  if (text) had_rules_ = true;
  if (text || text.error().code != ErrorCode::kNotFound) return text;
  if (!had_rules_) return std::string();
  return Error{ErrorCode::kNotFound,
               fmt::format("{} is gone; its rules hold until it is there again. A file without a "
                           "line has no rules",
                           rules_path_)};
}

Status ServedArchive::Refresh() {
  const std::lock_guard refreshing(refreshing_);
  // What was made anew, as by stele reindex, is opened anew.
  if (reader_ == nullptr || !reader_->Refresh()) {
    Result<std::unique_ptr<archive::ArchiveReader>> reader =
        archive::ArchiveReader::Open(fs_, directory_);
    if (!reader) return reader.error();
    reader_ = std::move(*reader);
  }
  const Result<std::string> text = ReadRules();
  if (!text) return text.error();
  Result<AccessRules> rules = AccessRules::Parse(*text, rules_path_);
  if (!rules) return rules.error();
  archive::ArchiveView view = reader_->View();
  std::uint64_t generation = ChecksumOf(*text, view.holdings().ledger_end());
  for (const catalog::BatchSummary& batch : view.catalog().BatchSummaries()) {
    generation += batch.rows;
  }
  auto snapshot = std::make_shared<const Snapshot>(Snapshot{
      name_, reader_, std::move(view), std::make_shared<const AccessRules>(*std::move(rules)),
      generation, std::make_shared<RecentPayloads>()});
  const std::lock_guard lock(mutex_);
  snapshot_ = std::move(snapshot);
  return {};
}

ServedArchives::ServedArchives(std::vector<std::unique_ptr<ServedArchive>> archives,
                               std::chrono::milliseconds interval,
                               std::function<void(const Error&)> complain)
    : archives_(std::move(archives)), complain_(std::move(complain)) {
  thread_ = std::thread([this, interval] { Loop(interval); });
}

ServedArchives::~ServedArchives() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  thread_.join();
}

ServedArchive* ServedArchives::Find(std::string_view name) const {
  const auto found = std::find_if(archives_.begin(), archives_.end(),
                                  [&](const auto& one) { return one->name() == name; });
  return found == archives_.end() ? nullptr : found->get();
}

void ServedArchives::Loop(std::chrono::milliseconds interval) {
  std::vector<bool> failed(archives_.size());
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, interval, [this] { return stopping_; })) {
    lock.unlock();
    for (std::size_t i = 0; i < archives_.size(); ++i) {
      const Status fresh = archives_[i]->Refresh();
      if (!fresh && !failed[i]) complain_(fresh.error());
      failed[i] = !fresh.ok();
    }
    lock.lock();
  }
}

}  // namespace stele::access
