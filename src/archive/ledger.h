#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "archive/ledger_event.h"
#include "io/clock.h"
#include "io/file_system.h"
#include "io/random.h"
#include "util/result.h"

// The ledger of an archive: a WARC file that only grows, with a `metadata` record for each thing
// that was done. Together with the containers it is the truth; indexes are made from both.
// docs/formats/ledger.md.
namespace stele::archive {

// Tells of all events from `offset` (0: the first) on, each with the offset behind it. Returns that
// of the last. What is cut off at the end is not there yet: its writer may be at it; but what is
// before `acknowledged` was there once. Errors: kNotFound; kCorrupt when good events follow bad
// bytes, or bad bytes begin before `acknowledged`, naming the place; and those of `take`.
using TakeEvent = std::function<Status(const LedgerEvent& event, std::uint64_t end)>;
Result<std::uint64_t> ReadLedger(io::FileSystem& fs, const std::string& path, std::uint64_t offset,
                                 const TakeEvent& take, std::uint64_t acknowledged = 0);

// The one writer of a ledger; the caller sees to that. Not thread-safe. Borrows `clock` and
// `random` for life.
class LedgerWriter {
 public:
  // Tells of all that is there, as ReadLedger(). A ledger is made where there is none, or nothing
  // in it; `may_begin` is asked first where it is given, and its directory must exist then. What is
  // cut off at its end, by a crash, is copied to a file `path`.torn and taken off. Errors: as
  // ReadLedger(), and those of `may_begin`; the file is as it was then.
  static Result<std::unique_ptr<LedgerWriter>> Open(io::FileSystem& fs, const std::string& path,
                                                    const io::Clock& clock, io::Random& random,
                                                    const TakeEvent& take,
                                                    std::uint64_t acknowledged = 0,
                                                    const std::function<Status()>& may_begin = {});

  // Durable when it succeeds; sets the event's time where it has none. After an error nothing more
  // is taken.
  Status Append(LedgerEvent& event);

  // Behind the last event.
  std::uint64_t end() const { return end_; }

 private:
  LedgerWriter(std::unique_ptr<io::WritableFile> file, std::uint64_t end, const io::Clock& clock,
               io::Random& random)
      : file_(std::move(file)), end_(end), clock_(clock), random_(random) {}
  Status AppendRecord(std::string_view type, std::string_view block, Timestamp time);

  std::unique_ptr<io::WritableFile> file_;
  std::uint64_t end_;
  const io::Clock& clock_;
  io::Random& random_;
  bool failed_ = false;
};

}  // namespace stele::archive
