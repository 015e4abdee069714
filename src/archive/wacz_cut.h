#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "archive/archive_config.h"
#include "archive/record_cut.h"
#include "archive/wacz_file.h"
#include "archive/wacz_package.h"

namespace stele::archive {

struct WaczCutOptions {
  std::set<std::string> left_out;  // archive files in it that do not come along
  // Files are made beside this path, and are gone afterwards. Empty: nothing is to be written.
  std::string spool;
};

// Makes a WACZ file of another, without the captures that go: its archive files as RecordCut copies
// them, an index of them, and those lines of its lists of pages that speak of none that goes. Other
// members do not come along. Not thread-safe. Borrows all for life.
class WaczCut {
 public:
  // `plan` has the places that captures have in the WACZ file. Errors: those of reading; kCorrupt
  // also as RecordCut::Decide().
  static Result<std::unique_ptr<WaczCut>> Open(io::FileSystem& fs, const WaczFile& wacz,
                                               const CutPlan& plan, WaczCutOptions options);

  // Whether something stays that is not about the files themselves, but for files that cannot be
  // read at all: they are encrypted, say.
  bool LeavesSomething() const;
  // Requires: a spool. Call once. Errors: kInvalid when an archive file in it cannot be read at
  // all; those of reading and writing.
  Status Write(const ArchiveConfig& config, std::string_view software, Timestamp now,
               io::Sink& sink);

 private:
  // What is known of the captures that stay.
  class Rows;

  WaczCut(io::FileSystem& fs, const WaczFile& wacz, const CutPlan& plan, WaczCutOptions options);
  Status AddPart(const WaczFile::Part& part);
  // The bytes of a file that ZIP compressed, as a file of its own.
  Result<std::unique_ptr<io::ReadableFile>> Unpack(const std::string& name, io::Source& source);
  Status WritePart(std::size_t number, WaczPackage& package, Rows& rows);
  Status WritePages(const Rows& rows, WaczPackage& package);

  io::FileSystem& fs_;
  const WaczFile& wacz_;
  const CutPlan& plan_;
  const WaczCutOptions options_;
  std::string unreadable_;                         // the first archive file that is; empty: none
  std::vector<std::unique_ptr<WaczSpool>> files_;  // that were compressed
  std::vector<std::string> names_;                 // of what follows: "1.warc.gz"
  std::vector<std::unique_ptr<CutPlan>> plans_;
  std::vector<std::unique_ptr<RecordCut>> cuts_;
};

}  // namespace stele::archive
