#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "codec/block_deflater.h"
#include "codec/gzip_member.h"
#include "io/clock.h"
#include "io/file_system.h"
#include "io/random.h"
#include "store/access_list.h"
#include "store/background_sync.h"
#include "store/compression.h"
#include "store/container_compact.h"
#include "store/container_index.h"
#include "store/container_log.h"
#include "store/container_replay.h"
#include "store/container_spool.h"
#include "store/disk_space.h"
#include "store/durability.h"
#include "store/synced_mark.h"
#include "store/volume.h"
#include "store/volume_rules.h"

namespace stele::store {

// Blocks as WARC records in append-only containers. docs/formats/container.md.
//
//   DIR/volume                            what it is, in a few lines of text
//   DIR/containers/00000001.warc.gz       sealed; never changes again
//   DIR/containers/00000002.warc.gz.open  records are appended to this one
//   DIR/containers/*.torn                 what crashes left at the end of an open container
//   DIR/temporary/                        large contents on their way
//   DIR/lock                              held while the volume is open
//
// The containers are the log and the only truth: a content, another reference to it and each
// release are records, acknowledged when they are synced. The table of signatures is a cache of
// them, brought up to date when the volume is opened. Released blocks keep their space until the
// volume is compacted. A buffered volume acknowledges records when they are written; a second later
// it syncs the disk and notes in DIR/synced up to where the log is durable.
class ContainerVolume final : public Volume {
 public:
  // What is fixed when a volume is made.
  struct Shape {
    std::string name;
    std::string signature = "sha256";
    std::uint64_t capacity_bytes = 0;  // of all containers; 0: no limit
    Durability durability = Durability::kSynced;
  };

  struct Options {
    std::shared_ptr<const SignatureFunction> signature;  // null: the one its name says
    CompressionTable compression;  // identity is stored; gzip is the only other codec
    ContainerLog::Options log;     // the first record is made by the volume
    bool reindex = false;          // makes the table anew, whatever it says
    // How far opening is; called by the thread that opens.
    std::function<void(std::uint64_t done_bytes, std::uint64_t all_bytes)> progress = nullptr;
    // Contents up to this size are kept in memory while they are stored, larger ones in a file.
    std::uint64_t memory_bytes_max = 1 << 20;
    // What is left free on the disk for references, releases and the table.
    std::uint64_t disk_reserve_bytes = 64 << 20;
    DiskSpace::Options disk = {};
    std::chrono::milliseconds sync_delay{1000};  // of a buffered volume
  };

  // Borrowed for life. `random` is used by one thread at a time.
  struct Environment {
    io::FileSystem& fs;
    const io::Clock& clock;
    io::Random& random;
  };

  // Makes an empty volume in `directory`, whose parent exists. Errors: kInvalid for a wrong shape
  // or when there is a volume already.
  static Status Create(io::FileSystem& fs, const std::string& directory, const Shape& shape);

  // Applies what the table does not have yet. A table that is new or of an older moment costs time
  // only; one of another volume must not be given. Errors: kNotFound when there is no volume; kBusy
  // when somebody has it open; kInvalid when its signature function is not known or the compression
  // table has a codec that containers do not; kCorrupt.
  static Result<std::unique_ptr<ContainerVolume>> Open(Environment environment,
                                                       const std::string& directory,
                                                       std::unique_ptr<BlockTable> table,
                                                       Options options);
  // Leaves the table durable, so that opening is quick, and syncs what is not. Errors of that are
  // not told: what was not synced is doubted when it is opened.
  ~ContainerVolume() override;

  const Shape& shape() const { return shape_; }
  const SignatureFunction& signature() const { return *options_.signature; }

  // What opening found: bytes between good records that cannot be read, and files with torn tails.
  const std::vector<LogDamage>& damaged() const { return damaged_; }
  const std::vector<std::string>& torn() const { return torn_; }

  // How often the disk has been asked to keep what was written since the volume was opened.
  std::uint64_t syncs() const { return log_->syncs(); }

  // What was acknowledged before is durable then, also in a buffered volume. Errors: as Volume.
  Status Sync() override;

  const std::string& name() const override { return shape_.name; }
  VolumeState state() const override;
  Status SetState(VolumeState state) override;
  Result<Lookup> Reference(const StoreRequest& request) override;
  Result<Stored> Store(const StoreRequest& request, io::Source& content) override;
  Status Restore(const ContentKey& key, std::uint64_t size, io::Source& content) override;
  Result<std::unique_ptr<io::Source>> Retrieve(const ContentKey& key) override;
  Result<PackedContent> RetrievePacked(const ContentKey& key) override;
  Status Refer(const ContentKey& key, const Operation& operation) override;
  Status Delete(const ContentKey& key, const Operation& operation) override;
  Result<BlockInfo> Stat(const ContentKey& key) override;
  Result<std::uint64_t> Held(const ContentKey& key, const std::string& owner) override;
  Result<std::vector<BlockOperation>> Operations(const ContentKey& key,
                                                 const std::optional<BlockOperation>& after,
                                                 std::size_t limit) override;
  Result<std::vector<ListedBlock>> List(const ListRequest& request) override;
  Result<std::vector<OwnerUsage>> Owners() override;
  Result<OwnerUsage> UsageOf(const std::string& owner) override;
  // stored_bytes is what all containers take.
  Result<VolumeStats> Stats() override;
  Result<std::uint64_t> Verify(const VerifyOptions& options) override;
  // Costs a pass over the table, and two over each container that goes. Operations of blocks that
  // are gone are forgotten with the records that say them.
  Result<std::uint64_t> Compact(const CompactOptions& options) override;

 private:
  using Blocks = std::vector<BlockIndex::NumberedBlock>;

  ContainerVolume(Environment environment, std::string directory, std::unique_ptr<BlockTable> table,
                  Options options);

  // Opening.
  Status ReadShape();
  Status Recover();
  Status EmptyTemporary();
  std::string FirstRecord();

  // Of a buffered volume.
  bool buffered() const { return shape_.durability == Durability::kBuffered; }
  Status OpenDisk();
  Status SyncDisk();
  std::string NotesRecord(std::string_view lines);

  std::string NewRecordId();
  ContentKey KeyOf(const Signature& signature, std::uint32_t overflow) const;
  Status Accepts(const Operation& operation, const Signature& signature) const;
  Status AcceptsKey(const ContentKey& key) const {
    return CheckKey(key, shape_.name, *options_.signature);
  }
  static Status AcceptsCodec(const std::string& codec);
  Error Full() const { return TakesNoBlocks(*this); }
  // Requires: mutex_ is held.
  bool HasRoom(std::uint64_t used) const;

  // Parts of storing. The caller has the signature for itself.
  Result<std::optional<Stored>> FindDone(const StoreRequest& request) const;
  Result<Blocks> FindBlocks(const StoreRequest& request) const;
  Result<const BlockIndex::NumberedBlock*> FindDuplicate(const Blocks& blocks,
                                                         const StoreRequest& request,
                                                         const ContainerSpool* spool);
  Result<bool> SameBytes(const ContentKey& key, const BlockRow& row, const ContainerSpool& spool);
  Status AddNote(LogEntry::Kind kind, const BlockId& block, const BlockRow& row,
                 const Operation& operation);
  Result<Stored> Place(const StoreRequest& request, ContainerSpool& spool);
  Status Pack(const StoreRequest& request, LogEntry& entry, ContainerSpool& spool);
  Result<Stored> MakeBlock(const Blocks& blocks, const StoreRequest& request,
                           ContainerSpool& spool);
  // Where a block is `restored`, its references are noted first.
  Status AppendBlock(LogEntry entry, const StoreRequest& request, ContainerSpool& spool,
                     const BlockRow* restored);
  // A record and the file that it is in.
  struct OpenRecord {
    BlockRow row;
    std::shared_ptr<const io::ReadableFile> file;
  };
  Result<OpenRecord> FindRecord(const ContentKey& key);
  Result<OpenRecord> OpenAt(const ContentKey& key, BlockRow row);
  std::unique_ptr<io::Source> ContentOf(const ContentKey& key, OpenRecord record) const;
  Result<std::unique_ptr<io::Source>> OpenContent(const ContentKey& key, const BlockRow& row);

  // Parts of checking.
  using Report = std::function<void(const Finding&)>;
  Result<bool> CheckBlock(const BlockIndex::AuditedBlock& audited, const Report& report);
  Status CheckContainers(const Report& report);
  Finding FindingOf(const LogDamage& damage) const;

  // Parts of compacting.
  using UsedBytes = std::map<std::uint64_t, std::uint64_t>;  // by container
  struct Victim {
    std::uint64_t container = 0;
    std::uint64_t size = 0;
    bool is_unused = false;
  };
  ContainerCompactor NewCompactor();
  Status RemoveCondemned();
  Status SealIfUnused(const UsedBytes& used, double used_share_max);
  Result<std::vector<Victim>> ChooseVictims(const UsedBytes& used, double used_share_max);
  Result<std::optional<std::uint64_t>> CompactOne(const Victim& victim,
                                                  const CompactOptions& options);

  const Environment environment_;
  const std::string directory_;
  Options options_;
  const DiskSpace disk_;
  Shape shape_;
  std::unique_ptr<io::FileLock> lock_;
  const std::unique_ptr<BlockTable> table_;
  BlockIndex index_;
  ContainerFiles files_;
  std::unique_ptr<ContainerLog> log_;
  std::vector<LogDamage> damaged_;
  std::vector<std::string> torn_;

  std::mutex maintaining_;  // of whoever checks or compacts all of it
  codec::BlockDeflaterPool deflaters_;
  codec::GzipMemberDeflater notes_deflater_{1};  // of whoever writes the log
  AccessList access_;
  Gate gate_;  // whoever changes something passes; whoever sets the state is alone
  std::atomic<std::uint64_t> temporary_number_ = 0;

  mutable std::mutex mutex_;  // of all below
  VolumeState configured_ = VolumeState::kWritable;
  std::uint64_t reserved_bytes_ = 0;  // by records that are being written

  // Of a buffered volume.
  std::mutex syncing_;  // with whoever syncs the disk
  std::unique_ptr<io::Disk> whole_disk_;
  std::unique_ptr<SyncedMark> mark_;
  std::atomic<bool> unsynced_ = false;
  std::unique_ptr<BackgroundSync> background_;
};

}  // namespace stele::store
