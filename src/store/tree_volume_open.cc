// Making, opening and recovering a tree volume, and settling its journal.
#include <fmt/format.h>

#include <set>

#include "store/block.h"
#include "store/tree_volume.h"
#include "store/volume_file.h"

namespace stele::store {
namespace {

Status CheckCodecs(const CompressionTable& table, const codec::Registry& codecs) {
  std::set<std::string> names = {"identity"};
  for (const CompressionTable::Rule& rule : table.rules()) names.insert(rule.compression.codec);
  for (const std::string& name : names) {
    const codec::Codec* codec = codecs.Find(name);
    if (codec == nullptr || codec->NewEncoder(1) == nullptr ||
        codec->name().size() > kBlockCompressionLength) {
      return Error{ErrorCode::kInvalid, fmt::format("nothing can be compressed with {}", name)};
    }
  }
  return {};
}

VolumeDescription Described(const TreeVolume::Shape& shape, VolumeState state) {
  return {VolumeKind::kTree,    shape.name, shape.signature, shape.depth,
          shape.capacity_bytes, state,      shape.durability};
}

}  // namespace

TreeVolume::TreeVolume(io::FileSystem& fs, std::string directory, Options options)
    : fs_(fs),
      directory_(std::move(directory)),
      options_(std::move(options)),
      disk_(fs, directory_, options_.disk) {}

Status TreeVolume::Create(io::FileSystem& fs, const std::string& directory, const Shape& shape) {
  const VolumeDescription description = Described(shape, VolumeState::kWritable);
  return CreateVolumeFile(fs, directory, description, {"blocks", "temporary"},
                          [&] { return ReferenceLog::Create(fs, directory); });
}

Result<std::unique_ptr<TreeVolume>> TreeVolume::Open(io::FileSystem& fs,
                                                     const std::string& directory,
                                                     Options options) {
  if (options.codecs == nullptr) {
    options.codecs = std::make_shared<const codec::Registry>(codec::StandardRegistry());
  }
  const Status known = CheckCodecs(options.compression, *options.codecs);
  if (!known) return known.error();
  std::unique_ptr<TreeVolume> volume(new TreeVolume(fs, directory, std::move(options)));
  Status status = volume->ReadShape();
  if (status) status = volume->Recover();
  if (!status) return status.error();
  return volume;
}

Status TreeVolume::ReadShape() {
  const Result<VolumeDescription> found = ReadVolumeFile(fs_, directory_);
  if (!found) return found.error();
  if (found->kind != VolumeKind::kTree) {
    return Error{ErrorCode::kInvalid, fmt::format("the volume in {} is no tree", directory_)};
  }
  shape_ = {found->name, found->signature, found->depth, found->capacity_bytes, found->durability};
  configured_ = found->state;
  auto signature = SignatureOf(*found, options_.signature);
  if (!signature) return signature.error();
  options_.signature = *std::move(signature);
  if (static_cast<std::size_t>(shape_.depth) > options_.signature->size()) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("the volume in {} is deeper than signatures of {} allow", directory_,
                             shape_.signature)};
  }
  return {};
}

Status TreeVolume::SetState(VolumeState state) {
  if (state == VolumeState::kFull) {
    return Error{ErrorCode::kInvalid, "full is what a volume finds out itself"};
  }
  const Gate::Alone alone(gate_);
  const Status written = ReplaceVolumeFile(fs_, directory_, Described(shape_, state));
  if (!written) return written;
  const std::lock_guard lock(mutex_);
  configured_ = state;
  disk_full_ = false;
  return {};
}

Status TreeVolume::Recover() {
  Result<std::unique_ptr<io::FileLock>> lock = fs_.Lock(directory_ + "/lock");
  if (!lock) return lock.error();
  lock_ = *std::move(lock);
  const Status opened = OpenLog();
  if (!opened) return opened;
  const Result<bool> damaged = fs_.Exists(directory_ + "/journal.damaged");
  if (!damaged) return damaged.error();
  journal_was_damaged_ = *damaged;
  const Status emptied = EmptyTemporary();
  if (!emptied) return emptied;
  const Result<std::vector<ReferenceLog::Count>> counts = log_->Unsettled();
  if (!counts) return counts.error();
  const bool due = !counts->empty() || log_->WantsCheckpoint();
  const Status settled = due ? Settle(*counts) : Status();
  if (!settled || !buffered()) return settled;
  background_ = std::make_unique<BackgroundSync>(
      options_.sync_delay, [this] { static_cast<void>(Sync().ok()); });  // the log remembers it
  return {};
}

// What a process that was killed has written may not be on the disk yet.
Status TreeVolume::OpenLog() {
  if (buffered()) {
    Result<std::unique_ptr<io::Disk>> disk = fs_.OpenDisk(directory_);
    if (!disk) return disk.error();
    Result<std::unique_ptr<SyncedMark>> mark = SyncedMark::Open(fs_, directory_);
    if (!mark) return mark.error();
    whole_disk_ = *std::move(disk);
    mark_ = *std::move(mark);
    options_.log.buffered = true;
    options_.log.synced_bytes = mark_->found().bytes;
    options_.log.is_whole = [this](const ReferenceEntry& made) { return IsWhole(made); };
  }
  Result<std::unique_ptr<ReferenceLog>> log = ReferenceLog::Open(fs_, directory_, options_.log);
  if (!log) return log.error();
  log_ = *std::move(log);
  return buffered() ? SyncDisk() : Status();
}

TreeVolume::~TreeVolume() {
  background_.reset();
  if (unsynced_) static_cast<void>(SyncDisk().ok());
}

Status TreeVolume::Sync() {
  if (!buffered()) return {};
  const Gate::Pass pass(gate_);  // the journal stays the same
  return SyncDisk();
}

void TreeVolume::Touch() {
  if (!buffered()) return;
  unsynced_ = true;
  background_->Touch();
}

// What stands in the journal now is durable with the blocks that it is about.
Status TreeVolume::SyncDisk() {
  const std::lock_guard lock(syncing_);
  unsynced_ = false;
  const std::optional<std::uint64_t> written = log_->written_bytes();
  Status status = whole_disk_->Sync();
  if (status && written) status = mark_->Set({0, *written});
  if (!status) log_->Fail();
  return status;
}

// The caller is alone. No header counts what may still be lost, and no line of the next journal is
// taken for durable because it stands where one of this journal stood.
Status TreeVolume::Settle(const std::vector<ReferenceLog::Count>& counts) {
  Status status = buffered() ? SyncDisk() : Status();
  if (status) status = SettleHeaders(counts);
  if (status && buffered()) status = mark_->Set({});
  return status ? log_->Checkpoint() : status;
}

Status TreeVolume::EmptyTemporary() {
  const std::string directory = directory_ + "/temporary";
  const Result<std::vector<std::string>> names = fs_.List(directory);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const Status removed = fs_.Remove(directory + '/' + name);
    if (!removed) return removed;
  }
  return {};
}

// A block that lost its last reference goes, should it still be there. A block that is missing
// or damaged is Verify()'s to report; the others must not suffer for it.
Status TreeVolume::SettleHeaders(const std::vector<ReferenceLog::Count>& counts) {
  for (const ReferenceLog::Count& count : counts) {
    const Status settled = count.references == 0
                               ? RemoveBlock(count.block)
                               : RewriteCounter(count.block, count.references, true);
    if (!settled && settled.error().code != ErrorCode::kNotFound &&
        settled.error().code != ErrorCode::kInvalid) {
      return settled;
    }
  }
  return {};
}

Status TreeVolume::CheckpointWhenDue() {
  if (!log_->WantsCheckpoint()) return {};
  const Gate::Alone alone(gate_);
  if (!log_->WantsCheckpoint()) return {};
  const Result<std::vector<ReferenceLog::Count>> counts = log_->Unsettled();
  if (!counts) return counts.error();
  return Settle(*counts);
}

}  // namespace stele::store
