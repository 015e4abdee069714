#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "archive/archive_view.h"
#include "archive/container_file_system.h"
#include "archive/ledger.h"
#include "catalog/catalog.h"
#include "io/clock.h"
#include "io/random.h"

namespace stele::archive {

// The one process that writes an archive. What it acknowledges is in containers and ledger, and
// durable; the catalog follows, and gets from the ledger what a crash kept from it. Thread-safe.
class ArchiveWriter {
 public:
  struct Environment {
    io::FileSystem& fs;
    const io::Clock& clock;
    io::Random& random;  // thrown under a lock
    std::string writer;  // who this is, for others who find the archive locked
    catalog::CatalogOptions catalog = {};
  };

  // Makes an archive in a directory that has none; of several that try at once, one does. False:
  // it is one already, and nothing was done. Errors: kBusy when somebody else is at it.
  static Result<bool> Create(io::FileSystem& fs, const std::string& directory,
                             const ArchiveConfig& config);
  // What is to be made anew, though it may be good.
  enum class Rebuild { kNothing, kCatalog, kCatalogAndRows };
  // Borrows what is in `environment` for life. Finishes what a crash interrupted, takes up what
  // could not be read before, and makes rows that are lost. What cannot be read is left out, and
  // index_failures() names it. A catalog that is made anew is made beside the one that is there,
  // and takes its place when it is whole; rows likewise. With a batch, only its rows in the catalog
  // are made anew, and those of others that cannot be opened; rows beside containers where they
  // have captures of the batch; and the index by URL stays: when that fails, or is interrupted, all
  // is as it was. Errors: kNotFound when this is no archive, or there never was such a batch, kBusy
  // when somebody else writes it, kInvalid, kCorrupt, also when the ledger is missing; kOutdated
  // when the catalog knows more than the ledger and is not made anew.
  static Result<std::unique_ptr<ArchiveWriter>> Open(
      const Environment& environment, const std::string& directory,
      Rebuild rebuild = Rebuild::kNothing, std::optional<std::uint32_t> batch = std::nullopt);
  ~ArchiveWriter();

  const ArchiveLayout& layout() const { return *layout_; }
  io::FileSystem& fs() const { return environment_.fs; }
  const io::Clock& clock() const { return environment_.clock; }
  // For dice of one's own.
  std::uint64_t NewSeed();
  // One for each container that could not be read when the archive was opened: its captures are not
  // listed, or with the rows that it had. Each says what to do.
  const std::map<std::uint32_t, Error>& index_failures() const { return index_failures_; }
  // Why the ledger is older than what is stored, when the archive was opened: files of containers
  // that it does not know, and a catalog, made anew since, that knew more. Each says what to do.
  const std::vector<Error>& ledger_failures() const { return ledger_failures_; }
  // What is there now. The writer must outlive it.
  ArchiveView View();
  // As Holdings.
  std::optional<Container> FindBySha256(std::string_view sha256);
  std::optional<Container> FindKnown(const Container& container);
  bool WasPurged(std::string_view sha256);

  Result<std::uint32_t> BeginRun(std::string_view kind, std::string_view note);
  // The same, but the ledger is told with the first container that Add() takes: a run that brings
  // none leaves no trace. Where the last run was begun with the same words and interrupted, it goes
  // on. Requires of both: no run is planned that brought nothing yet.
  std::uint32_t PlanRun(std::string_view kind, std::string_view note);
  // Containers that wait for their remote volumes go there, if they can, and indexes are merged.
  Status EndRun(std::uint32_t run);
  // From now on captures of the run may repeat what is kept elsewhere. The same is told once.
  // Errors: kInvalid when there is no such run.
  Status AddDependency(const Dependency& dependency);

  // A number that no container had, and the volume where it should go.
  struct Place {
    std::uint32_t number = 0;
    std::string volume;
  };
  // Some of each volume is kept free: for indexes and the ledger, and so that something can be
  // taken down and deleted where there is no room for more.
  enum class Room { kForMore, kForTakedowns };
  // Errors: kFull when no writable volume has room for so many bytes.
  Result<Place> Reserve(std::uint64_t bytes, Room room = Room::kForMore);
  // So many bytes more are free on a volume, beside what is kept so.
  Result<bool> HasRoom(const std::string& volume, std::uint64_t bytes) const;
  // Gives up a reserved place, with what was written there.
  void Abandon(const Place& place);

  // Takes a container into the archive. Its rows are at layout().RowsPath(), its file at
  // PartPath(layout().ContainerPath()), unless it stays where it is (`path`), and both are durable.
  // Sets serials and time. False: Holdings::FindKnown() finds one, or a part is here that it does
  // not leave out, and nothing was done; never for one whose captures take the place of earlier
  // ones.
  // Errors: kFull when a batch has no serials left; after any other nothing more is taken.
  Result<bool> Add(Container& container);

  // Begins a container that grows, with the volume of `place`, for captures of one batch; its
  // serials count from batches[0].base on, and there are batches[0].count of them. From now on the
  // file at OpenPath(layout().ContainerPath()) is the archive's, and Open() seals what is in it
  // after a crash. Errors: kFull when the batch has no serials left.
  Result<Container> BeginContainer(const Place& place, std::uint32_t run, std::string_view name,
                                   std::uint32_t batch);
  // Shows captures of a container that grows. They are durable in its file.
  Status Show(std::span<const catalog::Capture> captures);
  // The container grows no more. All of it was shown; file and rows are durable. Sets the time.
  Status Seal(Container& container);

  // Takes captures down: they stay in their containers and are shown no more. Returns the number of
  // the removal.
  Result<std::uint32_t> Remove(std::vector<catalog::CaptureId> captures, std::string_view reason,
                               std::string_view note);

  // Takes a container out of the archive, and deletes it. All of its captures that stay are in
  // other containers by now; the ledger keeps `tombstones` of the others. Errors: also when a
  // remote volume does not answer. Then it is deleted there as soon as the archive is opened and it
  // does; one that was on its way there, and may have got there, is kept until then.
  Status Purge(std::uint32_t container, const std::vector<Tombstone>& tombstones = {});
  // Rids the catalog of captures that were purged. Where it is not called after Purge(), or fails,
  // Open() does it.
  Status ForgetPurged();

  // Brings a container to another volume: it is copied, read back, and compared with the ledger;
  // then it belongs there, and is deleted where it was. An error before that leaves it where it is;
  // what was interrupted is finished by Open(), or undone. Nothing when it is there. When the store
  // that it left could not be told, delivery_failure() says so.
  // Errors: kNotFound for a container or volume that is not there; kInvalid for a file that is
  // not in a volume; kCorrupt when it is not what it was; kBusy when the volume was not yet told
  // what left it; those of the volumes.
  Status Move(std::uint32_t container, const std::string& volume);

  // Why containers did not get to their remote volumes, or were not deleted there, when it was
  // tried last. They wait, and nothing is lost; it is tried again at the end of a run, and when the
  // archive is opened.
  std::optional<Error> delivery_failure();

  // From now on what is held cannot be removed. Sets number and time; returns the number.
  Result<std::uint32_t> AddHold(Hold hold);
  // Errors: kNotFound when there is none with this number that goes on.
  Status EndHold(std::uint32_t number);

 private:
  ArchiveWriter(const Environment& environment, std::shared_ptr<const ArchiveLayout> layout);
  Status Lock();
  Status LoadLedger(bool makes_catalog);
  // Steps of Open() after a crash: files get their names, and what nobody was told of goes.
  Status FinishContainers();
  // What the ledger should know, and does not, stays.
  Status FindUnknown();
  Status RemoveUnknown(const ArchiveConfig::Volume& volume);
  Status RemoveFiles(const Container& container);
  Status OpenCatalog(Rebuild rebuild);
  Status RestoreBatch(std::uint32_t batch, Rebuild rebuild);
  Status SealOpenContainers();
  Status SealWhatIsLeft(const Container& open);
  // Errors: kCorrupt when the catalog has another capture; when it has more of them.
  Status CompareWithCatalog(const Container& container, const ContainerRows& rows);
  Status CheckNoneIsLost(const Container& container);
  // Gives the catalog all that it lacks; with a rebuild, all there is.
  Status ApplyAll(Rebuild rebuild);
  Status ReplaceCatalog();
  // Index() in the course of Open(): a container that cannot be read is left out.
  Status TakeIn(const Container& container, Rebuild rebuild);
  void MakeLostRows();
  // Add() without delivery.
  Result<bool> AddHere(Container& container);
  // Whether what is in a volume's directory, under a name with this number, is to go.
  Result<bool> IsLeftOver(const ArchiveConfig::Volume& volume, const Container& container,
                          const std::string& name);
  // Steps of Move(), of which one at a time goes on: moves_mutex_ is required.
  struct MoveAttempt {
    ContainerMove move;
    Container before;
    bool is_first = true;  // nothing was tried yet
    std::string key;       // as soon as a store has it
  };
  Status MoveContainer(std::uint32_t container, const std::string& volume);
  // When a container is on its way to a store other than `volume`: brings it there.
  Status ArriveFirst(std::uint32_t container, const std::string& volume);
  // Nothing when there is nothing to do.
  Result<std::optional<MoveAttempt>> BeginMove(std::uint32_t container, const std::string& volume);
  // The copy is durable then, and has the right bytes.
  Status Copy(MoveAttempt& attempt);
  Status CopyRows(const Container& before, const std::string& volume);
  void GiveUp(const MoveAttempt& attempt, const Error& error);
  Status Switch(const MoveAttempt& attempt);
  // Purge() but for what is on other machines.
  Status PurgeHere(std::uint32_t container, const std::vector<Tombstone>& tombstones);
  // Gives back contents of remote volumes that are no containers any more. Requires moves_mutex_.
  Status ReleaseDeparted();
  void Deliver(const Container& container);
  void DeliverAll();

  // All of these require mutex_.
  Status Append(LedgerEvent event);
  Status TellOfPlannedRun();
  Status AssignSerials(Container& container) const;
  Status FinishContainer(const Container& container);
  // Gives the catalog what is in a container, but for what is in other containers now. `taken` is
  // what the catalog said to it.
  Status Index(const Container& container, Status& taken);
  // Tells of all rows of a container, as the catalog should have them; rows that are lost are made
  // anew, and then some may be told of twice.
  using TakeRows = catalog::Catalog::Restoration::TakeRows;
  Status ForEachRow(const Container& container, const TakeRows& take);
  // Of some batches, and without captures whose records are in other containers now.
  Status ForEachRowOf(const Container& container, const std::set<std::uint32_t>& batches,
                      const TakeRows& take);
  Status ReadRows(const Container& container, const TakeRows& take);
  // Rows that are there stay where this fails. Errors: kCorrupt when the file has other captures
  // than when it came.
  Status MakeRows(const Container& container);
  // The same for rows that may be good. Errors: also kCorrupt when the file is not what it was.
  Status RemakeRows(const Container& container);
  Status MarkRemoved(const Removal& removal);
  Status ForgetRowsOfPurged();
  // The catalog has all that the ledger has, and will after a crash. Where it has not, the mark
  // stays where it is.
  Status Checkpoint();

  const std::shared_ptr<const ArchiveLayout> layout_;
  ContainerFileSystem container_fs_;
  const Environment environment_;  // with container_fs_
  catalog::PageCache cache_;
  OpenContainers containers_;  // for views
  std::unique_ptr<io::FileLock> lock_;

  std::mutex moves_mutex_;  // of whoever moves or purges a container; taken before mutex_
  std::mutex mutex_;        // of all below
  std::unique_ptr<LedgerWriter> ledger_;
  Holdings holdings_;
  std::shared_ptr<const Holdings> snapshot_;  // of holdings_, for views; null: it changed since
  std::unique_ptr<catalog::Catalog> catalog_;
  std::optional<LedgerEvent> planned_run_;
  std::uint32_t reserved_ = 0;  // the last number that was given
  int since_checkpoint_ = 0;    // containers
  // Whether the ledger has something that should be in the catalog and may not be.
  bool is_behind_ = true;
  bool knows_purged_ = false;      // whether the catalog may have captures that were purged since
  std::set<std::uint32_t> lacks_;  // containers that the catalog has nothing of
  std::map<std::uint32_t, Error> index_failures_;  // set by Open(), and these two
  std::vector<Error> ledger_failures_;
  std::set<std::uint32_t> unknown_;  // containers in volumes that the ledger does not know
  std::optional<Error> delivery_failure_;
};

}  // namespace stele::archive
