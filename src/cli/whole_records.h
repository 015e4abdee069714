#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/file_jobs.h"
#include "cli/held_block.h"
#include "formats/archive_file/archive_file.h"

namespace stele::cli {

// Goes through one archive file for a command that writes its records elsewhere, and hands out only
// records that are whole: a record that turns out to be damaged in its middle never reaches the
// output. Not thread-safe. Borrows context and job.
class WholeRecords {
 public:
  struct Options {
    std::string spill_path;     // see HeldBlock
    bool keep_damaged = false;  // also hand out records that only their length or digest belies
    bool json = false;          // report losses for programs
  };

  // Errors: those of ArchiveFile::Open().
  static Result<std::unique_ptr<WholeRecords>> Open(Context& context, FileJob& job,
                                                    Options options);

  record::RecordReader& reader() { return file_->reader(); }

  // The next record; null at the end. Its block is still to be read. Errors: kIo.
  Result<const record::Record*> Next();

  // Reads the block of the record to its end: with `read`, which gives its pieces and then an empty
  // one, or as it is stored. `observe` sees each piece, which stays in memory until the next one.
  // True: the record is whole, and block() has all of it. False: it is noted as lost. Errors: kIo,
  // and those of keeping it.
  using Read = std::function<Result<std::string_view>()>;
  using Observe = std::function<void(std::string_view)>;
  Result<bool> Hold(const Read& read, const Observe& observe = {});
  Result<bool> HoldStored(const Observe& observe = {});
  const HeldBlock& block() const { return block_; }

  // After Hold(): notes the record as lost, or says true where damaged ones are to be kept.
  bool KeepsDespite(std::string reason);

  // What could not be read and what was set aside, in file order.
  std::vector<record::Loss> Losses() const;
  // What is in the output though it is damaged.
  const std::vector<record::Loss>& kept_damaged() const { return kept_damaged_; }

  // Complains of all that, a line each, and gives the exit code that follows from it.
  ExitCode Report() const;

 private:
  void Complain(const record::Loss& loss, bool kept) const;
  WholeRecords(Context& context, FileJob& job, Options options);
  Result<bool> Judge(std::optional<std::string> damage);

  Context& context_;
  FileJob& job_;
  const Options options_;
  std::unique_ptr<archive_file::ArchiveFile> file_;
  HeldBlock block_;
  const record::Record* record_ = nullptr;
  record::Extent extent_;
  std::vector<record::Loss> set_aside_;
  std::vector<record::Loss> kept_damaged_;
  std::uint64_t counted_ = 0;  // bytes that the progress knows of
};

}  // namespace stele::cli
