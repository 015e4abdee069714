#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "formats/archive_file/archive_file.h"
#include "io/file_system.h"
#include "io/stream.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::archive {

// A capture of a file, as its row tells of it.
struct CutCapture {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t uri = 0;  // checksum of its URL
  Timestamp time;
  bool goes = false;
};

// Bytes of a file.
struct CutRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// What is to be cut out of a file.
struct CutPlan {
  std::vector<CutCapture> captures;  // all that it has, in its order
  std::vector<CutRange> companions;  // where requests and notes of those that go lie
  std::set<std::uint64_t> keys;      // checksums of the SURT keys of those that go
  // RecordIdHash() of captures that go, here or in other files: what continues them goes, too.
  std::set<std::uint64_t> origins;
};

// Copies an archive file without the captures that go and the records that belong to them: requests
// and notes, and what else names them. Everything else stays byte for byte as it is, damaged places
// too, but for records that share a compressed member with one that goes: each gets a member of its
// own. Where damage hides a capture that goes, its place is cut out up to the next record that can
// be read. A capture that stays and cannot be read is copied as it lies there; whoever asks for the
// copy looks for it. Not thread-safe. Borrows the plan for life.
class RecordCut {
 public:
  struct File {
    std::string name;                                    // for errors
    std::unique_ptr<archive_file::ArchiveFile> records;  // null: no record in it can be read
    std::unique_ptr<io::ReadableFile> bytes;             // null: it is not to be copied
    std::uint64_t size = 0;
  };
  RecordCut(File file, const CutPlan& plan);

  // Reads the file. Errors: those of reading it.
  Status Survey();
  // Which records go, of files that belong together: what names a capture may be in another file.
  // Requires: Survey() of all. Errors: kCorrupt when damage keeps one that goes from being told
  // from those that it shares a member with.
  static Status Decide(std::span<const std::unique_ptr<RecordCut>> cuts);

  // These require Decide().
  // Whether the copy has anything but records about the file itself: other records, or damaged
  // places.
  bool LeavesSomething() const;
  // Requires: the file's bytes are there. Errors: those of reading and writing.
  Status Copy(io::Sink& to);

 private:
  // What is remembered of a record.
  struct Seen {
    std::uint64_t id = 0;     // RecordIdHash()
    std::uint64_t about = 0;  // that of the record that it names; 0: none
    std::uint64_t uri = 0;
    std::uint64_t block_bytes = 0;
    bool is_capture = false;
    bool is_listed = false;         // a capture of the plan
    bool is_about_file = false;     // a warcinfo record, say
    bool may_stand_beside = false;  // belongs to a capture beside it, where it names none
    bool is_continuation = false;
    bool is_whole = true;
    bool goes = false;
  };
  // Records that lie together: in a plain file each alone, else those that share a member.
  struct Group {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::size_t first = 0;  // of the records
    std::size_t count = 0;
  };
  // What is not copied as it is.
  struct Gap {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    const Group* rewritten = nullptr;  // some of its records stay; null: nothing does
  };

  void Look(const record::Record& record);
  void FindInPlan(const record::Record& record, Seen& seen);
  Status PassRecord();
  void CloseGroups();
  static void DoomCompanions(std::span<const std::unique_ptr<RecordCut>> cuts);
  Status FindGaps();
  // Of what goes; `is_found` says whether a record was read there that is the one meant.
  Status AddGapOf(const CutRange& place, bool is_found);
  std::span<const Seen> RecordsOf(const Group& group) const;
  // Null when none begins there.
  Group* GroupAt(std::uint64_t offset);
  // Where the first group from `offset` on begins; the end of the file when there is none.
  std::uint64_t GroupFrom(std::uint64_t offset) const;
  void JoinGaps();
  bool IsCut(std::uint64_t offset) const;
  Status Rewrite(const Group& group, io::Sink& to);

  const File file_;
  const CutPlan& plan_;
  std::size_t next_capture_ = 0;
  std::vector<bool> found_;  // captures of the plan
  std::vector<Seen> records_;
  std::vector<Group> groups_;
  std::vector<Gap> gaps_;  // by their begins; none overlaps another
};

// The cut of the file at `path`, decided. Errors: those of opening it, too.
Result<std::unique_ptr<RecordCut>> CutFile(io::FileSystem& fs, const std::string& path,
                                           const CutPlan& plan);

}  // namespace stele::archive
