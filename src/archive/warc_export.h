#pragma once

#include <memory>
#include <string>
#include <vector>

#include "archive/archive_view.h"
#include "archive/companions.h"
#include "archive/revisit_resolver.h"
#include "archive/whole_block.h"
#include "formats/warc/warc_writer.h"
#include "io/clock.h"
#include "io/random.h"
#include "io/stream.h"

namespace stele::archive {

struct ExportOptions {
  // Else whole records are written in place of revisits, and of records in segments.
  bool keep_revisits = false;
  record::Compression compression = record::Compression::kGzip;
  std::string filename;  // for the warcinfo record; empty: none
};

// Where a capture lies in the file that was written.
struct ExportedCapture {
  record::Extent extent;
  bool is_revisit = false;  // it is there as a revisit: as asked for, or its original is not here
};

// Writes captures to a WARC file, each with its request and what the crawler noted, so that the
// file can be replayed alone. Records of WARC files are copied as they are, those of older formats
// converted. One that was cut into segments is made whole where all of them are here, else those
// that are come along. Payloads are compared with the digests that they had when they came. Not
// thread-safe. Borrows all for life.
class WarcExport {
 public:
  // Begins with a warcinfo record that carries what archive.toml says.
  static Result<std::unique_ptr<WarcExport>> Begin(const ArchiveView& view, const io::Clock& clock,
                                                   io::Random& random, io::Sink& sink,
                                                   const ExportOptions& options);

  // Errors: kCorrupt when the payload is not what it was, and kNotFound when it is not there, or
  // cannot be reached: it is left out then; any other, those of the sink above all, after which
  // nothing more can be written.
  Result<ExportedCapture> Add(const catalog::HeldCapture& capture);
  // A revisit as a whole record, with the payload of this original. Errors: likewise, but for kIo
  // and kBusy where it cannot be reached.
  Result<ExportedCapture> AddWhole(const catalog::HeldCapture& revisit,
                                   const catalog::HeldCapture& original);

  // Revisits that were kept because their originals are not here.
  std::uint64_t unresolved() const { return unresolved_; }

 private:
  WarcExport(const ArchiveView& view, io::Random& random, const ExportOptions& options);
  Result<ExportedCapture> TryToAdd(const catalog::HeldCapture& capture);
  Status WriteWarcinfo(const io::Clock& clock, const std::string& filename);
  // One that was cut into segments, as if it had never been.
  Result<record::Extent> WriteJoined(const catalog::Capture& capture, const BlockFacts& facts);
  Result<record::Extent> CopyCapture(const catalog::Capture& capture, const BlockFacts& facts);
  // Copies requests and notes; in their heads `old_id` becomes `new_id`, as below.
  Status CopyCompanions(const catalog::HeldCapture& capture,
                        const std::vector<Companion>& companions, std::string_view old_id,
                        std::string_view new_id);
  Result<record::Extent> CopyPlace(std::uint32_t container, const Companion& companion,
                                   std::string_view old_id, std::string_view new_id);
  // Copies a record; in its head `old_id` becomes `new_id` where they are not empty.
  Result<record::Extent> CopyRecord(const catalog::CapturePlace& place, StoredRecord& stored,
                                    const BlockFacts& facts, std::string_view old_id,
                                    std::string_view new_id);
  Result<record::Extent> CopyOld(StoredRecord& stored, const catalog::CapturePlace& place,
                                 const BlockFacts& facts);
  // Writes the original's content as if it had been stored when the revisit was captured.
  Result<record::Extent> WriteWhole(const catalog::HeldCapture& revisit,
                                    const catalog::HeldCapture& original, std::string& old_id,
                                    std::string& new_id);
  std::string NewId();
  std::string DerivedId(std::uint32_t container, const record::Record& record) const;

  const ArchiveView& view_;
  io::Random& random_;
  const bool keep_revisits_;
  const RevisitResolver resolver_;
  Companions companions_;
  std::unique_ptr<warc::WarcWriter> writer_;
  std::string warcinfo_id_;
  std::uint64_t unresolved_ = 0;
};

// The id of a record that has none in its file, the same whenever it is asked for: a UUID of
// version 5, made from the file's SHA-256 (hexadecimal digits) and the record's offset, or what
// else it is known by there. Without <>.
std::string DerivedRecordId(std::string_view sha256, std::string_view record);
std::string DerivedRecordId(std::string_view sha256, const record::Record& record);

}  // namespace stele::archive
