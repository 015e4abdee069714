#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "codec/registry.h"
#include "io/file_system.h"
#include "store/access_list.h"
#include "store/background_sync.h"
#include "store/block_file.h"
#include "store/compression.h"
#include "store/disk_space.h"
#include "store/durability.h"
#include "store/reference_log.h"
#include "store/synced_mark.h"
#include "store/volume.h"
#include "store/volume_rules.h"

namespace stele::store {

// The Webstore paper's volume: a tree of directories whose leaves are blocks.
//
//   DIR/volume                       what it is, in a few lines of text
//   DIR/blocks/AD/EE/2232AF3A4355    a block (docs/formats/block.md); overflow blocks end in ".1" …
//   DIR/journal, DIR/references/     who refers to which block: see reference_log.h
//   DIR/temporary/                   blocks that are being written
//   DIR/lock                         held while the volume is open
//
// The order of things makes it safe. A new block: written and synced under a temporary name,
// renamed, its directory synced, its reference journalled and synced, acknowledged. Another
// reference or release: journalled and synced, acknowledged after the counter in the header was
// rewritten; the header is synced when the journal is settled. The last release: journalled and
// synced, block removed, directory synced, acknowledged. A crash leaves at worst a block without
// references, which Compact() takes away, never a reference without its block.
//
// A buffered volume syncs none of this but the last release; a second later it syncs the disk and
// notes in DIR/synced how much of the journal is durable. When it is opened after a crash, lines
// behind that count where their blocks are whole. Headers are rewritten when the journal is
// settled.
class TreeVolume final : public Volume {
 public:
  // What is fixed when a volume is made.
  struct Shape {
    std::string name = {};
    std::string signature = "sha256";
    int depth = 3;
    std::uint64_t capacity_bytes = 0;  // of all blocks; 0: no limit
    Durability durability = Durability::kSynced;
  };

  struct Options {
    std::shared_ptr<const SignatureFunction> signature;  // null: the one its name says
    std::shared_ptr<const codec::Registry> codecs;       // null: the standard ones
    CompressionTable compression;
    ReferenceLog::Options log;
    // Contents up to this size are kept in memory while they are stored, larger ones in a file.
    std::uint64_t memory_bytes_max = 1 << 20;
    // The volume is full when no more than this is free on its disk: journals must still be
    // written, so that references are taken and contents can be deleted.
    std::uint64_t disk_reserve_bytes = 64 << 20;
    DiskSpace::Options disk = {};
    std::chrono::milliseconds sync_delay{1000};  // of a buffered volume
  };

  // Makes an empty volume in `directory`, whose parent exists. Errors: kInvalid for a wrong shape
  // or when there is a volume already.
  static Status Create(io::FileSystem& fs, const std::string& directory, const Shape& shape);

  // Finishes what a crash interrupted. Borrows `fs` for life.
  // Errors: kNotFound when there is no volume; kBusy when somebody has it open; kInvalid when its
  // signature function or a codec of the table is not known; kCorrupt.
  static Result<std::unique_ptr<TreeVolume>> Open(io::FileSystem& fs, const std::string& directory,
                                                  Options options);
  // Syncs what is not. Errors of that are not told: what was not synced is doubted when it is
  // opened.
  ~TreeVolume() override;

  // What was acknowledged before is durable then, also in a buffered volume. Errors: as Volume.
  Status Sync() override;

  const Shape& shape() const { return shape_; }
  const SignatureFunction& signature() const { return *options_.signature; }

  const std::string& name() const override { return shape_.name; }
  VolumeState state() const override;
  Status SetState(VolumeState state) override;
  Result<Lookup> Reference(const StoreRequest& request) override;
  Result<Stored> Store(const StoreRequest& request, io::Source& content) override;
  Status Restore(const ContentKey& key, std::uint64_t size, io::Source& content) override;
  Result<std::unique_ptr<io::Source>> Retrieve(const ContentKey& key) override;
  Result<PackedContent> RetrievePacked(const ContentKey& key) override;
  Result<std::unique_ptr<io::Source>> RetrieveRange(const ContentKey& key, std::uint64_t offset,
                                                    std::uint64_t length) override;
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
  Result<VolumeStats> Stats() override;
  Result<std::uint64_t> Verify(const VerifyOptions& options) override;
  // Takes away blocks that crashes left. Errors: kCorrupt while there is a file journal.damaged,
  // which may have had references to them.
  Result<std::uint64_t> Compact(const CompactOptions& options) override;

 private:
  class Spool;

  TreeVolume(io::FileSystem& fs, std::string directory, Options options);

  // Opening.
  Status ReadShape();
  Status Recover();
  Status OpenLog();
  Status EmptyTemporary();
  Status SettleHeaders(const std::vector<ReferenceLog::Count>& counts);
  Status Settle(const std::vector<ReferenceLog::Count>& counts);
  Status CheckpointWhenDue();

  // Of a buffered volume.
  bool buffered() const { return shape_.durability == Durability::kBuffered; }
  Result<bool> IsWhole(const ReferenceEntry& made);
  void Touch();
  Status SyncDisk();

  // Blocks. Where they change one, the caller has its signature.
  std::string PathOf(const Signature& signature, std::uint32_t overflow) const;
  std::string PathOf(const ContentKey& key) const { return PathOf(key.signature, key.overflow); }
  ContentKey KeyOf(const Signature& signature, std::uint32_t overflow) const;
  std::string TemporaryPath();
  Result<std::uint32_t> ChooseOverflow(const ReferenceLog::References& references,
                                       const StoreRequest& request);
  Status MakeDurableDirectory(const std::string& path);
  Status RewriteCounter(const BlockId& block, std::uint64_t references, bool sync);
  Status RemoveBlock(const BlockId& block);
  Result<OpenBlock> FindBlock(const ContentKey& key);
  Result<std::unique_ptr<io::Source>> OpenContent(const ContentKey& key);

  // Parts of storing.
  Status Accepts(const StoreRequest& request) const;
  Status AcceptsKey(const ContentKey& key) const {
    return CheckKey(key, shape_.name, *options_.signature);
  }
  Result<std::optional<std::uint32_t>> FindDuplicate(const ReferenceSet& set,
                                                     const StoreRequest& request,
                                                     const Spool* spool);
  Result<bool> SameBytes(const ContentKey& key, const Spool& spool);
  Status AddReference(ReferenceLog::References& references, const BlockId& block,
                      const Operation& operation, std::uint64_t size);
  Status ReferTo(const ContentKey& key, const Operation& operation);
  Result<Lookup> ReferenceIfHere(const StoreRequest& request);
  Result<Stored> Place(const StoreRequest& request, Spool& spool);
  Result<Stored> MakeBlock(ReferenceLog::References& references, const StoreRequest& request,
                           Spool& spool);
  Status Release(const ContentKey& key, const Operation& operation);
  Error Full() const { return TakesNoBlocks(*this); }
  bool HasRoom(std::uint64_t used, std::uint64_t pending, std::uint64_t more) const;

  // Parts of checking.
  using VisitBlock = std::function<Status(const BlockId& block)>;
  Status Walk(const std::string& directory, const std::string& digits, int level,
              const std::function<void(const Finding&)>& report, const VisitBlock& visit);
  Status CheckBlock(const BlockId& block, const std::function<void(const Finding&)>& report);
  Status CheckOwners(const std::function<void(const Finding&)>& report);

  io::FileSystem& fs_;
  const std::string directory_;
  Options options_;
  const DiskSpace disk_;
  Shape shape_;
  std::unique_ptr<io::FileLock> lock_;
  std::unique_ptr<ReferenceLog> log_;
  bool journal_was_damaged_ = false;  // once, and nobody has taken journal.damaged away since

  AccessList access_;
  Gate gate_;  // whoever changes something passes; whoever settles the journal is alone
  std::atomic<std::uint64_t> temporary_number_ = 0;
  std::atomic<bool> disk_full_ = false;  // the disk said so; lifted by the next removal

  mutable std::mutex mutex_;  // of all below
  VolumeState configured_ = VolumeState::kWritable;
  std::uint64_t reserved_bytes_ = 0;  // by blocks that are being made
  std::set<std::string> durable_directories_;

  // Of a buffered volume.
  std::mutex syncing_;  // with whoever syncs the disk
  std::unique_ptr<io::Disk> whole_disk_;
  std::unique_ptr<SyncedMark> mark_;
  std::atomic<bool> unsynced_ = false;
  std::unique_ptr<BackgroundSync> background_;
};

}  // namespace stele::store
