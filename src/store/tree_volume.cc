#include "store/tree_volume.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/part_source.h"
#include "store/block_file.h"
#include "store/compare.h"
#include "store/reservation.h"
#include "store/spool.h"

namespace stele::store {
namespace {

using Kind = ReferenceEntry::Kind;

constexpr std::size_t kRememberedDirectories = 100'000;

std::uint64_t AtLeastZero(std::int64_t value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

}  // namespace

std::string TreeVolume::PathOf(const Signature& signature, std::uint32_t overflow) const {
  return directory_ + "/blocks/" + Sig2Location(signature, overflow, shape_.depth);
}

ContentKey TreeVolume::KeyOf(const Signature& signature, std::uint32_t overflow) const {
  return {shape_.name, signature, overflow};
}

std::string TreeVolume::TemporaryPath() {
  return fmt::format("{}/temporary/{}", directory_, ++temporary_number_);
}

VolumeState TreeVolume::state() const {
  const std::uint64_t used = AtLeastZero(log_->usage().stored_bytes);
  const std::lock_guard lock(mutex_);
  if (configured_ != VolumeState::kWritable) return configured_;
  // A block needs more than its header.
  const bool full =
      disk_full_ || !HasRoom(used + reserved_bytes_, reserved_bytes_, kBlockHeaderSize + 1);
  return full ? VolumeState::kFull : VolumeState::kWritable;
}

// `used` bytes of the capacity are gone, `pending` of them not yet on the disk. Where the disk does
// not say what is free, writing will show it.
bool TreeVolume::HasRoom(std::uint64_t used, std::uint64_t pending, std::uint64_t more) const {
  if (shape_.capacity_bytes > 0 && used + more > shape_.capacity_bytes) return false;
  const std::optional<std::uint64_t> free = disk_.FreeBytes();
  return !free || *free >= options_.disk_reserve_bytes + pending + more;
}

Status TreeVolume::Accepts(const StoreRequest& request) const {
  Status good = CheckOperation(request.operation);
  if (good) good = CheckSignature(request.signature, shape_.name, *options_.signature);
  if (!good) return good;
  if (!request.codec.empty() && !ParseCompression(request.codec)) {
    return Error{ErrorCode::kInvalid, fmt::format("there is no codec {}", request.codec)};
  }
  if (state() == VolumeState::kFrozen) {
    return Error{ErrorCode::kFull, fmt::format("volume {} is frozen", shape_.name)};
  }
  return {};
}

// ---- Storing ----

Result<Lookup> TreeVolume::Reference(const StoreRequest& request) {
  Result<Lookup> found = ReferenceIfHere(request);
  const Status settled = CheckpointWhenDue();
  if (found && !settled) return settled.error();
  return found;
}

Result<Lookup> TreeVolume::ReferenceIfHere(const StoreRequest& request) {
  const Gate::Pass pass(gate_);
  const Status accepted = Accepts(request);
  if (!accepted) return accepted.error();
  const AccessList::Access access(access_, request.signature);
  Result<ReferenceLog::References> references = log_->Find(request.signature);
  if (!references) return references.error();
  if (const auto done = references->set().Find(Kind::kReference, request.operation)) {
    return Lookup{Lookup::Outcome::kReferenced, KeyOf(request.signature, *done)};
  }
  const auto duplicate = FindDuplicate(references->set(), request, nullptr);
  if (!duplicate) return duplicate.error();
  if (!*duplicate) return Lookup{};
  if (request.mode == StoreMode::kCompare) return Lookup{Lookup::Outcome::kCandidate, std::nullopt};
  const Status added =
      AddReference(*references, {request.signature, **duplicate}, request.operation, request.size);
  if (!added) return added.error();
  return Lookup{Lookup::Outcome::kReferenced, KeyOf(request.signature, **duplicate)};
}

// The number of the block that has the content by the rules of the mode; without `spool`, of one
// that may have it. A block that is damaged has nothing: the content is stored anew.
Result<std::optional<std::uint32_t>> TreeVolume::FindDuplicate(const ReferenceSet& set,
                                                               const StoreRequest& request,
                                                               const Spool* spool) {
  if (request.mode == StoreMode::kForceNew) return std::optional<std::uint32_t>();
  for (const std::uint32_t overflow : set.Live()) {
    const Result<OpenBlock> block = OpenBlockFile(fs_, PathOf(request.signature, overflow));
    if (!block && block.error().code != ErrorCode::kCorrupt &&
        block.error().code != ErrorCode::kNotFound) {
      return block.error();
    }
    if (!block || block->header.size != request.size) continue;
    if (spool != nullptr && request.mode == StoreMode::kCompare) {
      const Result<bool> same = SameBytes(KeyOf(request.signature, overflow), *spool);
      if (!same && same.error().code == ErrorCode::kCorrupt) continue;
      if (!same) return same.error();
      if (!*same) continue;
    }
    return std::optional(overflow);
  }
  return std::optional<std::uint32_t>();
}

Result<bool> TreeVolume::SameBytes(const ContentKey& key, const Spool& spool) {
  Result<std::unique_ptr<io::Source>> stored = OpenContent(key);
  if (!stored) return stored.error();
  Result<std::unique_ptr<io::Source>> fresh = spool.Read();
  if (!fresh) return fresh.error();
  return HaveSameBytes(**stored, **fresh);
}

Status TreeVolume::AddReference(ReferenceLog::References& references, const BlockId& block,
                                const Operation& operation, std::uint64_t size) {
  const Status added = log_->Add(
      references, {Kind::kReference, block, operation, 0, 0, static_cast<std::int64_t>(size)});
  if (!added) return added;
  Touch();
  if (buffered()) return {};
  return RewriteCounter(block, references.set().Count(block.overflow), false);
}

Status TreeVolume::Refer(const ContentKey& key, const Operation& operation) {
  const Status accepted = AcceptsKey(key);
  if (!accepted) return accepted;
  const Status referred = ReferTo(key, operation);
  const Status settled = CheckpointWhenDue();
  return referred ? settled : referred;
}

Status TreeVolume::ReferTo(const ContentKey& key, const Operation& operation) {
  const Gate::Pass pass(gate_);
  const Status accepted = Accepts({key.signature, 0, StoreMode::kRegular, "", operation});
  if (!accepted) return accepted;
  const AccessList::Access access(access_, key.signature);
  Result<ReferenceLog::References> references = log_->Find(key.signature);
  if (!references) return references.error();
  if (references->set().Find(Kind::kReference, operation)) return {};
  if (references->set().Count(key.overflow) == 0) {
    return NotHere(key);
  }
  const Result<OpenBlock> block = OpenBlockFile(fs_, PathOf(key));
  if (!block) return block.error();
  return AddReference(*references, {key.signature, key.overflow}, operation, block->header.size);
}

Result<Stored> TreeVolume::Store(const StoreRequest& request, io::Source& content) {
  const Result<std::optional<Stored>> done = StoreUnread(*this, request);
  if (!done) return done.error();
  if (*done) return **done;
  Spool spool(*this, request);
  const Status filled = spool.Fill(content);
  if (!filled) return filled.error();
  Result<Stored> stored = Place(request, spool);
  const Status settled = CheckpointWhenDue();
  if (stored && !settled) return settled.error();
  return stored;
}

Result<Stored> TreeVolume::Place(const StoreRequest& request, Spool& spool) {
  const Gate::Pass pass(gate_);
  const AccessList::Access access(access_, request.signature);
  Result<ReferenceLog::References> references = log_->Find(request.signature);
  if (!references) return references.error();
  if (const auto done = references->set().Find(Kind::kReference, request.operation)) {
    return Stored{KeyOf(request.signature, *done), false};
  }
  if (state() == VolumeState::kFrozen) return Full();
  const auto duplicate = FindDuplicate(references->set(), request, &spool);
  if (!duplicate) return duplicate.error();
  if (*duplicate) {
    const Status added = AddReference(*references, {request.signature, **duplicate},
                                      request.operation, request.size);
    if (!added) return added.error();
    return Stored{KeyOf(request.signature, **duplicate), false};
  }
  return MakeBlock(*references, request, spool);
}

Result<Stored> TreeVolume::MakeBlock(ReferenceLog::References& references,
                                     const StoreRequest& request, Spool& spool) {
  if (request.only_if_here) return NoSuchContent(request.signature, shape_.name);
  if (state() != VolumeState::kWritable) return Full();
  Status status = spool.Prepare();
  if (!status) return status.error();
  const Reservation reservation(mutex_, reserved_bytes_, spool.stored_size());
  // First what is reserved, then what is used: a block that is finished in between counts twice,
  // not never.
  std::uint64_t reserved = 0;
  {
    const std::lock_guard lock(mutex_);
    reserved = reserved_bytes_;
  }
  if (!HasRoom(AtLeastZero(log_->usage().stored_bytes) + reserved, reserved, 0)) {
    return Error{ErrorCode::kFull, fmt::format("volume {} has no room for {} more bytes",
                                               shape_.name, spool.stored_size())};
  }
  const Result<std::uint32_t> overflow = ChooseOverflow(references, request);
  if (!overflow) return overflow.error();
  const BlockId block{request.signature, *overflow};
  const std::string path = PathOf(block.signature, block.overflow);
  const std::string parent = io::ParentDirectory(path);
  status = MakeDurableDirectory(parent);
  if (status) status = spool.MoveTo(path);
  if (status && !buffered()) status = fs_.SyncDirectory(parent);
  if (!status) {
    if (status.error().code == ErrorCode::kFull) disk_full_ = true;
    return status.error();
  }
  status = log_->Add(references, {Kind::kReference, block, request.operation, 1,
                                  static_cast<std::int64_t>(spool.stored_size()),
                                  static_cast<std::int64_t>(request.size)});
  if (!status) return status.error();
  Touch();
  return Stored{KeyOf(block.signature, block.overflow), true};
}

// The rename takes the damaged file's place in one step.
Status TreeVolume::Restore(const ContentKey& key, std::uint64_t size, io::Source& content) {
  Status status = AcceptsKey(key);
  if (!status) return status;
  if (state() != VolumeState::kWritable) return Full();
  const StoreRequest request{key.signature, size, StoreMode::kForceNew, "", {}};
  Spool spool(*this, request);
  status = spool.Fill(content);
  if (status) status = spool.Prepare();
  if (!status) return status;
  const Gate::Pass pass(gate_);
  const AccessList::Access access(access_, key.signature);
  const Result<ReferenceLog::References> references = log_->Find(key.signature);
  if (!references) return references.error();
  const std::uint64_t count = references->set().Count(key.overflow);
  if (count == 0) {
    return Error{ErrorCode::kNotFound, fmt::format("nobody refers to {}", key.Text())};
  }
  const std::string parent = io::ParentDirectory(PathOf(key));
  status = MakeDurableDirectory(parent);
  if (status) status = spool.MoveTo(PathOf(key));
  if (status) status = buffered() ? SyncDisk() : fs_.SyncDirectory(parent);
  return status ? RewriteCounter({key.signature, key.overflow}, count, true) : status;
}

// What stands at a place without references is left from a crash and is not missed, unless
// references may have been lost to damage: then nothing is overwritten.
Result<std::uint32_t> TreeVolume::ChooseOverflow(const ReferenceLog::References& references,
                                                 const StoreRequest& request) {
  std::uint32_t overflow = references.set().FreeOverflow(request.overflow_min);
  if (!references.damaged() && !journal_was_damaged_) return overflow;
  for (;; ++overflow) {
    const Result<bool> exists = fs_.Exists(PathOf(request.signature, overflow));
    if (!exists) return exists.error();
    if (!*exists && references.set().Count(overflow) == 0) return overflow;
  }
}

// A directory counts only when its own name is durable. Known ones are remembered, so that this
// costs one sync for each directory and opening.
Status TreeVolume::MakeDurableDirectory(const std::string& path) {
  if (path == directory_ + "/blocks") return {};
  {
    const std::lock_guard lock(mutex_);
    if (durable_directories_.contains(path)) return {};
  }
  const std::string parent = io::ParentDirectory(path);
  Status status = MakeDurableDirectory(parent);
  if (status) status = fs_.MakeDirectory(path);
  if (status && !buffered()) status = fs_.SyncDirectory(parent);
  if (!status) return status;
  const std::lock_guard lock(mutex_);
  if (durable_directories_.size() >= kRememberedDirectories) durable_directories_.clear();
  durable_directories_.insert(path);
  return {};
}

Status TreeVolume::RewriteCounter(const BlockId& block, std::uint64_t references, bool sync) {
  Result<std::unique_ptr<io::UpdatableFile>> file =
      fs_.OpenForUpdating(PathOf(block.signature, block.overflow));
  if (!file) return file.error();
  const Status written = (*file)->WriteAt(
      kBlockReferencesOffset, FormatBlockReferences(std::min(references, kBlockReferencesMax)));
  if (!written || !sync) return written;
  return (*file)->Sync();
}

// ---- Reading and deleting ----

Result<OpenBlock> TreeVolume::FindBlock(const ContentKey& key) {
  Result<OpenBlock> block = OpenBlockFile(fs_, PathOf(key));
  if (!block && block.error().code == ErrorCode::kNotFound) {
    return NotHere(key);
  }
  return block;
}

Result<std::unique_ptr<io::Source>> TreeVolume::OpenContent(const ContentKey& key) {
  Result<OpenBlock> block = FindBlock(key);
  if (!block) return block.error();
  const codec::Codec* codec = options_.codecs->Find(block->header.compression);
  if (codec == nullptr) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} is compressed with {}, which is not known here", key.Text(),
                             block->header.compression)};
  }
  return std::unique_ptr<io::Source>(std::make_unique<BlockSource>(
      *std::move(block), *codec, *options_.signature, key.signature, key.Text()));
}

Result<std::unique_ptr<io::Source>> TreeVolume::Retrieve(const ContentKey& key) {
  const Status accepted = AcceptsKey(key);
  if (!accepted) return accepted.error();
  return OpenContent(key);
}

Result<PackedContent> TreeVolume::RetrievePacked(const ContentKey& key) {
  const Status accepted = AcceptsKey(key);
  if (!accepted) return accepted.error();
  Result<OpenBlock> block = FindBlock(key);
  if (!block) return block.error();
  const Result<std::uint64_t> size = block->file->Size();
  if (!size) return size.error();
  return PackedContent{block->header.compression, block->header.size, *size - kBlockHeaderSize,
                       std::make_unique<io::FileSource>(std::move(block->file), kBlockHeaderSize)};
}

Result<std::unique_ptr<io::Source>> TreeVolume::RetrieveRange(const ContentKey& key,
                                                              std::uint64_t offset,
                                                              std::uint64_t length) {
  const Status accepted = AcceptsKey(key);
  if (!accepted) return accepted.error();
  Result<OpenBlock> block = FindBlock(key);
  if (!block) return block.error();
  if (block->header.compression != "identity") return Volume::RetrieveRange(key, offset, length);
  const std::uint64_t begin = std::min(offset, block->header.size);
  auto file = std::make_unique<io::FileSource>(std::move(block->file), kBlockHeaderSize + begin);
  return std::unique_ptr<io::Source>(std::make_unique<io::PartSource>(std::move(file), 0, length));
}

Status TreeVolume::Delete(const ContentKey& key, const Operation& operation) {
  const Status accepted = AcceptsKey(key);
  if (!accepted) return accepted;
  const Status released = Release(key, operation);
  const Status settled = CheckpointWhenDue();
  return released ? settled : released;
}

Status TreeVolume::Release(const ContentKey& key, const Operation& operation) {
  const Gate::Pass pass(gate_);
  const Status accepted = Accepts({key.signature, 0, StoreMode::kRegular, "", operation});
  if (!accepted) return accepted;
  const AccessList::Access access(access_, key.signature);
  Result<ReferenceLog::References> references = log_->Find(key.signature);
  if (!references) return references.error();
  const ReferenceSet& set = references->set();
  const BlockId block{key.signature, key.overflow};
  const std::uint64_t count = set.Count(key.overflow);
  if (const auto done = set.Find(Kind::kRelease, operation)) {
    // The first attempt may have ended before the block was gone.
    const bool gone = set.Count(*done) == 0 && !references->damaged();
    return gone ? RemoveBlock({key.signature, *done}) : Status();
  }
  if (set.CountOf(key.overflow, operation.owner) == 0) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{} has no reference to {}", operation.owner, key.Text())};
  }
  ReferenceEntry entry{Kind::kRelease, block, operation, 0, 0, set.SizeOf(key.overflow)};
  const bool last = count == 1 && !references->damaged();
  if (last) {
    entry.blocks = -1;
    const Result<OpenBlock> open = OpenBlockFile(fs_, PathOf(key));
    if (!open && open.error().code == ErrorCode::kIo) return open.error();
    if (open) {
      const Result<std::uint64_t> size = open->file->Size();
      if (!size) return size.error();
      entry.stored_bytes = -static_cast<std::int64_t>(*size);
    }
  }
  const Status added = last ? log_->AddDurably(*references, entry) : log_->Add(*references, entry);
  if (!added) return added;
  if (last) return RemoveBlock(block);
  Touch();
  if (buffered()) return {};
  const Status rewritten =
      RewriteCounter(block, std::max<std::uint64_t>(set.Count(key.overflow), 1), false);
  // A block that is missing is Verify()'s to report; the reference is gone all the same.
  if (!rewritten && rewritten.error().code == ErrorCode::kNotFound) return {};
  return rewritten;
}

Status TreeVolume::RemoveBlock(const BlockId& block) {
  const std::string path = PathOf(block.signature, block.overflow);
  const Status removed = fs_.Remove(path);
  if (!removed && removed.error().code != ErrorCode::kNotFound) return removed;
  const Status synced = fs_.SyncDirectory(io::ParentDirectory(path));
  if (!synced && synced.error().code != ErrorCode::kNotFound) return synced;
  disk_full_ = false;
  return {};
}

Result<BlockInfo> TreeVolume::Stat(const ContentKey& key) {
  const Status accepted = AcceptsKey(key);
  if (!accepted) return accepted.error();
  const AccessList::Access access(access_, key.signature);
  const Result<ReferenceLog::References> references = log_->Find(key.signature);
  if (!references) return references.error();
  BlockInfo info;
  info.references = references->set().Count(key.overflow);
  if (info.references == 0) {
    return NotHere(key);
  }
  const Result<OpenBlock> block = OpenBlockFile(fs_, PathOf(key));
  if (!block) return block.error();
  const Result<std::uint64_t> size = block->file->Size();
  if (!size) return size.error();
  info.size = block->header.size;
  info.stored_size = *size;
  info.compression = block->header.compression;
  return info;
}

Result<VolumeStats> TreeVolume::Stats() {
  const Usage usage = log_->usage();
  VolumeStats stats;
  stats.blocks = AtLeastZero(usage.blocks);
  stats.references = AtLeastZero(usage.references);
  stats.content_bytes = AtLeastZero(usage.content_bytes);
  stats.stored_bytes = AtLeastZero(usage.stored_bytes);
  stats.capacity_bytes = shape_.capacity_bytes;
  return stats;
}

}  // namespace stele::store
