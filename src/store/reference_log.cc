// Entries are sets, so settling needs no transaction: files below references/ are appended to and
// synced, and only then the journal is replaced. A crash in between leaves entries in both places,
// which is the same set. What the volume amounts to cannot be added up twice either: the journal's
// first lines have the sums at its begin, and each of its lines says what it changed.
#include "store/reference_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "store/unsynced_entries.h"
#include "util/ascii.h"
#include "util/rabin.h"

namespace stele::store {

struct ReferenceLog::References::Shard {
  explicit Shard(std::string shard_name) : name(std::move(shard_name)) {}

  const std::string name;  // "AD/E"
  std::mutex mutex;        // of all below
  bool loaded = false;
  // Behind the last good line of the file there is something else: rewrite it before appending.
  bool has_tail = false;
  std::size_t good_bytes = 0;
  std::size_t tail_bytes = 0;
  std::uint64_t tail_lines = 0;
  std::uint64_t damaged = 0;
  std::uint64_t entries = 0;
  std::unordered_map<std::string, ReferenceSet> sets;  // by the bytes of the signature
  std::string unsettled;                               // lines that the file does not have
  struct Change {
    BlockId block;
    bool made;  // by this entry
  };
  std::vector<Change> changes;  // that the unsettled lines are about
};

namespace {

constexpr std::uint64_t kShardCost = 8;  // of an empty shard, in entries

std::string WithFingerprint(std::string line) {
  line += fmt::format(" {:016X}\n", RabinFingerprint(line));
  return line;
}

// The fields before the fingerprint, where it is right.
std::optional<std::vector<std::string_view>> CheckedFields(std::string_view line) {
  std::vector<std::string_view> fields = Split(line, ' ');
  const std::string_view signed_part = line.substr(0, line.size() - fields.back().size() - 1);
  if (fields.size() < 2 || fields.back() != fmt::format("{:016X}", RabinFingerprint(signed_part))) {
    return std::nullopt;
  }
  fields.pop_back();
  return fields;
}

std::optional<std::int64_t> ParseSum(std::string_view text) {
  const std::optional<std::uint64_t> value = ParseDecimal(text);
  if (!value || *value > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

// What a journal begins with: a line of sums and one for each owner.
struct JournalHead {
  Usage usage;
  ReferenceLog::OwnerSums owners;
};

// A journal that lost lines may have led below zero; it starts again from there.
std::string FormatHead(const JournalHead& head) {
  const auto at_least_zero = [](std::int64_t value) { return std::max<std::int64_t>(value, 0); };
  const Usage& usage = head.usage;
  std::string owners;
  std::size_t count = 0;
  for (const auto& [owner, sum] : head.owners) {
    if (sum.references <= 0) continue;
    ++count;
    owners += WithFingerprint(
        fmt::format("@ {} {} {}", owner, sum.references, at_least_zero(sum.content_bytes)));
  }
  return WithFingerprint(fmt::format(
             "= 2 {} {} {} {} {}", at_least_zero(usage.blocks), at_least_zero(usage.references),
             at_least_zero(usage.stored_bytes), at_least_zero(usage.content_bytes), count)) +
         owners;
}

// The next line; `text` is then what follows it. Nothing where no line ends.
std::optional<std::string_view> TakeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

// Takes the head off `journal`.
std::optional<JournalHead> TakeHead(std::string_view& journal) {
  const auto first = TakeLine(journal);
  const auto fields = first ? CheckedFields(*first) : std::nullopt;
  if (!fields || fields->size() != 7 || (*fields)[0] != "=" || (*fields)[1] != "2") {
    return std::nullopt;
  }
  std::int64_t values[5];
  for (std::size_t i = 0; i < 5; ++i) {
    const std::optional<std::int64_t> value = ParseSum((*fields)[i + 2]);
    if (!value) return std::nullopt;
    values[i] = *value;
  }
  JournalHead head{{values[0], values[1], values[2], values[3]}, {}};
  for (std::int64_t i = 0; i < values[4]; ++i) {
    const auto line = TakeLine(journal);
    const auto owner = line ? CheckedFields(*line) : std::nullopt;
    if (!owner || owner->size() != 4 || (*owner)[0] != "@" || !IsOwner((*owner)[1])) {
      return std::nullopt;
    }
    const auto references = ParseSum((*owner)[2]);
    const auto bytes = ParseSum((*owner)[3]);
    if (!references || !bytes) return std::nullopt;
    head.owners[std::string((*owner)[1])] = {*references, *bytes};
  }
  return head;
}

void AddTo(ReferenceLog::OwnerSums& owners, const ReferenceEntry& entry) {
  const int sign = entry.kind == ReferenceEntry::Kind::kReference ? 1 : -1;
  ReferenceLog::OwnerSum& sum = owners[entry.operation.owner];
  sum.references += sign;
  sum.content_bytes += sign * entry.size;
  if (sum == ReferenceLog::OwnerSum()) owners.erase(entry.operation.owner);
}

// "AD/E"; of a signature of one byte "AD/0".
std::string ShardName(const Signature& signature) {
  const std::string hex = signature.Hex() + "00";
  return hex.substr(0, 2) + '/' + hex.substr(2, 1);
}

Error Failed(const std::string& directory) {
  return {ErrorCode::kIo, fmt::format("the journal in {} could not be written; open the volume "
                                      "again once its disk is well",
                                      directory)};
}

}  // namespace

void Usage::Add(const ReferenceEntry& entry) {
  blocks += entry.blocks;
  references += entry.kind == ReferenceEntry::Kind::kReference ? 1 : -1;
  stored_bytes += entry.stored_bytes;
  content_bytes += entry.blocks * entry.size;
}

bool ReferenceLog::References::unsettled() const {
  const std::lock_guard lock(shard_->mutex);
  return !shard_->unsettled.empty();
}

bool ReferenceLog::References::damaged() const {
  const std::lock_guard lock(shard_->mutex);
  return shard_->damaged > 0;
}

ReferenceLog::ReferenceLog(io::FileSystem& fs, std::string directory, Options options)
    : fs_(fs),
      directory_(std::move(directory)),
      options_(options),
      evict_at_(options.cached_entries_max) {}

Status ReferenceLog::Create(io::FileSystem& fs, const std::string& directory) {
  Status status = fs.MakeDirectory(directory + "/references");
  if (!status) return status;
  return io::ReplaceFile(fs, directory + "/journal", FormatHead({}));
}

Result<std::unique_ptr<ReferenceLog>> ReferenceLog::Open(io::FileSystem& fs,
                                                         const std::string& directory,
                                                         Options options) {
  std::unique_ptr<ReferenceLog> log(new ReferenceLog(fs, directory, options));
  const Status replayed = log->Replay();
  if (!replayed) return replayed.error();
  return log;
}

Status ReferenceLog::Replay() {
  const std::string path = directory_ + "/journal";
  Result<std::string> content = io::ReadFile(fs_, path);
  if (!content) return content.error();
  std::string_view lines = *content;
  std::optional<JournalHead> head = TakeHead(lines);
  if (!head) return Error{ErrorCode::kCorrupt, path + ": the first lines cannot be read"};
  usage_ = head->usage;
  owners_ = std::move(head->owners);
  std::string_view unsynced;
  if (options_.buffered) {
    const std::size_t head_size = content->size() - lines.size();
    const std::size_t synced = std::clamp(options_.synced_bytes, head_size, content->size());
    unsynced = lines.substr(synced - head_size);
    lines.remove_suffix(unsynced.size());
  }
  ReferenceEntries read = ParseReferenceEntries(lines);
  Result<UnsyncedEntries> late = TakeUnsyncedEntries(unsynced, options_.is_whole);
  if (!late) return late.error();
  std::move(late->entries.begin(), late->entries.end(), std::back_inserter(read.entries));
  if (read.damaged > 0) {
    const Status kept = io::ReplaceFile(fs_, path + ".damaged", *content);
    if (!kept) return kept;
  }
  for (const ReferenceEntry& entry : read.entries) {
    Result<References> references = Find(entry.block.signature);
    if (!references) return references.error();
    Shard& shard = *references->shard_;
    references->set_->Add(entry);
    shard.unsettled += FormatReferenceEntry(entry);
    shard.changes.push_back({entry.block, entry.blocks > 0});
    usage_.Add(entry);
    AddTo(owners_, entry);
  }
  replaying_ = false;
  for (const auto& [name, shard] : shards_) JudgeTail(*shard);
  // Lines behind a cut one would be lost with it, so that a journal that was cut begins anew; until
  // then nothing is written to it.
  journal_bytes_ = content->size();
  if (read.has_tail || read.damaged > 0 || late->lost) return {};
  Result<std::unique_ptr<io::WritableFile>> file = fs_.OpenForAppending(path);
  if (!file) return file.error();
  journal_ = *std::move(file);
  return {};
}

std::shared_ptr<ReferenceLog::Shard> ReferenceLog::ShardOf(const std::string& name) {
  const std::lock_guard lock(shards_mutex_);
  std::shared_ptr<Shard>& shard = shards_[name];
  if (shard == nullptr) {
    Evict();
    cached_entries_ += kShardCost;
    shard = std::make_shared<Shard>(name);
  }
  return shard;
}

// A shard that somebody uses, or that knows more than its file, stays. Looks at all shards only
// after as many entries have come as may be cached, so that each costs little.
void ReferenceLog::Evict() {
  if (cached_entries_ < evict_at_) return;
  std::uint64_t kept = 0;
  for (auto at = shards_.begin(); at != shards_.end();) {
    const std::shared_ptr<Shard>& shard = at->second;
    if (shard != nullptr && shard.use_count() == 1) {
      std::unique_lock lock(shard->mutex);
      if (shard->unsettled.empty()) {
        lock.unlock();
        at = shards_.erase(at);
        continue;
      }
      kept += shard->entries + kShardCost;
    }
    ++at;
  }
  cached_entries_ = kept;
  evict_at_ = kept + options_.cached_entries_max;
}

// Requires: shard.mutex is held.
Status ReferenceLog::Load(Shard& shard) {
  if (shard.loaded) return {};
  const Result<std::string> content = io::ReadFile(fs_, directory_ + "/references/" + shard.name);
  if (!content && content.error().code != ErrorCode::kNotFound) return content.error();
  if (content) {
    const ReferenceEntries read = ParseReferenceEntries(*content);
    for (const ReferenceEntry& entry : read.entries) {
      shard.sets[std::string(entry.block.signature.bytes())].Add(entry);
    }
    shard.entries = read.entries.size();
    cached_entries_ += shard.entries;
    shard.damaged = read.damaged;
    shard.has_tail = read.has_tail;
    shard.good_bytes = read.good_bytes;
    shard.tail_bytes = content->size() - read.good_bytes;
    shard.tail_lines = read.tail_lines;
    if (!replaying_) JudgeTail(shard);
  }
  shard.loaded = true;
  return {};
}

// What a checkpoint was writing when it was interrupted is still in the journal; a longer tail is
// damage.
void ReferenceLog::JudgeTail(Shard& shard) {
  if (shard.tail_bytes > shard.unsettled.size()) shard.damaged += shard.tail_lines;
}

Result<ReferenceLog::References> ReferenceLog::Find(const Signature& signature) {
  References result;
  result.shard_ = ShardOf(ShardName(signature));
  const std::lock_guard lock(result.shard_->mutex);
  const Status loaded = Load(*result.shard_);
  if (!loaded) return loaded.error();
  result.set_ = &result.shard_->sets[std::string(signature.bytes())];
  return result;
}

Status ReferenceLog::Add(References& references, const ReferenceEntry& entry) {
  return Add(references, entry, !options_.buffered);
}

Status ReferenceLog::AddDurably(References& references, const ReferenceEntry& entry) {
  return Add(references, entry, true);
}

Status ReferenceLog::Add(References& references, const ReferenceEntry& entry, bool durably) {
  const Status written = Commit(entry, durably);
  if (!written) return written;
  Shard& shard = *references.shard_;
  const std::lock_guard lock(shard.mutex);
  references.set_->Add(entry);
  shard.unsettled += FormatReferenceEntry(entry);
  shard.changes.push_back({entry.block, entry.blocks > 0});
  ++shard.entries;
  ++cached_entries_;
  return {};
}

// Whoever finds nobody syncing takes all lines that wait, its own among them, and syncs for all.
Status ReferenceLog::Commit(const ReferenceEntry& entry, bool durably) {
  std::unique_lock lock(commit_mutex_);
  batch_syncs_ = batch_syncs_ || durably;
  batch_ += FormatReferenceEntry(entry);
  const std::uint64_t mine = ++queued_;
  while (synced_ < mine && !failed_) {
    if (syncing_) {
      committed_.wait(lock);
      continue;
    }
    syncing_ = true;
    const std::string batch = std::exchange(batch_, {});
    const bool sync = std::exchange(batch_syncs_, false);
    const std::uint64_t upto = queued_;
    lock.unlock();
    const Status written = WriteBatch(batch, sync);
    lock.lock();
    syncing_ = false;
    failed_ = failed_ || !written;
    if (written) {
      synced_ = upto;
      journal_bytes_ += batch.size();
    }
    committed_.notify_all();
    if (!written) return written;
  }
  if (synced_ < mine) return Failed(directory_);
  usage_.Add(entry);
  AddTo(owners_, entry);
  return {};
}

Status ReferenceLog::WriteBatch(const std::string& batch, bool sync) {
  if (journal_ == nullptr) return Failed(directory_);
  const Status appended = journal_->Append(batch);
  return appended && sync ? journal_->Sync() : appended;
}

std::optional<std::uint64_t> ReferenceLog::written_bytes() const {
  const std::lock_guard lock(commit_mutex_);
  if (journal_ == nullptr) return std::nullopt;
  return journal_bytes_;
}

void ReferenceLog::Fail() {
  const std::lock_guard lock(commit_mutex_);
  failed_ = true;
  committed_.notify_all();
}

Usage ReferenceLog::usage() const {
  const std::lock_guard lock(commit_mutex_);
  return usage_;
}

ReferenceLog::OwnerSums ReferenceLog::owners() const {
  const std::lock_guard lock(commit_mutex_);
  return owners_;
}

ReferenceLog::OwnerSum ReferenceLog::SumOf(const std::string& owner) const {
  const std::lock_guard lock(commit_mutex_);
  const auto found = owners_.find(owner);
  return found == owners_.end() ? OwnerSum() : found->second;
}

bool ReferenceLog::WantsCheckpoint() const {
  const std::lock_guard lock(commit_mutex_);
  return !failed_ && (journal_ == nullptr || journal_bytes_ > options_.journal_bytes_max);
}

Result<std::vector<ReferenceLog::Count>> ReferenceLog::Unsettled() {
  const std::lock_guard lock(shards_mutex_);
  std::vector<Count> counts;
  for (const auto& [name, shard] : shards_) {
    const std::lock_guard shard_lock(shard->mutex);
    std::map<std::string, std::pair<Count, bool>> changed;  // by name; true: only made
    for (const Shard::Change& change : shard->changes) {
      const auto [at, is_first] = changed.try_emplace(
          BlockName(change.block.signature, change.block.overflow), Count{change.block, 0}, true);
      at->second.second = is_first && change.made;
    }
    for (auto& [block_name, entry] : changed) {
      auto& [count, only_made] = entry;
      if (only_made) continue;
      const ReferenceSet& set = shard->sets[std::string(count.block.signature.bytes())];
      count.references = set.Count(count.block.overflow);
      // Of a set that may be larger than it seems, no block is taken for unreferenced.
      if (count.references == 0 && shard->damaged > 0) continue;
      counts.push_back(count);
    }
  }
  return counts;
}

Result<std::set<std::string>> ReferenceLog::ShardNames() {
  const std::string root = directory_ + "/references";
  std::set<std::string> names;
  {
    const std::lock_guard lock(shards_mutex_);
    for (const auto& [name, shard] : shards_) names.insert(name);
  }
  const Result<std::vector<std::string>> folders = fs_.List(root);
  if (!folders) return folders.error();
  for (const std::string& folder : *folders) {
    const Result<std::vector<std::string>> files = fs_.List(root + '/' + folder);
    if (!files) return files.error();
    for (const std::string& file : *files) {
      if (folder.size() == 2 && file.size() == 1) names.insert(folder + '/' + file);
    }
  }
  return names;
}

Result<std::vector<ListedBlock>> ReferenceLog::List(const ListRequest& request) {
  std::vector<ListedBlock> blocks;
  const Result<std::set<std::string>> names = ShardNames();
  if (!names) return names.error();
  auto name =
      request.after ? names->lower_bound(ShardName(request.after->signature)) : names->begin();
  for (; name != names->end() && blocks.size() < request.limit; ++name) {
    const std::size_t before = blocks.size();
    {
      const std::shared_ptr<Shard> shard = ShardOf(*name);
      const std::lock_guard lock(shard->mutex);
      const Status loaded = Load(*shard);
      if (!loaded) return loaded.error();
      for (const auto& [bytes, set] : shard->sets) {
        for (const std::uint32_t overflow : set.Live()) {
          const BlockId block{Signature(bytes), overflow};
          if (request.after && block <= *request.after) continue;
          const std::uint64_t references =
              request.owner.empty() ? set.Count(overflow) : set.CountOf(overflow, request.owner);
          if (references == 0) continue;
          blocks.push_back({block, static_cast<std::uint64_t>(set.SizeOf(overflow)), references});
        }
      }
    }
    std::sort(blocks.begin() + static_cast<std::ptrdiff_t>(before), blocks.end(),
              [](const ListedBlock& a, const ListedBlock& b) { return a.block < b.block; });
  }
  if (blocks.size() > request.limit)
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(request.limit), blocks.end());
  return blocks;
}

Result<ReferenceLog::OwnerSums> ReferenceLog::AddUpOwners() {
  OwnerSums sums;
  const Result<std::set<std::string>> names = ShardNames();
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const std::shared_ptr<Shard> shard = ShardOf(name);
    const std::lock_guard lock(shard->mutex);
    const Status loaded = Load(*shard);
    if (!loaded) return loaded.error();
    for (const auto& [bytes, set] : shard->sets) {
      for (const std::uint32_t overflow : set.Live()) {
        for (const auto& [owner, count] : set.OwnersOf(overflow)) {
          const auto references = static_cast<std::int64_t>(count);
          sums[owner].references += references;
          sums[owner].content_bytes += references * set.SizeOf(overflow);
        }
      }
    }
  }
  return sums;
}

Status ReferenceLog::ForEach(const std::function<Status(const Count&)>& visit) {
  const Result<std::set<std::string>> names = ShardNames();
  if (!names) return names.error();
  for (const std::string& name : *names) {
    std::vector<Count> counts;
    {
      const std::shared_ptr<Shard> shard = ShardOf(name);
      const std::lock_guard lock(shard->mutex);
      const Status loaded = Load(*shard);
      if (!loaded) return loaded;
      for (const auto& [bytes, set] : shard->sets) {
        for (const std::uint32_t overflow : set.Live()) {
          counts.push_back({{Signature(bytes), overflow}, set.Count(overflow)});
        }
      }
    }
    for (const Count& count : counts) {
      const Status visited = visit(count);
      if (!visited) return visited;
    }
  }
  return {};
}

Status ReferenceLog::Settle(Shard& shard) {
  const std::string path = directory_ + "/references/" + shard.name;
  if (shard.has_tail) {
    Result<std::string> content = io::ReadFile(fs_, path);
    if (!content) return content.error();
    // Damage is left for people to look at.
    content->resize(shard.damaged > 0 ? content->rfind('\n') + 1 : shard.good_bytes);
    const Status replaced = io::ReplaceFile(fs_, path, *content + shard.unsettled);
    if (!replaced) return replaced;
    shard.has_tail = false;
    return {};
  }
  Result<std::unique_ptr<io::WritableFile>> file = fs_.OpenForAppending(path);
  if (!file) return file.error();
  Status status = (*file)->Append(shard.unsettled);
  if (status) status = (*file)->Sync();
  const Status closed = (*file)->Close();
  return status ? closed : status;
}

Status ReferenceLog::SettleAll() {
  const std::string root = directory_ + "/references";
  std::set<std::string> directories;
  for (const auto& [name, shard] : shards_) {
    if (!shard->unsettled.empty()) directories.insert(root + '/' + name.substr(0, 2));
  }
  for (const std::string& directory : directories) {
    const Status made = fs_.MakeDirectory(directory);
    if (!made) return made;
  }
  if (!directories.empty()) {
    const Status synced = fs_.SyncDirectory(root);
    if (!synced) return synced;
  }
  for (const auto& [name, shard] : shards_) {
    if (shard->unsettled.empty()) continue;
    const Status settled = Settle(*shard);
    if (!settled) return settled;
  }
  for (const std::string& directory : directories) {
    const Status synced = fs_.SyncDirectory(directory);
    if (!synced) return synced;
  }
  return {};
}

Status ReferenceLog::Checkpoint() {
  const std::scoped_lock lock(shards_mutex_, commit_mutex_);
  if (failed_) return Failed(directory_);
  failed_ = true;  // until all of it has succeeded
  Status status = SettleAll();
  const std::string path = directory_ + "/journal";
  const std::string head = FormatHead({usage_, owners_});
  journal_ = nullptr;
  if (status) status = io::ReplaceFile(fs_, path, head);
  if (!status) return status;
  Result<std::unique_ptr<io::WritableFile>> file = fs_.OpenForAppending(path);
  if (!file) return file.error();
  journal_ = *std::move(file);
  journal_bytes_ = head.size();
  for (const auto& [name, shard] : shards_) {
    shard->unsettled.clear();
    shard->changes.clear();
  }
  failed_ = false;
  return {};
}

}  // namespace stele::store
