#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/page_file_writer.h"
#include "catalog/pisa.h"
#include "catalog/pisa_segment_format.h"
#include "io/file_system.h"
#include "util/result.h"

namespace stele::catalog {

struct PisaSegmentOptions {
  Timestamp first = kBeginningOfTime;
  Timestamp end = kEndOfTime;
  PisaLimits limits = {};
  // So many bytes of captures are held in memory, and the versions of one key more. Each time a
  // tree of its own is made for the keys at hand, which takes about four times as much. Small
  // parts stay in the processor's caches.
  std::size_t part_bytes_max = 4 << 20;
  SerialClock clock = {};  // knows the captures to come, as far as anybody does
};

// Builds a segment: everything that was alive from `first` until `end`. Captures come by key, as
// sorted runs have them; those of one key by time. Each part of them becomes a persistent tree, in
// memory and by insertion in the order of time, and then pages. The file has its name when Finish()
// succeeded, and no earlier. Not thread-safe. Borrows `fs` for life.
class PisaSegmentWriter {
 public:
  // Requires: first < end, limits.Valid().
  static Result<std::unique_ptr<PisaSegmentWriter>> Create(io::FileSystem& fs, std::string path,
                                                           const PisaSegmentOptions& options);
  ~PisaSegmentWriter();

  // Of captures before `first` the last of each key is carried over, others are not needed. Of two
  // with the same key and time the later call counts. Errors: kInvalid when it is not in order, too
  // late, or has too long a key; nothing is changed then. kIo and kFull: of no more use.
  Status Add(std::string_view key, Timestamp time, CaptureId capture);

  // Errors: those of PageFileWriter::Finish(). Once.
  Status Finish();

  std::uint64_t keys() const { return summary_.keys; }

 private:
  struct Item {
    std::uint32_t key;  // in key_ends_
    Timestamp time;
    CaptureId capture;
  };

  PisaSegmentWriter(const PisaSegmentOptions& options, std::unique_ptr<PageFileWriter> file);
  std::string_view KeyOf(std::size_t key) const;
  void StartKey(std::string_view key);
  Status WritePart();
  Result<std::vector<PisaBlockNumber>> WriteBlocks(const Pisa& tree);

  const PisaSegmentOptions options_;
  std::unique_ptr<PageFileWriter> file_;
  PisaSegmentSummary summary_;
  // Those of the part that is being collected, by key and time.
  std::string keys_;
  std::vector<std::size_t> key_ends_;
  std::vector<Item> items_;
};

}  // namespace stele::catalog
