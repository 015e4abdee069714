#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cli/record_selection.h"
#include "cli/whole_records.h"
#include "formats/warc/warc_writer.h"
#include "io/clock.h"
#include "io/random.h"

namespace stele::cli {

// Dice that several threads may throw. Borrows `base` for life.
class LockedRandom final : public io::Random {
 public:
  explicit LockedRandom(io::Random& base) : base_(base) {}
  std::uint64_t Next() override {
    const std::lock_guard lock(mutex_);
    return base_.Next();
  }

 private:
  io::Random& base_;
  std::mutex mutex_;
};

// Writes records of ARC and Tianwang files as WARC 1.1. Each file begins with a warcinfo record,
// made from the file's own description where it has one (the XML of ARC 1.1 follows as a metadata
// record); every other record names it, and has its block and payload digests. What WARC has no
// field for keeps its name: ARC-Checksum, Tianwang-Origin. Not thread-safe. Borrows all.
class WarcConversion {
 public:
  // `output_name` is for the warcinfo record; "-" when there is none.
  WarcConversion(io::Random& random, const io::Clock& clock, std::string_view output_name,
                 warc::WarcWriter& writer);

  // A new input begins.
  void BeginFile(std::string_view path);

  // Reads the block of the record and writes it. False when it was damaged and is not written.
  // Errors: kIo and those of the writer.
  Result<bool> Convert(const record::Record& record, PeekedBlock& block, WholeRecords& records);

  // Records whose date could not be read, which have that of the record before.
  std::uint64_t undated() const { return undated_; }

 private:
  Status WriteWarcinfo(const record::Record* description);
  Status WriteDescription(const record::Record& record, const HeldBlock& block);
  warc::FieldList FieldsOf(const record::Record& record);
  std::string NewId();

  io::Random& random_;
  const io::Clock& clock_;
  const std::string output_name_;
  warc::WarcWriter& writer_;
  std::string input_name_;
  std::string warcinfo_id_;  // empty: not yet written for this input
  std::optional<Timestamp> last_date_;
  std::uint64_t undated_ = 0;
};

}  // namespace stele::cli
