#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "archive/archive_view.h"
#include "archive/revisit_resolver.h"
#include "archive/whole_block.h"
#include "formats/tianwang/tianwang_writer.h"
#include "io/stream.h"

namespace stele::archive {

// Writes captures to a Tianwang file, which has nothing but pages: each with its HTTP head as it
// came, revisits with the contents that they repeat, segments of a record
// joined as far as they are here. Not thread-safe. Borrows all for life.
class TianwangExport {
 public:
  TianwangExport(const ArchiveView& view, io::Sink& sink)
      : view_(view), resolver_(view), writer_(sink) {}

  // False: the format cannot hold it, and left_out() says why.
  // Errors: kCorrupt when the payload is not what it was, and kNotFound when it is not there, or
  // cannot be reached: it is left out then; any other, those of the sink above all, after which
  // nothing more can be written.
  Result<bool> Add(const catalog::HeldCapture& capture);

  // Captures that were written without their ends, as segments of their records are not here.
  std::uint64_t cut_off() const { return cut_off_; }
  // Why captures were left out, and how many for each reason.
  const std::map<std::string, std::uint64_t>& left_out() const { return left_out_; }

 private:
  Result<bool> AddOriginal(const catalog::HeldCapture& capture);
  Result<bool> AddRevisit(const catalog::HeldCapture& capture);
  Result<bool> Write(const record::Record& record, std::uint64_t length, bool is_cut_off,
                     const std::function<Status(const TakePiece&)>& for_each);
  bool LeaveOut(std::string_view why);

  const ArchiveView& view_;
  const RevisitResolver resolver_;
  tianwang::Writer writer_;
  bool in_record_ = false;  // also when it could not be written
  std::uint64_t cut_off_ = 0;
  std::map<std::string, std::uint64_t> left_out_;
};

}  // namespace stele::archive
