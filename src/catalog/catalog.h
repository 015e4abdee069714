#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "catalog/capture.h"
#include "catalog/capture_log.h"
#include "catalog/catalog_view.h"
#include "catalog/new_rows.h"
#include "catalog/page_cache.h"
#include "catalog/pisa_roll.h"
#include "io/file_system.h"
#include "util/result.h"

namespace stele::catalog {

struct CatalogOptions {
  std::uint64_t log_bytes = 16 << 20;  // a log that has them is turned into segments and a run
  std::uint32_t fan_in = 4;            // so many runs of a level are merged into one of the next
  std::uint32_t segment_fan_in = 16;   // and segments of a batch: one read finds a row in any case
  std::uint64_t pisa_captures_min = 100000;  // a PISA segment is made of so many at least
};

// The captures of an archive: what was captured when, and where it lies. This is its one writer;
// CatalogReader is for other processes. Everything here can be made again from the containers.
// Thread-safe. Borrows `fs` and `cache` for life. docs/catalog.md.
class Catalog {
 public:
  // The catalog in `directory`, made when there is none; its parent must exist. Errors: kBusy when
  // somebody else writes it, kCorrupt.
  static Result<std::unique_ptr<Catalog>> Open(io::FileSystem& fs, std::string directory,
                                               PageCache& cache, CatalogOptions options = {});

  // Batches whose rows are made anew from elsewhere.
  struct Restoration {
    using TakeRows = std::function<Status(std::span<const Capture>)>;

    std::set<std::uint32_t> batches;
    // Tells of all their rows; of several with one id the last counts.
    std::function<Status(const TakeRows&)> rows;
    // Whether the runs may lead to captures that are not among the rows, and are to be forgotten.
    // Then PISA segments are made again, by Maintain().
    bool forgets = false;
  };
  // The same, when segments of some batches are damaged or missing. Only theirs are written; an
  // error leaves everything as it was. Errors: those of Open(), about other files, and of `rows`.
  static Result<std::unique_ptr<Catalog>> Restore(io::FileSystem& fs, std::string directory,
                                                  PageCache& cache, const Restoration& restoration,
                                                  CatalogOptions options = {});
  // The batches of which a segment cannot be opened.
  static Result<std::set<std::uint32_t>> DamagedBatches(io::FileSystem& fs,
                                                        const std::string& directory,
                                                        PageCache& cache);
  // An empty catalog in a directory of its own, made in one that exists, to be filled and then to
  // take the place of the catalog in `other`, which may be damaged or missing and stays as it is
  // until then. `directory` must not have anything in it.
  static Result<std::unique_ptr<Catalog>> OpenBeside(io::FileSystem& fs, const std::string& other,
                                                     std::string directory, PageCache& cache,
                                                     CatalogOptions options = {});
  // All captures become those of the catalog in `other`, at one moment: whoever reads that one sees
  // what it had, or what is here, and an error leaves what it had. Requires: OpenBeside() made this
  // with the same `other`, which nobody writes. Afterwards this is good for nothing, and the
  // catalog in `other` can be opened.
  Status TakePlaceOf(const std::string& other);
  ~Catalog();

  // Adds captures, or replaces those with the same ids, whose key and time must be the same.
  // View() has them at once, readers in other processes when they look again. They are durable
  // after Sync(). Errors: kInvalid for what no index takes (nothing was added then); after any
  // other, nothing more can be added until it is opened again.
  Status Append(std::span<const Capture> captures);
  Status Sync();

  std::shared_ptr<const CatalogView> View();

  // Does one piece of the work that waits: turns a full log into files, merges some, or makes PISA
  // segments. False when nothing waits. For a thread of its own, or after much was added; Append()
  // itself turns logs into files where nobody does, and merges where twice as many files wait as
  // are merged at a time: who adds faster than files are merged waits for them. An error leaves
  // everything as it was, and may be tried again, unless Append() fails from then on, too.
  Result<bool> Maintain();
  // Turns everything into one run, one segment for each batch, and PISA segments.
  Status Compact();

  // Takes captures out of the catalog, and what it has of them out of its files: those that have
  // some are written anew, at one moment, and the old ones deleted. Reads all runs. PISA segments
  // that may have had some are made again by Maintain(). An error leaves everything as it was, or
  // files that the catalog does not count and the next Open() deletes.
  Status Forget(const std::set<CaptureId>& captures);

 private:
  Catalog(io::FileSystem& fs, std::string directory, PageCache& cache, CatalogOptions options);
  // Null: nothing is restored.
  Status Load(const Restoration* restoration = nullptr);
  Status MakeManifest();
  Status RestoreRows(const Restoration& restoration);
  Status ReplayLogs();
  Status BeginLog();  // requires: mutex_
  Status Broken(const Error& error);

  // Turns a full log into files; false when there is none.
  Result<bool> FlushFull();
  // So that readers never have to look into more files than a few of each level.
  Status MergeWhereTooMany();
  // Makes PISA segments when it is time, or of all loose captures. Requires: building_.
  Result<bool> RollPisa(bool all);
  Result<bool> RollPisa(const CatalogFiles& files, bool all);
  Status WriteRoll(const CatalogFiles& files, const PisaRoll& roll,
                   const std::vector<Timestamp>& ends, bool late);
  Status WriteLate(const CatalogFiles& files, const PisaRoll& roll, std::uint64_t number);

  // All of these require maintenance_.
  Status FlushOldest();
  Status FlushAll();
  Status WriteRun(const LocationMemtable::Parts& entries, Manifest& manifest);
  Status WriteSegments(const NewRowsView& rows, std::string_view log, Manifest& manifest);
  // Those of a level, or of a level and batch, of which there are so many at least.
  Result<bool> MergeRuns(std::size_t least);
  Result<bool> MergeSegments(std::size_t least);
  // Merges those of the manifest's, by their index, into one of this level.
  Status MergeRunsInto(const std::vector<std::size_t>& which, std::uint32_t level);
  Status MergeSegmentsInto(const std::vector<std::size_t>& which, std::uint32_t level);
  // Writes the rows of such segments, but for some captures, to one of this level, which takes
  // their place in `manifest`.
  Status WriteMergedSegment(const std::vector<std::size_t>& which, std::uint32_t level,
                            const std::set<CaptureId>& without, Manifest& manifest);
  Status MergeEverything();
  // Steps of Forget(): of segments, of runs.
  Status ForgetRows(const std::set<CaptureId>& captures, Manifest& manifest);
  Status ForgetEntries(const std::set<CaptureId>& captures, Manifest& manifest);
  Status WriteRunWithout(const LocationRun& run, std::uint64_t number,
                         const std::set<CaptureId>& captures, Manifest& manifest);
  // Entries of a batch in the runs of now do not count any more.
  void ForgetBatch(std::uint32_t batch, Manifest& manifest);
  // PISA segments are to be made again, of all runs.
  void ForgetPisa(Manifest& manifest);
  // Makes it the state of the catalog, on disk and here; `flushed`: the oldest log is in it.
  Status Commit(Manifest manifest, bool flushed);
  void RemoveUnused(const Manifest& before, const Manifest& after);

  io::FileSystem& fs_;
  const std::string directory_;
  PageCache& cache_;
  const CatalogOptions options_;
  std::unique_ptr<io::FileLock> lock_;

  std::mutex building_;              // of PISA segments; taken before maintenance_
  std::uint64_t loose_planned_ = 0;  // with so many loose captures nothing was worth it

  std::mutex maintenance_;       // taken before mutex_
  std::uint64_t next_file_ = 1;  // the number of the next file
  bool rolling_ = false;         // PISA segments are made of the loose runs as they were

  std::mutex mutex_;  // of all below
  std::shared_ptr<const CatalogFiles> files_;
  std::deque<std::unique_ptr<NewRows>> logs_;  // the oldest first; the last one grows
  std::unique_ptr<CaptureLogWriter> writer_;
  std::optional<Error> broken_;
};

// Reads a catalog that another process may be writing. Thread-safe, but Refresh() is for one
// thread at a time. Borrows `fs` and `cache` for life.
class CatalogReader {
 public:
  // Errors: kNotFound when there is none yet, kCorrupt.
  static Result<std::unique_ptr<CatalogReader>> Open(io::FileSystem& fs, std::string directory,
                                                     PageCache& cache);

  // Takes up what has been written since.
  Status Refresh();
  // As of the last Refresh().
  std::shared_ptr<const CatalogView> View() const;

 private:
  CatalogReader(io::FileSystem& fs, std::string directory, PageCache& cache);
  Status TryRefresh();

  io::FileSystem& fs_;
  const std::string directory_;
  PageCache& cache_;
  std::shared_ptr<const CatalogFiles> files_;
  std::deque<std::unique_ptr<NewRows>> logs_;
  mutable std::mutex mutex_;
  std::shared_ptr<const CatalogView> view_;
};

}  // namespace stele::catalog
