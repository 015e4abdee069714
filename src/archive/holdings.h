#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "archive/ledger_event.h"
#include "archive/left_out_part.h"
#include "archive/tombstone.h"
#include "catalog/capture.h"
#include "catalog/selection.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::archive {

struct ContainerSummary;

// "200405/17"
std::string FormatCaptureId(const catalog::CaptureId& id);
// Nothing when it is none.
std::optional<catalog::CaptureId> ParseCaptureId(std::string_view text);

// A file with records, sealed: its bytes never change. What the ledger says about it.
struct Container {
  std::uint32_t number = 0;
  std::uint32_t run = 0;
  std::string volume;  // the directory with its number is there; its rows are in any case
  std::string path;    // of a file that stays where it is; empty: it is in the volume
  // Of the content that its file is in the store of a remote volume, and of the operation that
  // refers to it. Empty: the file is in the volume's directory.
  std::string key;
  std::string operation;
  std::string name;    // as the file was called when it came
  std::string sha256;  // of the file, in hexadecimal digits
  // Of the file that it was made from, when that is not here itself; empty: none.
  std::string origin_sha256;
  std::vector<std::string> part_sha256s;  // of the archive files in a WACZ file, likewise
  std::vector<LeftOutPart> left_out;      // those of them that it does not list
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;
  std::uint64_t captures = 0;
  std::uint64_t losses = 0;    // places that could not be read
  std::uint64_t unlisted = 0;  // captures that no index can have
  // The captures of a batch have the serials from `base` on, in the order of the file.
  struct Batch {
    std::uint32_t batch = 0;
    std::uint32_t base = 0;
    std::uint32_t count = 0;

    friend bool operator==(const Batch&, const Batch&) = default;
  };
  std::vector<Batch> batches;
  // Of a container whose captures take the place of earlier ones: their ids, in the order of the
  // file. It has no batches then.
  std::vector<catalog::CaptureId> ids;
  std::vector<std::uint32_t> id_runs;  // the runs that brought them
  Timestamp time;                      // when it came
  std::uint64_t ledger_end = 0;        // behind the event that says so

  // Whether it has captures of a batch.
  bool Has(std::uint32_t batch) const;
  // In a WACZ file.
  std::set<std::string> NamesLeftOut() const;

  // Makes the row of a capture as the container alone shows it one of the archive; `ordinal` is
  // its number among all captures of the container.
  void Place(catalog::Capture& row, std::uint64_t ordinal) const;

  // Takes from a summary of what is in it how much that is; not which batches.
  void Describe(const ContainerSummary& summary);

  LedgerEvent Event() const;
  // Of one that grows: it has the serials of one batch to itself.
  LedgerEvent OpenEvent() const;
  // Of either. Errors: kCorrupt.
  static Result<Container> FromEvent(const LedgerEvent& event, std::uint64_t ledger_end);
};

// The kind of a run that fetched what another one lacked.
inline constexpr std::string_view kPatchKind = "patch";

// One crawl or one import.
struct Run {
  std::uint32_t number = 0;
  std::string kind;  // "import"
  std::string note;
  Timestamp begin;
  std::optional<Timestamp> end;  // nothing: it goes on, or was interrupted
  std::uint64_t containers = 0;
  std::uint64_t captures = 0;

  // Else it moved what was here.
  bool is_from_outside() const { return kind != "inherit" && kind != "purge"; }
};

// A container on its way to a volume; until it is there, nothing has changed.
struct ContainerMove {
  std::uint32_t container = 0;
  std::string volume;
  std::string operation;  // of the store, where the volume is remote
};

// A content in the store of a remote volume that no container is any more.
struct Departure {
  std::string volume;
  std::string key;
};

// Captures that were taken down.
struct Removal {
  std::uint32_t number = 0;
  std::string reason;
  std::string note;  // what was asked for
  Timestamp time;
  std::vector<catalog::CaptureId> captures;
  std::uint64_t ledger_end = 0;  // behind the event that says so
};

// Captures that must not be taken down, present ones and others.
struct Hold {
  std::uint32_t number = 0;
  std::string reason;
  std::string note;  // what was asked for
  Timestamp time;
  std::optional<Timestamp> end;
  catalog::Selection what;
  Timestamp from;
  Timestamp to;  // included

  bool Covers(std::string_view key, Timestamp captured) const {
    return !end && from <= captured && captured <= to && what.Has(key);
  }
  LedgerEvent Event() const;
  // Errors: kCorrupt.
  static Result<Hold> FromEvent(const LedgerEvent& event);
};

// Captures of a run may repeat originals that are kept elsewhere.
struct Dependency {
  std::uint32_t run = 0;
  std::string index;            // the file that said what there is, as it was named
  std::string sha256;           // of that file, in hexadecimal digits
  std::uint64_t documents = 0;  // in it
  std::string origin;           // where they are kept, in somebody's words; may be empty
  Timestamp time;

  LedgerEvent Event() const;
  // Errors: kCorrupt.
  static Result<Dependency> FromEvent(const LedgerEvent& event);
};

// What an archive consists of: all that its ledger says, added up. Copyable. Not thread-safe while
// it is changed.
class Holdings {
 public:
  // Errors: kCorrupt when the event contradicts itself or what was before.
  Status Apply(const LedgerEvent& event, std::uint64_t end);

  const std::map<std::uint32_t, Container>& containers() const { return containers_; }
  // Those that grow, or did when their writer was interrupted. They become containers() when they
  // are sealed.
  const std::map<std::uint32_t, Container>& open_containers() const { return open_containers_; }
  const std::map<std::uint32_t, Run>& runs() const { return runs_; }
  const std::map<std::uint32_t, Removal>& removals() const { return removals_; }
  const std::map<std::uint32_t, Hold>& holds() const { return holds_; }
  // By container.
  const std::map<std::uint32_t, ContainerMove>& moves() const { return moves_; }
  // By operation; each until its store has been told.
  const std::map<std::string, Departure>& departures() const { return departures_; }
  const std::vector<Dependency>& dependencies() const { return dependencies_; }
  // Whether a run can be compared with others as a whole: it ended, did not only fill the gaps of
  // another, and something of what it brought was not taken down.
  bool IsComparable(const Run& run) const;
  // The last run that brought something, when it was interrupted, or goes on; null: it ended, or
  // there is none.
  const Run* FindUnendedRun() const;
  // Null when there is none.
  const Container* Find(std::uint32_t number) const;
  const Container* FindOpen(std::uint32_t number) const;
  // The container whose file has these bytes, or was made from such a file, or holds one; null when
  // there is none.
  const Container* FindBySha256(std::string_view sha256) const;
  // One that has the bytes of this one, or of the last of its parts, where all of them are here;
  // null when there is none.
  const Container* FindKnown(const Container& container) const;
  // Whether a container whose file had these bytes, or was made from such a file, or held one, was
  // purged, and no other is there that FindBySha256() finds.
  bool WasPurged(std::string_view sha256) const;

  // All captures that were taken down.
  const std::set<catalog::CaptureId>& removed() const { return removed_; }
  // A hold that covers a capture; null when none does.
  const Hold* HoldOver(std::string_view key, Timestamp captured) const;

  std::uint32_t NextContainer() const;
  std::uint32_t NextRun() const;
  std::uint32_t NextRemoval() const;
  std::uint32_t NextHold() const;
  // The container that a capture's record is in now, where it is another than the one that brought
  // it.
  std::optional<std::uint32_t> NewPlaceOf(const catalog::CaptureId& id) const;
  // Whether there was a container of this number, whose bytes had to go.
  bool IsPurged(std::uint32_t container) const { return purged_.contains(container); }
  // Whether the record of a capture is in a container.
  bool IsHeld(const catalog::CaptureId& id) const;
  // Behind the last event that took a container with captures away; 0: there was none.
  std::uint64_t purge_end() const { return purge_end_; }
  // Whether a capture was purged of which one of these is true.
  bool HasTombstone(const std::vector<Tombstone>& tombstones) const;
  bool has_tombstones() const { return !tombstones_.empty(); }
  // All captures of a run have ids in these ranges, and none of another run has one. Sorted.
  struct IdRange {
    catalog::CaptureId first;
    catalog::CaptureId last;  // included

    bool Has(const catalog::CaptureId& id) const { return first <= id && id <= last; }
    friend bool operator==(const IdRange&, const IdRange&) = default;
  };
  std::vector<IdRange> IdsOfRun(std::uint32_t run) const;
  // How many captures that a run brought, or that are in a container, were taken down.
  std::uint64_t RemovedOfRun(std::uint32_t run) const;
  std::uint64_t RemovedIn(const Container& container) const;
  // The first serial of a batch that no capture has.
  std::uint32_t NextSerial(std::uint32_t batch) const;

  // Captures that are in containers; those of containers that grow are not.
  std::uint64_t CaptureCount() const;
  // The same for each batch, without those that were taken down, and these.
  struct BatchCount {
    std::uint64_t captures = 0;
    std::uint64_t removed = 0;

    friend bool operator==(const BatchCount&, const BatchCount&) = default;
  };
  std::map<std::uint32_t, BatchCount> CountByBatch() const;

  // Behind the last event.
  std::uint64_t ledger_end() const { return ledger_end_; }

 private:
  Status ApplyContainer(const LedgerEvent& event, std::uint64_t end);
  Status ApplyOpen(const LedgerEvent& event, std::uint64_t end);
  // Takes the serials of its batches, or those that it used of the ones it had while it grew.
  Status TakeSerials(const LedgerEvent& event, const Container& container);
  // A container grows no more; serials that it did not use are free again where they can be.
  void Close(const Container& open, std::uint32_t used);
  Status ApplyRun(const LedgerEvent& event);
  Status ApplyPurge(const LedgerEvent& event, std::uint64_t end);
  Status ApplyRemoval(const LedgerEvent& event, std::uint64_t end);
  Status ApplyHold(const LedgerEvent& event);
  Status ApplyMove(const LedgerEvent& event);
  void Depart(const Container& container);
  Status ApplyDependency(const LedgerEvent& event);

  std::map<std::uint32_t, Container> containers_;
  std::map<std::uint32_t, Container> open_containers_;
  std::map<std::string, std::uint32_t, std::less<>> by_sha256_;
  std::map<std::uint32_t, Run> runs_;
  std::map<std::uint32_t, Removal> removals_;
  std::set<catalog::CaptureId> removed_;
  std::map<std::uint32_t, Hold> holds_;
  std::map<std::uint32_t, ContainerMove> moves_;
  std::map<std::string, Departure> departures_;
  std::vector<Dependency> dependencies_;
  std::map<catalog::CaptureId, std::uint32_t> new_places_;
  // Which container brought the captures of a batch from a serial on.
  struct Brought {
    std::uint32_t container = 0;
    std::uint32_t run = 0;
  };
  const Brought* FindBrought(const catalog::CaptureId& id) const;
  std::map<catalog::CaptureId, Brought> brought_;
  std::map<std::uint32_t, std::uint32_t> next_serials_;
  std::uint32_t last_container_ = 0;
  std::set<std::uint32_t> purged_;
  std::set<std::string, std::less<>> purged_sha256s_;
  std::unordered_set<Tombstone> tombstones_;
  std::uint64_t purge_end_ = 0;
  std::uint64_t ledger_end_ = 0;
};

}  // namespace stele::archive
