#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/file_jobs.h"
#include "dedup/original_source.h"
#include "io/stream.h"

namespace stele::cli {

struct RepackOptions {
  std::string_view name;           // of the output, for its warcinfo
  std::string_view about;          // what the archive says about itself: archive::WarcinfoText()
  std::string_view source_name;    // of the file
  std::string_view source_sha256;  // of its bytes, in hexadecimal digits
  std::string spill_path;          // files with this begin of their names may be written meanwhile
  // Payloads that it knows, or that stand further up in the file, are not written again. Null: all
  // are.
  dedup::OriginalSource* known = nullptr;
};

struct RepackOutcome {
  std::uint64_t records = 0;     // that were written
  std::uint64_t duplicates = 0;  // of them: revisits that were whole records
  ExitCode code = ExitCode::kDone;
};

// Writes an archive file anew, as one of our own: WARC 1.1, a gzip member for each record, with new
// record ids, and a warcinfo at its begin that says what it was made from. Records that are damaged
// are left out and complained of. Errors: those of reading and of `out`.
Result<RepackOutcome> Repack(Context& context, FileJob& job, const RepackOptions& options,
                             io::Sink& out);

}  // namespace stele::cli
