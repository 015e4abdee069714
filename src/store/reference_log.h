#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/file_system.h"
#include "store/reference_set.h"

namespace stele::store {

// What the blocks of a volume amount to.
struct Usage {
  std::int64_t blocks = 0;
  std::int64_t references = 0;
  std::int64_t stored_bytes = 0;
  std::int64_t content_bytes = 0;

  void Add(const ReferenceEntry& entry);
  friend bool operator==(const Usage&, const Usage&) = default;
};

// All references of a volume, durable. Entries go to one file, `journal`, where concurrent writers
// share a sync; now and then they are settled, sorted by signature, in the files below
// `references/`, and the journal begins anew.
//
//   journal             what it all amounts to, then the entries since the last checkpoint
//   journal.damaged     a journal that had unreadable lines between good ones
//   references/AD/E     the entries of all signatures that begin with ADE
//
// Thread-safe, as each function says. Borrows `fs` for life.
class ReferenceLog {
 public:
  struct Options {
    std::uint64_t journal_bytes_max = 8 << 20;   // then WantsCheckpoint()
    std::uint64_t cached_entries_max = 200'000;  // of settled entries kept in memory
    // Lines are written and not synced: whoever opens the log syncs the disk.
    bool buffered = false;
    // Of a buffered log: bytes of the journal that are known to be durable, and who knows whether
    // a block that a later line made is there with all its bytes.
    std::uint64_t synced_bytes = 0;
    std::function<Result<bool>(const ReferenceEntry&)> is_whole = {};
  };

  // One signature's references. Valid while the caller has the signature for itself.
  class References {
   public:
    const ReferenceSet& set() const { return *set_; }
    // Settled entries of this signature, or of one beside it, are unreadable: there may be more
    // references than the set has.
    bool damaged() const;
    // Entries of this signature, or of one beside it, are in the journal alone.
    bool unsettled() const;

   private:
    friend class ReferenceLog;
    struct Shard;
    std::shared_ptr<Shard> shard_;
    ReferenceSet* set_ = nullptr;
  };

  // An empty log in `directory`, which exists.
  static Status Create(io::FileSystem& fs, const std::string& directory);

  // Reads the journal. What it holds counts at once; the next Checkpoint() settles it.
  // Errors: kNotFound when there is none, kCorrupt when its first line cannot be read.
  static Result<std::unique_ptr<ReferenceLog>> Open(io::FileSystem& fs,
                                                    const std::string& directory, Options options);

  // Requires: the caller has `signature` for itself, and keeps it while it uses the result.
  Result<References> Find(const Signature& signature);

  // Adds to the set and to the journal; durable when it returns, unless the log is buffered.
  // Requires: `references` is of the
  // entry's signature, and the entry is not in it. Errors: kIo, kFull. Nothing is then known about
  // the entry, and nothing is added any more until the log is opened again.
  Status Add(References& references, const ReferenceEntry& entry);
  // The same, and durable also when the log is buffered.
  Status AddDurably(References& references, const ReferenceEntry& entry);

  // Up to where the journal has been written. Nothing: it begins anew with the next Checkpoint().
  std::optional<std::uint64_t> written_bytes() const;
  // What was written may be lost: nothing is added any more until the log is opened again.
  void Fail();

  Usage usage() const;
  // Owners that have references, by name.
  struct OwnerSum {
    std::int64_t references = 0;
    std::int64_t content_bytes = 0;

    friend bool operator==(const OwnerSum&, const OwnerSum&) = default;
  };
  using OwnerSums = std::map<std::string, OwnerSum>;
  OwnerSums owners() const;
  OwnerSum SumOf(const std::string& owner) const;
  // The same, by reading everything. Right only while nobody calls Add().
  Result<OwnerSums> AddUpOwners();

  // As Volume::List().
  Result<std::vector<ListedBlock>> List(const ListRequest& request);

  bool WantsCheckpoint() const;

  // Blocks in the journal, each once, with the size of its set: those whose headers must be made
  // right and durable before a Checkpoint(). Those that were only made are not among them: they
  // were synced with their one reference. Requires: nobody calls Add() meanwhile.
  struct Count {
    BlockId block;
    std::uint64_t references = 0;
  };
  Result<std::vector<Count>> Unsettled();

  // Every block that has references. Sets may change meanwhile: a caller asks again, with the
  // signature to itself, about what it finds odd. Stops at the first error of `visit`.
  Status ForEach(const std::function<Status(const Count&)>& visit);

  // Settles the journal. Requires: nobody calls Add() meanwhile.
  // Errors: as Add().
  Status Checkpoint();

 private:
  using Shard = References::Shard;

  ReferenceLog(io::FileSystem& fs, std::string directory, Options options);
  Status Replay();
  std::shared_ptr<Shard> ShardOf(const std::string& name);
  Result<std::set<std::string>> ShardNames();
  Status Load(Shard& shard);
  static void JudgeTail(Shard& shard);
  Status Add(References& references, const ReferenceEntry& entry, bool durably);
  Status Commit(const ReferenceEntry& entry, bool durably);
  Status WriteBatch(const std::string& batch, bool sync);
  Status Settle(Shard& shard);
  Status SettleAll();
  void Evict();  // requires: shards_mutex_ is held

  io::FileSystem& fs_;
  const std::string directory_;
  const Options options_;

  bool replaying_ = true;  // while the log is opened

  std::mutex shards_mutex_;  // of shards_ and evict_at_
  std::atomic<std::uint64_t> cached_entries_ = 0;
  std::uint64_t evict_at_;
  std::map<std::string, std::shared_ptr<Shard>> shards_;  // by "AD/E"

  mutable std::mutex commit_mutex_;  // of all below
  std::condition_variable committed_;
  std::unique_ptr<io::WritableFile> journal_;
  std::string batch_;         // lines that wait for the next sync
  bool batch_syncs_ = false;  // one of them wants it
  std::uint64_t queued_ = 0;  // lines ever put into batch_
  std::uint64_t synced_ = 0;  // lines ever synced
  std::uint64_t journal_bytes_ = 0;
  bool syncing_ = false;
  bool failed_ = false;
  Usage usage_;
  OwnerSums owners_;
};

}  // namespace stele::store
